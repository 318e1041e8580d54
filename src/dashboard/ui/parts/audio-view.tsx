// Who was loud when: both sides of a call over its length, with turns, cuts, pauses and what the carrier acknowledged. A click goes there.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { AudioEnvelope, CallRecord, RecordingPause } from '../../../contract/call-record.js';
import { formatCount, formatDuration, formatPlace } from '../format.js';
import { condense, outlinePath, shapeOf } from '../state/envelope.js';
import { axisOf } from '../state/places.js';
import type { Playhead } from '../state/playhead.js';
import { memo } from './memo.js';
import { Player } from './player.js';

const WIDTH = 600;
const HALF = 24;
const HEIGHT = 4 * HALF + 12;

export function AudioView({ record, head }: { record: CallRecord; head: Playhead }) {
  const { envelope, turns, localRecording } = record;
  const shape = useMemo(() => (envelope === null ? null : shapeOf(envelope)), [envelope]);
  const { zero, lengthMs } = axisOf(record, shape?.lengthMs);
  // A record may be older than the field.
  const recording = localRecording ?? null;
  if (lengthMs === 0 && recording === null) return null;
  const clears = envelope?.clearsMs.length ?? 0;
  return (
    <section aria-labelledby="audio-title">
      <h3 id="audio-title">
        Audio
        {lengthMs > 0 && (
          <small>
            {formatDuration(lengthMs)}
            {envelope !== null && ` · ${formatCount(clears, 'interruption')}`}
          </small>
        )}
      </h3>
      {lengthMs > 0 && (
        <div class="envelope">
          <Picture
            envelope={envelope}
            pauses={recording?.pauses ?? NONE}
            turns={turns}
            zero={zero}
            lengthMs={lengthMs}
          />
          <Place head={head} lengthMs={lengthMs} />
        </div>
      )}
      {recording !== null && <Player record={record} recording={recording} zero={zero} head={head} />}
      {envelope !== null && shape !== null && <Legend hasPauses={(recording?.pauses.length ?? 0) > 0} />}
    </section>
  );
}

const NONE: readonly RecordingPause[] = [];

interface PictureProps {
  envelope: AudioEnvelope | null;
  pauses: readonly RecordingPause[];
  turns: CallRecord['turns'];
  zero: number;
  lengthMs: number;
}

const Picture = memo(({ envelope, pauses, turns, zero, lengthMs }: PictureProps) => {
  const shape = envelope === null ? null : shapeOf(envelope);
  const x = (atMs: number) => Math.max(0, Math.min(WIDTH, (atMs / lengthMs) * WIDTH));
  const shiftMs = (envelope?.startedAt ?? zero) - zero;
  const path = (side: NonNullable<typeof shape>['caller'], middle: number) => {
    const columns = condense(side, WIDTH);
    const width = (side.length * (envelope?.bucketMs ?? 0) * WIDTH) / lengthMs;
    return outlinePath(columns, { middle, half: HALF, width });
  };
  const turnsMs = turns.map((turn) => turn.startedAt - zero).filter((at) => at >= 0);
  const ticks = (list: readonly number[], kind: string, place: { from: number; to: number }) =>
    list.map((at) => (
      <path key={`${kind} ${at}`} class={kind} d={`M${x(at).toFixed(1)} ${place.from}V${place.to}`} />
    ));
  const shifted = (list: readonly number[] = []) => list.map((at) => at + shiftMs);
  const clears = envelope?.clearsMs ?? [];
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Loudness of caller and agent over ${formatDuration(lengthMs)}, with ${formatCount(turnsMs.length, 'turn')} and ${formatCount(clears.length, 'interruption')}`}
    >
      {pauses.map(({ startedAt, endedAt }) => (
        <rect
          key={startedAt}
          class="paused"
          x={x(startedAt - zero)}
          y={0}
          width={Math.max(1, x((endedAt ?? Number.POSITIVE_INFINITY) - zero) - x(startedAt - zero))}
          height={HEIGHT}
        />
      ))}
      {shape !== null && (
        <g transform={`translate(${((shiftMs / lengthMs) * WIDTH).toFixed(2)} 0)`}>
          <path class="caller" d={path(shape.caller, HALF + 2)} />
          <path class="agent" d={path(shape.agent, 3 * HALF + 6)} />
        </g>
      )}
      {ticks(turnsMs, 'tick-turn', { from: 0, to: HEIGHT })}
      {ticks(shifted(envelope?.marksMs), 'tick-mark', { from: HEIGHT - 5, to: HEIGHT })}
      {ticks(shifted(clears), 'tick-clear', { from: 0, to: HEIGHT })}
    </svg>
  );
});

/** The play head, and the slider that moves it: as wide as the picture, and out of sight. */
function Place({ head, lengthMs }: { head: Playhead; lengthMs: number }) {
  const slider = useRef<HTMLInputElement>(null);
  const line = useRef<HTMLElement>(null);
  useEffect(() => {
    const look = () => {
      const ms = Math.min(head.ms ?? 0, lengthMs);
      if (line.current !== null) {
        line.current.hidden = head.ms === null;
        line.current.style.insetInlineStart = `${(ms / lengthMs) * 100}%`;
      }
      if (slider.current === null) return;
      slider.current.value = String(ms / 1000);
      const text = `${formatPlace(ms)} of ${formatDuration(lengthMs)}`;
      if (slider.current.getAttribute('aria-valuetext') !== text)
        slider.current.setAttribute('aria-valuetext', text);
    };
    look();
    return head.listen(look);
  }, [head, lengthMs]);
  return (
    <>
      <i class="head" ref={line} />
      <input
        type="range"
        aria-label="Place in the call"
        min={0}
        max={lengthMs / 1000}
        step="any"
        ref={slider}
        onInput={(event) => head.jump(event.currentTarget.valueAsNumber * 1000)}
      />
    </>
  );
}

function Legend({ hasPauses }: { hasPauses: boolean }) {
  const kinds = [
    ['caller', 'Caller'],
    ['agent', 'Agent, as heard'],
    ['tick-turn', 'Turn'],
    ['tick-clear', 'Interrupted'],
    ['tick-mark', 'Playback confirmed'],
    ...(hasPauses ? [['paused', 'Not recorded']] : []),
  ];
  return (
    <ul class="legend" aria-hidden="true">
      {kinds.map(([kind, label]) => (
        <li key={kind}>
          <i class={kind} />
          {label}
        </li>
      ))}
    </ul>
  );
}
