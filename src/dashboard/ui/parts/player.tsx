// Plays the recording of a call, or says why there is nothing to play.
import { useEffect, useRef } from 'preact/hooks';
import type {
  CallRecord,
  LocalRecording,
  LocalRecordingTrouble,
  RecordingPauser,
} from '../../../contract/call-record.js';
import { audioPath } from '../api.js';
import { formatDuration, formatPlace } from '../format.js';
import { pauseAt } from '../state/places.js';
import { usePlayback } from '../state/playback.js';
import { type Playhead, usePlace } from '../state/playhead.js';

const RATES = [0.5, 0.75, 1, 1.25, 1.5, 2];
const STEP_MS = 5000;

/** What a recording lacks, and why. */
const TROUBLES: Readonly<Record<LocalRecordingTrouble, string>> = {
  'disk-full': 'the disk was full',
  'disk-slow': 'the disk did not keep up',
  'disk-failed': 'the disk failed',
  'tape-damaged': 'what was written during the call is damaged',
  'key-wrong': 'what was written during the call is encrypted with another key',
  'too-long': 'it was larger than a file can be, or than maxBytes',
  empty: 'there was no audio',
  lost: 'its files are gone',
  unavailable: 'the folder of the recordings could not be used',
  moved: 'the call came from another server, which has what came before',
};

const PAUSERS: Readonly<Record<RecordingPauser, string>> = {
  application: 'the application paused it',
  tool: 'a tool paused it',
  keys: 'the caller keyed something in',
};

interface PlayerProps {
  record: CallRecord;
  recording: LocalRecording;
  /** Second 0 of the recording, epoch milliseconds. */
  zero: number;
  head: Playhead;
}

export function Player(props: PlayerProps) {
  const { status, trouble } = props.recording;
  const why = trouble === null ? '' : `: ${TROUBLES[trouble] ?? trouble}`;
  if (status === 'recording')
    return (
      <p class="quiet">
        {trouble === null
          ? 'This call is being recorded. It can be played once it is over.'
          : `The recording was given up${why}.`}
      </p>
    );
  if (status === 'pending') return <p class="quiet">The recording is being made.</p>;
  if (status === 'failed') return <p class="problem">{`There is no recording${why}.`}</p>;
  return (
    <>
      <Controls {...props} />
      {trouble !== null && <p class="quiet">{`The recording is not whole${why}.`}</p>}
    </>
  );
}

function Controls({ record, recording, zero, head }: PlayerProps) {
  const { callId } = record;
  const { audio, isPlaying, isWaiting, problem, toggle, setRate } = usePlayback(callId, recording, head);
  const self = useRef<HTMLDivElement>(null);
  const seconds = usePlace(
    head,
    (ms) => Math.floor(Math.min(ms ?? 0, recording.durationMs ?? Number.POSITIVE_INFINITY) / 1000),
    [recording.durationMs],
  );
  const pause = usePlace(head, (ms) => (ms === null ? null : pauseAt(recording.pauses, zero + ms)), [
    recording,
    zero,
  ]);

  useKeys(self, (key) => {
    if (key === ' ') toggle();
    else if (key === 'ArrowLeft' || key === 'ArrowRight')
      head.jump((head.ms ?? 0) + (key === 'ArrowLeft' ? -STEP_MS : STEP_MS));
    else return false;
    return true;
  });

  return (
    <div class="player" ref={self}>
      {/* biome-ignore lint/a11y/useMediaCaption: the transcript stands below, and follows. */}
      <audio ref={audio} src={audioPath(callId)} preload="metadata" />
      <button
        type="button"
        class="primary"
        aria-keyshortcuts="Space"
        title="Space. The left and right arrows go five seconds back and on."
        onClick={toggle}
      >
        {isPlaying ? 'Pause' : 'Play'}
      </button>
      <span class="place">
        {formatPlace(seconds * 1000)} / {formatDuration(recording.durationMs)}
      </span>
      <select aria-label="Speed" onChange={(event) => setRate(Number(event.currentTarget.value))}>
        {RATES.map((rate) => (
          <option key={rate} value={rate} selected={rate === 1}>
            {rate}×
          </option>
        ))}
      </select>
      <a class="button" href={audioPath(callId)} download={`${callId}.wav`}>
        Download
      </a>
      <span class={problem === null ? 'said' : 'problem'} role="status">
        {problem ?? noteOf(pause?.by, isWaiting)}
      </span>
    </div>
  );
}

function noteOf(pausedBy: RecordingPauser | undefined, isWaiting: boolean): string {
  if (isWaiting) return 'Loading…';
  return pausedBy === undefined ? '' : `Not recorded here: ${PAUSERS[pausedBy] ?? pausedBy}.`;
}

/** Keys for the player, wherever in the open call they are pressed, but for what takes them itself. */
function useKeys(self: { readonly current: HTMLElement | null }, press: (key: string) => boolean): void {
  const latest = useRef(press);
  latest.current = press;
  useEffect(() => {
    const sheet = self.current?.closest('dialog');
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
      if (takesKey(event.target, event.key)) return;
      if (latest.current(event.key)) event.preventDefault();
    };
    sheet?.addEventListener('keydown', onKey);
    return () => sheet?.removeEventListener('keydown', onKey);
  }, []);
}

function takesKey(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof Element)) return false;
  if (target.matches('input[type=range]')) return false;
  if (target.matches('input, select, textarea')) return true;
  return key === ' ' && target.matches('button, a, summary');
}
