// Listening in to one call, from the button to the end of its sound.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, openSound } from '../api.js';
import { LiveSpeaker } from './live-sound.js';

const LOOK_MS = 1000;

/** `ended`: the server sends no more. */
export type ListeningStage =
  | { readonly name: 'idle' }
  | { readonly name: 'connecting' }
  | { readonly name: 'listening'; readonly delayMs: number }
  | { readonly name: 'ended' }
  | { readonly name: 'failed'; readonly problem: string };

export interface Listening {
  readonly stage: ListeningStage;
  /** Begins, or ends. */
  toggle: () => void;
  setMixed: (isMixed: boolean) => void;
}

/** Ends with the part that uses it. */
export function useListening(callId: string): Listening {
  const [stage, setStage] = useState<ListeningStage>({ name: 'idle' });
  const stop = useRef<(() => void) | null>(null);
  const speaker = useRef<LiveSpeaker | null>(null);
  const isMixed = useRef(false);
  const end = () => {
    stop.current?.();
    stop.current = null;
  };
  useEffect(() => end, [callId]);

  const begin = () => {
    const own = new LiveSpeaker();
    own.isMixed = isMixed.current;
    speaker.current = own;
    const leaving = new AbortController();
    let timer: ReturnType<typeof setInterval> | undefined;
    const finish = (last: ListeningStage) => {
      if (leaving.signal.aborted) return;
      close();
      setStage(last);
    };
    const close = () => {
      leaving.abort();
      clearInterval(timer);
      own.close();
    };
    stop.current = close;
    setStage({ name: 'connecting' });
    openSound(callId, leaving.signal)
      .then(async ({ delayMs, pieces }) => {
        const look = () => setStage({ name: 'listening', delayMs: delayMs + own.delayMs });
        look();
        timer = setInterval(look, LOOK_MS);
        for await (const piece of pieces) own.play(piece);
        // What has arrived is heard.
        await new Promise((resolve) => setTimeout(resolve, own.delayMs));
        finish({ name: 'ended' });
      })
      .catch((error: unknown) => {
        const problem = error instanceof ApiError ? error.message : 'The sound broke off.';
        finish({ name: 'failed', problem });
      });
  };
  return {
    stage,
    toggle() {
      const isOn = stage.name === 'connecting' || stage.name === 'listening';
      end();
      if (isOn) setStage({ name: 'idle' });
      else begin();
    },
    setMixed(mixed) {
      isMixed.current = mixed;
      if (speaker.current !== null) speaker.current.isMixed = mixed;
    },
  };
}
