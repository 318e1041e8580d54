// Lets a person hear a call that is up, and says how far behind it they are.
import { useState } from 'preact/hooks';
import type { CallRecord } from '../../../contract/call-record.js';
import { type ListeningStage, useListening } from '../state/listening.js';

/** Of a call that is over what is left to say: it is drawn for as long as the call is open. */
export function ListenIn({ record }: { record: CallRecord }) {
  const { stage, toggle, setMixed } = useListening(record.callId);
  const [isMixed, setIsMixed] = useState(false);
  const isOver = record.status === 'completed';
  // Before that there is no sound.
  const isUp = !isOver && record.mode !== null;
  const isOn = stage.name === 'connecting' || stage.name === 'listening';
  if (!isUp && stage.name === 'idle') return null;
  return (
    <div class="listening">
      {(isUp || isOn) && (
        <button type="button" class={isOn ? 'primary' : ''} onClick={toggle}>
          {isOn ? 'Stop listening' : 'Listen in'}
        </button>
      )}
      {isOn && (
        <label>
          <input
            type="checkbox"
            checked={isMixed}
            onChange={({ currentTarget: { checked } }) => {
              setIsMixed(checked);
              setMixed(checked);
            }}
          />{' '}
          both sides in both ears
        </label>
      )}
      {stage.name === 'listening' && (
        <span class="place">{`${(stage.delayMs / 1000).toFixed(1)} s behind`}</span>
      )}
      <span class={stage.name === 'failed' ? 'problem' : 'said'} role="status">
        {sentenceOf(stage, { isOver, isMixed })}
      </span>
    </div>
  );
}

function sentenceOf(
  stage: ListeningStage,
  { isOver, isMixed }: { isOver: boolean; isMixed: boolean },
): string {
  if (stage.name === 'idle') return '';
  if (stage.name === 'connecting') return 'Connecting…';
  if (stage.name === 'listening')
    return isMixed ? 'You hear both sides.' : 'You hear the caller left and the agent right.';
  if (isOver) return 'The call has ended.';
  if (stage.name === 'failed') return stage.problem;
  return 'There is no more sound: the call is about to end, or another server has it.';
}
