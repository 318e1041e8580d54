// One call in full, over the page.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ForgetOutcome } from '../../../contract/call-command.js';
import type { CallRecord } from '../../../contract/call-record.js';
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
import { closeLink } from '../state/deep-link.js';
import { applyRecord, type PageState } from '../state/page-state.js';
import { agentsOf } from '../state/speakers.js';
import { AskFirst } from './ask-first.js';
import { CallCommands } from './call-commands.js';
import { CallWords } from './call-words.js';
import { CopyButton } from './copy-button.js';
import { CostTable } from './cost-table.js';
import { EnvelopeView } from './envelope-view.js';
import { LatencyBars } from './latency-bars.js';
import { PhaseLabel, Ticking } from './live-call.js';
import { Direction, Parties, providersOf } from './parties.js';
import { Timeline } from './timeline.js';
import { Transcript } from './transcript.js';

export function CallDetail({ callId, page, masked }: { callId: string; page: PageState; masked: boolean }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const record = page.active.get(callId) ?? page.ended.get(callId);
  const isKnown = record !== undefined;
  const isReady = page.aggregates !== null;
  const isForgotten = page.forgotten.has(callId);
  /** What became of a call that was deleted here. */
  const [notice, setNotice] = useState<string | null>(null);

  useEffect(() => {
    const shown = dialog.current;
    if (shown === null) return;
    shown.showModal();
    // A click beside the sheet closes it, as the Escape key does.
    const onClick = (event: MouseEvent) => {
      if (event.target === shown) shown.close();
    };
    shown.addEventListener('click', onClick);
    return () => shown.removeEventListener('click', onClick);
  }, []);
  useEffect(() => {
    if (isKnown || !isReady || isForgotten) return;
    setProblem(null);
    fetchCall(callId).then(
      (fetched) => updatePage((state) => applyRecord(state, fetched)),
      (error: unknown) => setProblem(error instanceof ApiError ? error.message : 'That did not work.'),
    );
  }, [callId, isKnown, isReady, isForgotten]);

  return (
    <dialog class="detail" ref={dialog} aria-labelledby="detail-title" onClose={closeLink}>
      <div class="sheet">
        <header>
          <h2 id="detail-title">
            {record === undefined ? (
              'Call'
            ) : (
              <>
                <Direction direction={record.direction} />
                <Parties call={toSummary(record)} masked={masked} />
              </>
            )}
          </h2>
          <button type="button" class="close" aria-label="Close" onClick={() => dialog.current?.close()}>
            <svg viewBox="0 0 16 16" aria-hidden="true">
              <path d="M4 4l8 8M12 4l-8 8" />
            </svg>
          </button>
        </header>
        {record !== undefined && (
          <Body
            record={record}
            controls={page.controls}
            maySpeak={page.controls && page.isSignedIn}
            // The server deletes for whoever shows a token.
            onDeleted={page.isSignedIn ? setNotice : null}
            masked={masked}
          />
        )}
        {record === undefined && (
          <p class={problem === null || isForgotten ? 'quiet' : 'problem'} role="status">
            {isForgotten ? (notice ?? DELETED) : (problem ?? 'Loading…')}
          </p>
        )}
      </div>
    </dialog>
  );
}

interface BodyProps {
  record: CallRecord;
  controls: boolean;
  /** Whoever speaks on a call shows a token, also on this machine. */
  maySpeak: boolean;
  /** Hears what became of the call. Null where it cannot be deleted. */
  onDeleted: ((notice: string) => void) | null;
  masked: boolean;
}

function Body({ record, controls, maySpeak, onDeleted, masked }: BodyProps) {
  const isOver = record.status === 'completed';
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
  return (
    <>
      {record.error !== null && (
        <p class="failure" role="note">
          <strong>{record.error.code}</strong> {record.error.message}
        </p>
      )}
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
      </dl>
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
      {record.envelope !== null && <EnvelopeView envelope={record.envelope} turns={record.turns} />}
      <section aria-labelledby="transcript-title">
        <h3 id="transcript-title">Transcript</h3>
        <Transcript call={record} isLive={!isOver} startedAt={record.answeredAt ?? record.startedAt} />
      </section>
      <LatencyBars turns={record.turns} latency={record.latency} isOver={isOver} />
      <CostTable cost={record.cost} />
      <Timeline record={record} masked={masked} />
    </>
  );
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
