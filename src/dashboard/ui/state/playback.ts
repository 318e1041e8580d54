// Plays the recording of a call. An audio element knows neither why it failed nor for how long it will wait: both are asked of the server.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RefObject } from 'preact';
import type { LocalRecording } from '../../../contract/call-record.js';
import { ApiError, audioPath, tryAudio } from '../api.js';
import type { Playhead } from './playhead.js';

/** Who waits longer for audio is told why. */
const PATIENCE_MS = 8000;
/** Around the place that is played. A player reads some seconds ahead. */
const TRIED_BYTES = 65_536;
const TRIED_AHEAD_MS = 10_000;

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

  useLayoutEffect(() => {
    const element = audio.current;
    if (element === null) return;
    let frame = 0;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isGone = false;
    const placeOf = () => element.currentTime * 1000;
    // At its end the reader may be further: words are told that nothing was recorded of.
    const readAt = () =>
      element.currentTime >= element.duration ? Math.max(placeOf(), head.ms ?? 0) : placeOf();
    const follow = () => {
      head.move(readAt());
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
        const byteAt = (ms: number) => Math.floor((bytes ?? 0) * Math.min(1, ms / (durationMs || 1)));
        const from = Math.max(0, byteAt(placeOf()) - TRIED_BYTES);
        const ahead = byteAt(placeOf() + TRIED_AHEAD_MS);
        await tryAudio(callId, { from, to: Math.max(ahead, from + 2 * TRIED_BYTES) });
      } catch (error) {
        why = error instanceof ApiError ? error.message : 'That did not work.';
      }
      if (isGone || why === null) return;
      // An element that is emptied does not say that it pauses.
      rest();
      letGo(element);
      setPlaying(false);
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
        if (element.readyState > 0) head.stop(readAt());
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
      letGo(element);
    };
    // A record that is told again changes nothing of what is played.
  }, [callId, head]);

  const toggle = () => {
    const element = audio.current;
    if (element === null) return;
    if (!element.paused) return element.pause();
    if (!element.hasAttribute('src')) element.src = audioPath(callId);
    else if (element.error !== null) element.load();
    setProblem(null);
    // Its refusal is told by the event `error`.
    element.play().catch(() => {});
  };
  const setRate = (rate: number) => {
    // The default is for an element that loads again.
    if (audio.current !== null) audio.current.defaultPlaybackRate = audio.current.playbackRate = rate;
  };
  return { audio, isPlaying, isWaiting, problem, toggle, setRate };
}

/** It stops, and asks for nothing more. A browser that has lost its connection would try again and again. */
function letGo(element: HTMLAudioElement): void {
  element.pause();
  element.removeAttribute('src');
  element.load();
}
