// Plays the recording of a call. An audio element knows neither why it failed nor for how long it will wait: both are asked of the server.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { RefObject } from 'preact';
import type { LocalRecording } from '../../../contract/call-record.js';
import { ApiError, tryAudio } from '../api.js';
import type { Playhead } from './playhead.js';

/** Who waits longer for audio is told why. */
const PATIENCE_MS = 8000;
const TRIED_BYTES = 65_536;

export interface Playback {
  audio: RefObject<HTMLAudioElement | null>;
  isPlaying: boolean;
  /** It waits for audio. */
  isWaiting: boolean;
  /** Why it does not play; null while nothing is wrong. */
  problem: string | null;
  toggle: () => void;
  setRate: (rate: number) => void;
}

export function usePlayback(callId: string, recording: LocalRecording, head: Playhead): Playback {
  const audio = useRef<HTMLAudioElement>(null);
  const [isPlaying, setPlaying] = useState(false);
  const [isWaiting, setWaiting] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const latest = useRef(recording);
  latest.current = recording;

  useEffect(() => {
    const element = audio.current;
    if (element === null) return;
    let frame = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isGone = false;
    const placeOf = () => element.currentTime * 1000;
    const follow = () => {
      head.move(placeOf());
      frame = requestAnimationFrame(follow);
    };
    const rest = () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      setWaiting(false);
    };
    const askWhy = async (orElse: string | null) => {
      let why = orElse;
      try {
        const { durationMs, bytes } = latest.current;
        const share = Math.min(1, placeOf() / (durationMs || 1));
        const from = Math.max(0, Math.floor((bytes ?? 0) * share) - TRIED_BYTES);
        await tryAudio(callId, { from, to: from + 2 * TRIED_BYTES });
      } catch (error) {
        why = error instanceof ApiError ? error.message : 'That did not work.';
      }
      if (isGone || why === null) return;
      element.pause();
      setProblem(why);
    };
    const handlers: Readonly<Record<string, () => void>> = {
      loadedmetadata: () => {
        if (head.ms !== null) element.currentTime = head.ms / 1000;
      },
      play: () => setPlaying(true),
      playing: () => {
        rest();
        setProblem(null);
        follow();
      },
      pause: () => {
        rest();
        setPlaying(false);
        if (element.readyState > 0) head.stop(placeOf());
      },
      waiting: () => {
        rest();
        setWaiting(true);
        timer = setTimeout(() => {
          void askWhy(null);
          timer = setTimeout(() => void askWhy('The recording does not arrive.'), PATIENCE_MS);
        }, PATIENCE_MS);
      },
      canplay: rest,
      error: () => {
        rest();
        setPlaying(false);
        const isBroken = element.error?.code === MediaError.MEDIA_ERR_NETWORK;
        void askWhy(
          isBroken ? 'The connection broke off.' : 'This browser cannot play the recording: download it.',
        );
      },
    };
    for (const [name, handler] of Object.entries(handlers)) element.addEventListener(name, handler);
    const stop = head.moves((ms) => {
      if (element.readyState > 0) element.currentTime = ms / 1000;
    });
    return () => {
      isGone = true;
      stop();
      for (const [name, handler] of Object.entries(handlers)) element.removeEventListener(name, handler);
      rest();
      // An element that nobody sees any more would go on, and keep its connection.
      element.pause();
      element.removeAttribute('src');
      element.load();
    };
    // A record that is told again changes nothing of what is played.
  }, [callId, head]);

  const toggle = () => {
    const element = audio.current;
    if (element === null) return;
    if (!element.paused) return element.pause();
    if (element.error !== null) element.load();
    setProblem(null);
    // Its refusal is told by the event `error`.
    element.play().catch(() => {});
  };
  const setRate = (rate: number) => {
    if (audio.current !== null) audio.current.playbackRate = rate;
  };
  return { audio, isPlaying, isWaiting, problem, toggle, setRate };
}
