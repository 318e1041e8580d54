// Calls that go from one voice mode to the other at each of their moments: the caller hears everything once, and the
// record tells it as it was.
import { GO_ON } from '../../../src/base/owed-words.js';
import { describe, expect, it } from 'vitest';
import type { TranscriptEntry } from '../../../src/contract/call-record.js';
import {
  type ChangedCall,
  CONVERSATION,
  inOneGo,
  longestWaitMs,
  type ModeChange,
  playModeChange,
  PROMPT,
} from '../../support/mode-changes.js';
import { rotated } from '../../support/rotated.js';
import { CARRIERS } from '../../support/troubled-call-groups.js';
import { LONGEST_WAIT_MS } from '../../support/vendor-scene.js';

/** No limit of the calls: a busy machine needs long for so many. */
const SIDE_BY_SIDE = { timeout: 400_000 };
/** A model that was asked something is missed from the question on. A dead connection is found by what does not come every second. */
const EARLY_MS = 1500;
const LATE_MS = 400;
/** What is on its way to the ear when a voice dies. */
const LATE_VOICE_MS = 1000;

const CHANGES: readonly ModeChange[] = [
  { victim: 'engine', phase: 'start', how: 'reset' },
  { victim: 'engine', phase: 'greeting', how: 'reset' },
  { victim: 'engine', phase: 'listening', how: 'reset' },
  { victim: 'engine', phase: 'listening', how: 'freeze' },
  { victim: 'engine', phase: 'thinking', how: 'reset' },
  { victim: 'engine', phase: 'thinking', how: 'freeze' },
  { victim: 'engine', phase: 'speaking', how: 'reset' },
  { victim: 'engine', phase: 'speaking', how: 'freeze' },
  { victim: 'engine', phase: 'goodbye', how: 'reset' },
  { victim: 'engine', phase: 'goodbye', how: 'reset', isAhead: true },
  { victim: 'stt', phase: 'start', how: 'reset' },
  { victim: 'tts', phase: 'greeting', how: 'reset' },
  { victim: 'stt', phase: 'listening', how: 'reset' },
  { victim: 'stt', phase: 'thinking', how: 'reset' },
  { victim: 'llm', phase: 'thinking', how: 'reset' },
  { victim: 'llm', phase: 'thinking', how: 'freeze' },
  { victim: 'stt', phase: 'speaking', how: 'reset' },
  { victim: 'tts', phase: 'speaking', how: 'reset' },
  { victim: 'tts', phase: 'speaking', how: 'freeze' },
  { victim: 'tts', phase: 'goodbye', how: 'reset' },
];

/** Everybody dies, each in both ways; in every phase somebody does, and on both carriers. */
const CHOSEN = rotated(
  CARRIERS.flatMap((id) => CHANGES.map((change) => ({ id, change }))),
  [
    ({ change: { victim, how, isAhead } }) => `${victim}, ${how}, ${isAhead}`,
    ({ id }) => id,
    ({ change: { phase } }) => phase,
  ],
);

describe.concurrent('a voice mode dies for good', SIDE_BY_SIDE, () => {
  const titled = CHOSEN.map(({ id, change }) => [`${id}: ${titleOf(change)}`, id, change] as const);
  it.each(titled)('%s', async (_, id, change) => {
    check(change, await playModeChange(id, change));
  });
});

function titleOf({ victim, phase, how, isAhead }: ModeChange): string {
  return `${victim}, ${phase}: ${how}${isAhead === true ? ', when all was sent' : ''}`;
}

function check(
  { victim, phase, isAhead }: ModeChange,
  { report, record, diedAt, known, instructions, violations }: ChangedCall,
): void {
  expect(violations).toEqual([]);
  expect(report.protocolErrors).toEqual([]);
  expect(record).toMatchObject({ endReason: 'agent-hangup', error: null });
  // A caller who waits may be asked for a moment.
  const isSaid = ({ role, id }: TranscriptEntry) => role !== 'tool' && !id.startsWith('filler-');
  expect(inOneGo(record.transcript.filter(isSaid))).toEqual(CONVERSATION);
  expect(longestWaitMs(report)).toBeLessThan(LONGEST_WAIT_MS);

  const { turns } = record;
  expect(turns.map(({ index }) => index)).toEqual(turns.map((_, at) => at));
  expect(record.turnCount).toBe(turns.length);
  expect(turns.filter(({ userText, agentText }) => userText === '' && agentText === '')).toEqual([]);
  const calls = turns.flatMap(({ toolCalls }) => toolCalls.map(({ name }) => name));
  expect(calls).toEqual(['end_call']);

  // Who goes on knew everything that was heard before they were asked the last time.
  const whole = CONVERSATION.join('\n');
  const conversation = inOneGoOf(known.filter((line) => !line.includes(GO_ON)));
  expect(whole.startsWith(conversation), conversation).toBe(true);
  // For the rest of a goodbye nobody is asked.
  expect(known.length).toBeGreaterThanOrEqual(phase === 'goodbye' ? 0 : 4);
  if (known.length > 0) expect(instructions).toContain(PROMPT);

  const replaced = record.incidents.filter(({ code }) => code === 'provider-replaced');
  // Nobody takes the place of a model that has nothing more to say.
  const isOver = isAhead === true && phase === 'goodbye';
  expect(replaced).toHaveLength(isOver ? 0 : 1);
  // It was without what had died from then on: from the last sign of it, or from the last sound that a voice had given.
  for (const { at, durationMs } of replaced) {
    const gapMs = durationMs ?? 0;
    // Nobody has heard of a call before its stream.
    const lateMs = phase === 'start' ? (report.firstAudioAfterMs ?? 0) - gapMs : at - gapMs - diedAt;
    expect(lateMs).toBeGreaterThan(-EARLY_MS);
    expect(lateMs).toBeLessThan(victim === 'tts' ? LATE_VOICE_MS : LATE_MS);
  }
  expect(record.mode).toBe(victim === 'engine' && !isOver ? 'pipeline' : 'realtime');
  // Both are in the bill; a model that is lost in the middle of an answer has not told what it took.
  expect((record.cost.stt ?? 0) > 0 || phase === 'goodbye', 'recognizer').toBe(true);
  expect((record.cost.tts ?? 0) > 0, 'voice').toBe(!isOver);
  if (phase !== 'start' && phase !== 'greeting') expect(turns[0]?.cost, 'first turn').toBeGreaterThan(0);
  expect(turns.at(-1)?.cost, 'last turn').toBeGreaterThan(0);
}

function inOneGoOf(lines: readonly string[]): string {
  const entries = lines.map((line) => {
    const [role = '', text = ''] = line.split(/: (.*)/s);
    return { role: role as 'agent' | 'user', text };
  });
  return inOneGo(entries).join('\n');
}
