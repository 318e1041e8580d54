// What was said, and what was generated but never heard.
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { CallRecord, ToolCall, TranscriptEntry, Turn } from '../../../contract/call-record.js';
import { entryAt } from '../state/places.js';
import { Playhead, usePlace } from '../state/playhead.js';
import { speakerOf } from '../state/speakers.js';
import { type Sounds, soundOf, wordAt, wordsOf } from '../state/words.js';
import { Jump } from './jump.js';
import { ToolTexts } from './tool-texts.js';

/** Within this many pixels of its end the transcript counts as read to the end, and keeps following. */
const FOLLOW_PX = 40;

export interface TranscriptProps {
  call: Pick<CallRecord, 'agent' | 'handoffs' | 'transcript' | 'turns'>;
  /** A live one scrolls by itself, unless its reader has scrolled up. */
  isLive?: boolean;
  /** With it, entries carry their time since `zero`, lead there, and are marked, word by word, while they are said. */
  place?: { zero: number; head: Playhead; sounds: Sounds };
  /** The turn that is pointed at, here or elsewhere. */
  turn?: number | null;
  pointAt?: (turn: number | null) => void;
}

/** Nobody moves it. */
const NOWHERE = new Playhead(null, () => {});

export function Transcript({ call, isLive = false, place, turn = null, pointAt }: TranscriptProps) {
  const { transcript: entries, turns } = call;
  const tools = useMemo(() => toolsById(turns), [turns]);
  const list = useRef<HTMLOListElement>(null);
  const follows = useRef(true);
  const zero = place?.zero ?? 0;
  const said = usePlace(
    place?.head ?? NOWHERE,
    (ms) => (ms === null ? null : (entryAt(entries, zero + ms)?.id ?? null)),
    [entries, zero],
  );
  useFollowing(list, said);
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
          entries={entries}
          speaker={speakerOf(entry, call)}
          unheard={unheardBehind(entries, index, turns)}
          tool={place && tools.get(entry.id)}
          place={place}
          isSaid={entry.id === said}
          isPointedAt={entry.turnIndex === turn}
          pointAt={pointAt}
        />
      ))}
    </ol>
  );
}

/** Keeps what is said in sight, unless its reader has gone elsewhere. */
function useFollowing(list: { readonly current: HTMLOListElement | null }, said: string | null): void {
  const before = useRef<Element | null>(null);
  useEffect(() => {
    const now = list.current?.querySelector('[aria-current]') ?? null;
    const last = before.current;
    before.current = now;
    if (now === null || (last?.isConnected === true && !isInSight(last))) return;
    now.scrollIntoView({ block: 'nearest' });
  }, [said]);
}

function isInSight(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}

function toolsById(turns: readonly Turn[]): ReadonlyMap<string | null, ToolCall> {
  return new Map(turns.flatMap(({ toolCalls }) => toolCalls.map((tool) => [tool.id, tool] as const)));
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
  entries: readonly TranscriptEntry[];
  speaker: string;
  unheard: string;
  /** The tool that it is about, if its texts are to be seen. */
  tool: ToolCall | undefined;
  place: TranscriptProps['place'];
  /** It is being said, or was last. */
  isSaid: boolean;
  isPointedAt: boolean;
  pointAt: TranscriptProps['pointAt'];
}

function Entry({ entry, entries, speaker, unheard, tool, place, isSaid, isPointedAt, pointAt }: EntryProps) {
  return (
    <li
      class={`${entry.role} ${entry.final ? '' : 'partial'} ${isPointedAt ? 'pointed-at' : ''}`}
      aria-current={isSaid ? 'true' : undefined}
      onMouseEnter={pointAt && (() => pointAt(entry.turnIndex))}
      onMouseLeave={pointAt && (() => pointAt(null))}
    >
      <span class="who">
        {speaker}
        {place !== undefined && <Jump at={entry.at} {...place} />}
      </span>
      <p dir="auto">
        {isSaid && place !== undefined && isSpoken(entry) ? (
          <SaidText entry={entry} entries={entries} place={place} />
        ) : (
          entry.text
        )}
        {!entry.final && (
          <span class="unseen"> ({entry.role === 'tool' ? 'no result yet' : 'still speaking'})</span>
        )}
        {entry.interrupted === true && <span class="tag">interrupted</span>}
      </p>
      {tool !== undefined && <ToolTexts tool={tool} />}
      {unheard !== '' && (
        <p class="unheard" dir="auto">
          <span class="tag">not heard</span>
          <span>{unheard}</span>
        </p>
      )}
    </li>
  );
}

function isSpoken({ role }: TranscriptEntry): boolean {
  return role === 'user' || role === 'agent';
}

interface SaidTextProps {
  entry: TranscriptEntry;
  entries: readonly TranscriptEntry[];
  place: NonNullable<TranscriptProps['place']>;
}

/** The text with the word that is being said. */
function SaidText({ entry, entries, place }: SaidTextProps) {
  const { text } = entry;
  const { zero, head, sounds } = place;
  const words = useMemo(() => wordsOf(text), [text]);
  const sound = useMemo(() => soundOf(entry, entries, sounds), [entry, entries, sounds]);
  const index = usePlace(head, (ms) => (ms === null ? null : wordAt(words, sound, zero + ms)), [
    words,
    sound,
    zero,
  ]);
  const word = index === null ? undefined : words[index];
  if (word === undefined) return <>{text}</>;
  return (
    <>
      {text.slice(0, word.from)}
      <span class="word">{text.slice(word.from, word.to)}</span>
      {text.slice(word.to)}
    </>
  );
}
