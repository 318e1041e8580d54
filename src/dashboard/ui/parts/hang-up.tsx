// Ends a call, after asking once.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, hangUp } from '../api.js';

type Stage = { name: 'idle' } | { name: 'asking' } | { name: 'sent' } | { name: 'failed'; message: string };

export function HangUp({ callId }: { callId: string }) {
  const [stage, setStage] = useState<Stage>({ name: 'idle' });
  const keep = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (stage.name === 'asking') keep.current?.focus();
  }, [stage.name]);

  async function send() {
    setStage({ name: 'sent' });
    try {
      await hangUp(callId);
    } catch (error) {
      // The call may have ended by itself meanwhile: then it leaves the rail anyway.
      const message = error instanceof ApiError ? error.message : 'That did not work.';
      setStage({ name: 'failed', message });
    }
  }

  if (stage.name === 'sent')
    return (
      <p class="asking" role="status">
        Hanging up…
      </p>
    );
  if (stage.name === 'asking')
    return (
      <fieldset class="asking">
        <legend class="unseen">End this call?</legend>
        <button type="button" class="danger" onClick={send}>
          End call
        </button>
        <button type="button" ref={keep} onClick={() => setStage({ name: 'idle' })}>
          Keep
        </button>
      </fieldset>
    );
  return (
    <div class="asking">
      {stage.name === 'failed' && (
        <p class="problem" role="alert">
          {stage.message}
        </p>
      )}
      <button type="button" class="hang-up" onClick={() => setStage({ name: 'asking' })}>
        Hang up
      </button>
    </div>
  );
}
