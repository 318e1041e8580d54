// One call in full, over the page.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ForgetOutcome } from '../../../contract/call-command.js';
import type { CallRecord } from '../../../contract/call-record.js';
import type { CallSummary } from '../../../contract/dashboard-api.js';
import { toSummary } from '../../../events/summarize.js';
import { ApiError, fetchCall, forget } from '../api.js';
import {
  UNKNOWN,
  formatDuration,
  formatLanguage,
  formatNumber,
  formatTime,
  formatTotal,
  formatWord,
} from '../format.js';
import { updatePage } from '../state/app-store.js';
import type { OpenCall } from '../state/address.js';
import { linkTo, noteInstant, showCall } from '../state/deep-link.js';
import type { LiveView } from '../state/live.js';
import { neighborsOf } from '../state/neighbors.js';
import { applyRecord, type PageState } from '../state/page-state.js';
import { shapeOf } from '../state/envelope.js';
import { axisOf } from '../state/places.js';
import { Playhead } from '../state/playhead.js';
import { agentsOf } from '../state/speakers.js';
import { soundsOf } from '../state/words.js';
import { AskFirst } from './ask-first.js';
import { CallCommands } from './call-commands.js';
import { CallWords } from './call-words.js';
import { CopyButton } from './copy-button.js';
import { CostTable } from './cost-table.js';
import { AudioView } from './audio-view.js';
import { LatencyBars } from './latency-bars.js';
import { ListenIn } from './listen-in.js';
import { PhaseLabel, Ticking } from './live-call.js';
import { Direction, Parties, providersOf } from './parties.js';
import { Timeline } from './timeline.js';
import { Transcript } from './transcript.js';

export interface CallDetailProps {
  open: OpenCall;
  page: PageState;
  /** Ended calls, as they are shown. */
  shown: readonly CallSummary[];
  live: LiveView;
  masked: boolean;
}

/** The frame stays while one call follows the other, and the keyboard where it is. */
export function CallDetail({ open, page, shown, live, masked }: CallDetailProps) {
  const { callId } = open;
  const dialog = useRef<HTMLDialogElement>(null);
  const record = page.active.get(callId) ?? page.ended.get(callId);
  const { active } = page;
  const neighbors = useMemo(
    () => neighborsOf(callId, { active, live, shown }),
    [callId, active, live, shown],
  );
  const go = (to: string | null) => {
    if (to !== null) showCall(to);
  };

  useEffect(() => {
    const frame = dialog.current;
    if (frame === null) return;
    frame.showModal();
    // A click beside the sheet closes it, as the Escape key does.
    const onClick = (event: MouseEvent) => {
      if (event.target === frame) frame.close();
    };
    frame.addEventListener('click', onClick);
    return () => frame.removeEventListener('click', onClick);
  }, []);
  useEffect(() => {
    if (dialog.current !== null) dialog.current.scrollTop = 0;
  }, [callId]);
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target instanceof Element && event.target.matches('input:not([type=range]), select, textarea'))
      return;
    if (event.key === 'k') go(neighbors.previous);
    else if (event.key === 'j') go(neighbors.next);
  };

  return (
    <dialog
      class="detail"
      ref={dialog}
      aria-labelledby="detail-title"
      onClose={() => {
        showCall(null);
        focusLink(callId);
      }}
      onKeyDown={onKey}
    >
      <div class="sheet">
        <header>
          {/* Whoever opens a call is to hear which one, and no key is to press a button before that. */}
          <h2 id="detail-title" tabIndex={-1} autofocus>
            {record === undefined ? (
              'Call'
            ) : (
              <>
                <Direction direction={record.direction} />
                <Parties call={toSummary(record)} masked={masked} />
              </>
            )}
          </h2>
          <NeighborButton label="Previous call" keys="k" to={neighbors.previous} d="M4 10l4-4 4 4" go={go} />
          <NeighborButton label="Next call" keys="j" to={neighbors.next} d="M4 6l4 4 4-4" go={go} />
          <button type="button" class="close" aria-label="Close" onClick={() => dialog.current?.close()}>
            <svg viewBox="0 0 16 16" aria-hidden="true">
              <path d="M4 4l8 8M12 4l-8 8" />
            </svg>
          </button>
        </header>
        <Content key={callId} open={open} record={record} page={page} masked={masked} />
      </div>
    </dialog>
  );
}

/** Whoever came by a link, or went on to another call, finds that call where it is listed; else the browser has put the focus back. */
function focusLink(callId: string): void {
  document.querySelector<HTMLElement>(`main a[href=${JSON.stringify(linkTo(callId))}]`)?.focus();
}

interface NeighborButtonProps {
  label: string;
  keys: string;
  to: string | null;
  /** Of its arrow. */
  d: string;
  go: (to: string | null) => void;
}

/** Where the list ends it does nothing, and keeps the keyboard. */
function NeighborButton({ label, keys, to, d, go }: NeighborButtonProps) {
  return (
    <button
      type="button"
      class="close"
      aria-label={label}
      aria-keyshortcuts={keys}
      aria-disabled={to === null}
      title={`${label} (${keys})`}
      onClick={() => go(to)}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={d} />
      </svg>
    </button>
  );
}

interface ContentProps {
  open: OpenCall;
  record: CallRecord | undefined;
  page: PageState;
  masked: boolean;
}

function Content({ open, record, page, masked }: ContentProps) {
  const { callId } = open;
  const [problem, setProblem] = useState<string | null>(null);
  /** What became of a call that was deleted here. */
  const [notice, setNotice] = useState<string | null>(null);
  const isKnown = record !== undefined;
  const isReady = page.aggregates !== null;
  const isForgotten = page.forgotten.has(callId);
  useEffect(() => {
    if (isKnown || !isReady || isForgotten) return;
    setProblem(null);
    fetchCall(callId).then(
      (fetched) => updatePage((state) => applyRecord(state, fetched)),
      (error: unknown) => setProblem(error instanceof ApiError ? problemOf(error) : 'That did not work.'),
    );
  }, [callId, isKnown, isReady, isForgotten]);
  if (record !== undefined)
    return (
      <Body
        record={record}
        seconds={open.seconds}
        controls={page.controls}
        maySpeak={page.controls && page.isSignedIn}
        canListen={page.canListen}
        // The server deletes for whoever shows a token.
        onDeleted={page.isSignedIn ? setNotice : null}
        masked={masked}
      />
    );
  return (
    <p class={problem === null || isForgotten ? 'quiet' : 'problem'} role="status">
      {isForgotten ? (notice ?? DELETED) : (problem ?? 'Loading…')}
    </p>
  );
}

function problemOf({ status, message }: ApiError): string {
  return status === 404 ? `${message} It was deleted, or is older than all that are kept.` : message;
}

interface BodyProps {
  record: CallRecord;
  /** Where in the call its link leads; null for nowhere in particular. */
  seconds: number | null;
  controls: boolean;
  /** Whoever speaks on a call shows a token, also on this machine. */
  maySpeak: boolean;
  /** Live calls can be listened in to. */
  canListen: boolean;
  /** Hears what became of the call. Null where it cannot be deleted. */
  onDeleted: ((notice: string) => void) | null;
  masked: boolean;
}

function Body({ record, seconds, controls, maySpeak, canListen, onDeleted, masked }: BodyProps) {
  const isOver = record.status === 'completed';
  const { callId } = record;
  const head = useMemo(
    () =>
      new Playhead(seconds === null ? null : seconds * 1000, (ms) =>
        noteInstant(callId, Math.floor(ms / 1000)),
      ),
    [callId],
  );
  const shapeMs = useMemo(
    () => (record.envelope == null ? 0 : shapeOf(record.envelope)?.lengthMs),
    [record.envelope],
  );
  const { zero, lengthMs } = axisOf(record, shapeMs);
  /** The audio may end before the call, and words are told behind it. */
  const endMs = Math.max(lengthMs, (record.endedAt ?? 0) - zero);
  // Before it is drawn: a link may lead behind the end.
  useLayoutEffect(() => {
    if (isOver && lengthMs > 0) head.bound(endMs);
  }, [head, isOver, lengthMs, endMs]);
  useEffect(() => {
    if (seconds !== null && head.ms !== seconds * 1000) head.jump(seconds * 1000);
  }, [seconds]);
  /** The turn that is pointed at, in one part or the other. */
  const [turn, pointAt] = useState<number | null>(null);
  const sounds = useMemo(() => soundsOf(record.envelope), [record.envelope]);
  const { phase, transfer, recording, hangUp } = record;
  const facts = [
    ['Started', formatTime(record.startedAt, Date.now())],
    [
      'Duration',
      isOver || record.answeredAt === null ? (
        formatDuration(record.durationMs)
      ) : (
        <Ticking callId={record.callId} since={record.answeredAt} />
      ),
    ],
    ...(phase === null
      ? []
      : [
          [
            'Now',
            <>
              <PhaseLabel phase={phase} />{' '}
              <Ticking callId={record.callId} since={phase.since} label="Time in this phase" />
            </>,
          ] as const,
        ]),
    ['Outcome', isOver ? formatWord(record.outcome) : formatWord(record.status)],
    ['End reason', isOver ? formatWord(record.endReason) : UNKNOWN],
    ['Turns', record.turnCount],
    ...(record.agent === null ? [] : [['Agent', agentsOf(record)] as const]),
    // A record may be older than the field.
    ...(record.language == null ? [] : [['Language', formatLanguage(record.language)] as const]),
    ['Mode', record.mode ?? UNKNOWN],
    ['Carrier', record.carrier],
    ['Cost', formatTotal(record.cost)],
    ['Provider', providersOf(record)],
    ...(record.amd === null ? [] : [['Answered by', record.amd.answeredBy] as const]),
    ...(hangUp === null || hangUp === 'done' ? [] : [['Hang-up', formatWord(hangUp)] as const]),
    ...(transfer === null
      ? []
      : [
          ['Transfer to', formatNumber(transfer.to, { masked })] as const,
          ['Transfer', formatWord(transfer.result ?? 'under-way')] as const,
        ]),
  ] as const;
  const figures = (
    <dl class="facts grid">
      {facts.map(([label, value]) => (
        <div key={label} class={label === 'Provider' ? 'long' : ''}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
      <div class="long">
        <dt>Call id</dt>
        <dd class="id">{record.callId}</dd>
      </div>
      {record.carrierCallId !== null && (
        <div class="long">
          <dt>Id at the carrier</dt>
          <dd class="id">{record.carrierCallId}</dd>
        </div>
      )}
      <div class="long">
        <dt>Server</dt>
        <dd class="id">{serversOf(record)}</dd>
      </div>
    </dl>
  );
  const commands = (
    <div class="commands">
      {!isOver && controls && <CallCommands call={record} masked={masked} />}
      {!isOver && maySpeak && <CallWords callId={record.callId} />}
      {recording?.url !== null && recording?.url !== undefined && isWebLink(recording.url) && (
        <a class="button" href={recording.url} target="_blank" rel="noopener noreferrer">
          Recording
        </a>
      )}
      <CopyButton label="Copy as JSON" text={() => JSON.stringify(record, null, 2)} />
      {isOver && onDeleted !== null && (
        <AskFirst
          label="Delete"
          question="Delete this call for good?"
          confirm="Delete for good"
          isDangerous
          sent="Deleting…"
          isAnswered
          send={async () => onDeleted(noticeOf(await forget(record.callId)))}
        />
      )}
    </div>
  );
  const transcript = (
    <section aria-labelledby="transcript-title">
      <h3 id="transcript-title">Transcript</h3>
      <Transcript
        call={record}
        isLive={!isOver}
        place={{ zero, head, sounds }}
        turn={turn}
        pointAt={pointAt}
      />
    </section>
  );
  return (
    <>
      {record.error !== null && (
        <p class="failure" role="note">
          <strong>{record.error.code}</strong> {record.error.message}
        </p>
      )}
      {/* Of a call that is up the words come first: they are to be in sight on a phone, too. */}
      {!isOver && transcript}
      {canListen && <ListenIn record={record} />}
      {isOver ? [figures, commands] : [commands, figures]}
      <AudioView record={record} head={head} />
      {isOver && transcript}
      <LatencyBars
        turns={record.turns}
        transcript={record.transcript}
        latency={record.latency}
        isOver={isOver}
        zero={zero}
        head={head}
        turn={turn}
        pointAt={pointAt}
      />
      <CostTable cost={record.cost} usage={record.usage} />
      <Timeline record={record} masked={masked} zero={zero} head={head} />
    </>
  );
}

/** The process that has the call, and the one that it began in. A record may be older than the latter. */
function serversOf({ nodeId, originId = nodeId }: CallRecord): string {
  return originId === nodeId ? nodeId : `${nodeId}, began at ${originId}`;
}

const DELETED = 'This call was deleted.';

function noticeOf({ carrierRecording, carrierCallId }: ForgetOutcome): string {
  if (carrierRecording !== 'failed') return DELETED;
  const where = carrierCallId === null ? '' : ` It is that of call ${carrierCallId}.`;
  return `${DELETED} Its recording may still be at the carrier: delete it there.${where}`;
}

/** The address comes from the carrier: only one that a browser fetches becomes a link. */
function isWebLink(url: string): boolean {
  return /^https?:\/\//i.test(url);
}
