// What was said, and what was generated but never heard.
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { CallRecord, TranscriptEntry, Turn } from '../../../contract/call-record.js';
import { formatDuration } from '../format.js';
import { speakerOf } from '../state/speakers.js';

/** Within this many pixels of its end the transcript counts as read to the end, and keeps following. */
const FOLLOW_PX = 40;

export interface TranscriptProps {
  call: Pick<CallRecord, 'agent' | 'handoffs' | 'transcript' | 'turns'>;
  /** A live one scrolls by itself, unless its reader has scrolled up. */
  isLive?: boolean;
  /** With it, entries carry their time since then. */
  startedAt?: number;
}

export function Transcript({ call, isLive = false, startedAt }: TranscriptProps) {
  const { transcript: entries, turns } = call;
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
          speaker={speakerOf(entry, call)}
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

interface EntryProps {
  entry: TranscriptEntry;
  speaker: string;
  unheard: string;
  startedAt: number | undefined;
}

function Entry({ entry, speaker, unheard, startedAt }: EntryProps) {
  return (
    <li class={`${entry.role} ${entry.final ? '' : 'partial'}`}>
      <span class="who">
        {speaker}
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
