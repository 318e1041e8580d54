// What was said, and what was generated but never heard.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { TranscriptEntry, TranscriptRole, Turn } from '../../../contract/call-record.js';
import { formatDuration } from '../format.js';

const SPEAKERS: Readonly<Record<TranscriptRole, string>> = {
  user: 'Caller',
  agent: 'Agent',
  system: 'System',
  tool: 'Tool',
};

/** Within this many pixels of its end the transcript counts as read to the end, and keeps following. */
const FOLLOW_PX = 40;

export interface TranscriptProps {
  entries: readonly TranscriptEntry[];
  turns: readonly Turn[];
  /** A live one scrolls by itself, unless its reader has scrolled up. */
  isLive?: boolean;
  /** With it, entries carry their time since then. */
  startedAt?: number;
}

export function Transcript({ entries, turns, isLive = false, startedAt }: TranscriptProps) {
  const list = useRef<HTMLOListElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    if (isLive && follows.current && list.current !== null)
      list.current.scrollTop = list.current.scrollHeight;
  }, [entries, isLive]);
  const onScroll = () => {
    const at = list.current;
    if (at !== null) follows.current = at.scrollHeight - at.scrollTop - at.clientHeight < FOLLOW_PX;
  };
  if (entries.length === 0) return <p class="quiet">{isLive ? 'Nothing said yet.' : 'Nothing was said.'}</p>;
  return (
    <ol
      class={`transcript ${isLive ? 'live' : ''}`}
      ref={list}
      onScroll={onScroll}
      // A list that scrolls must be reachable by keyboard.
      tabIndex={isLive ? 0 : undefined}
      aria-label="Transcript"
    >
      {entries.map((entry, index) => (
        <Entry
          key={entry.id}
          entry={entry}
          unheard={unheardBehind(entries, index, turns)}
          startedAt={startedAt}
        />
      ))}
    </ol>
  );
}

/** What the caller did not hear of a turn stands behind its last agent entry. */
function unheardBehind(entries: readonly TranscriptEntry[], index: number, turns: readonly Turn[]): string {
  const entry = entries[index];
  if (entry?.role !== 'agent') return '';
  const isLast = !entries
    .slice(index + 1)
    .some((later) => later.role === 'agent' && later.turnIndex === entry.turnIndex);
  return isLast ? (turns.find((turn) => turn.index === entry.turnIndex)?.agentTextUnheard ?? '') : '';
}

function Entry(props: { entry: TranscriptEntry; unheard: string; startedAt: number | undefined }) {
  const { entry, unheard, startedAt } = props;
  return (
    <li class={`${entry.role} ${entry.final ? '' : 'partial'}`}>
      <span class="who">
        {SPEAKERS[entry.role]}
        {startedAt !== undefined && <time>{formatDuration(entry.at - startedAt)}</time>}
      </span>
      <p dir="auto">
        {entry.text}
        {!entry.final && (
          <span class="unseen"> ({entry.role === 'tool' ? 'no result yet' : 'still speaking'})</span>
        )}
        {entry.interrupted === true && <span class="tag">interrupted</span>}
      </p>
      {unheard !== '' && (
        <p class="unheard" dir="auto">
          <span class="tag">not heard</span>
          <span>{unheard}</span>
        </p>
      )}
    </li>
  );
}
