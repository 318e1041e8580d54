// What holds for a whole call in which one vendor is in trouble, as the caller heard it and as its record tells it.
import { expect } from 'vitest';
import type { CallRecord } from '../../src/contract/call-record.js';
import { stageOf } from './troubled-call-stages.js';
import {
  answerTo,
  FAREWELL,
  GOODBYE,
  GREETING,
  questionOf,
  type TroubledPart,
} from './troubled-call-vendors.js';
import type { PlayedCell, TroubledCell } from './troubled-calls.js';
import { APOLOGY, foreignWords } from './trouble-checks.js';
import type { Phase } from './call-moments.js';
import { OUTAGES } from './vendor-troubles.js';

/** `goes on`: to its goodbye. `apology`: it ends, and the caller is told. `either`: it depends on what the moment hits. */
export type CellEnd = 'goes on' | 'apology' | 'either';

/** Callers ask whether anybody is there after some five seconds. */
const LONGEST_SILENCE_MS = 5000;
const SORRY = 'I am sorry, something went wrong. Please call again later.';

/** What an error says of a vendor: which, and what it did. Its own words are not in it. */
const ERROR_SENTENCE =
  /^(language model|[A-Z][\w ]*) (refused|cannot|could not|closed|did not|does not|has gone|gave|broke|lost) [\w (),.:]+$/;

/** The turn that a phase belongs to. */
const TURN_OF: Readonly<Record<Phase, number>> = {
  start: 0,
  greeting: 0,
  listening: 1,
  thinking: 1,
  speaking: 1,
  goodbye: 2,
};

export function checkCell(played: PlayedCell, wanted: CellEnd): void {
  const { cell, record } = played;
  const told = nameOf(cell);
  checkLine(played);
  const end = record.endReason === 'provider-failed' ? 'apology' : 'goes on';
  if (wanted !== 'either') expect.soft(end, told).toBe(wanted);
  if (end === 'apology') checkApology(played);
  else {
    checkGoodbye(played);
    checkReconnected(cell, record);
  }
}

/** Nobody broke a rule, and the caller never waited for long. */
export function checkLine(played: PlayedCell): void {
  const { cell, report, violations } = played;
  const told = nameOf(cell);
  expect.soft({ violations, errors: report?.protocolErrors }, told).toEqual({ violations: [], errors: [] });
  expect.soft(silenceOf(played), told).toBeLessThan(LONGEST_SILENCE_MS);
}

export function nameOf({ part, trouble, phase }: TroubledCell): string {
  return trouble === undefined ? `${part}, unbroken` : `${part}, ${trouble.name}, at ${phase}`;
}

/** The whole conversation took place; of the answer that the trouble hit something may be missing, and nothing was said twice. */
export function checkGoodbye({ cell, word, record }: PlayedCell): void {
  const told = nameOf(cell);
  const { turns, error, endReason } = record;
  expect.soft({ endReason, error }, told).toEqual({ endReason: 'agent-hangup', error: null });
  const wanted = [GREETING, answerTo(word), GOODBYE];
  const heard = turns.map(({ agentText }) => agentText);
  const hit = TURN_OF[cell.phase];
  const [said = '', whole = ''] = [heard[hit], wanted[hit]];
  if (cell.trouble !== undefined && said !== whole) {
    expect.soft(said, told).not.toBe('');
    expect.soft(foreignWords(said, whole), told).toEqual([]);
    expect.soft(said.length, told).toBeLessThan(whole.length);
    heard[hit] = whole;
  }
  expect.soft(heard, told).toEqual(wanted);
  // A recognizer that came back late may know of a question when another turn is on.
  const asked = turns.map(({ userText }) => userText).filter((text) => text !== '');
  expect.soft(asked.join(' ').toLowerCase(), told).toBe(`${questionOf(word)} ${FAREWELL}`.toLowerCase());
}

/**
 * The record says once what was lost and for how long, or that it could be done without, unless the call had not begun to be heard, or
 * ended meanwhile.
 */
function checkReconnected(
  { part, phase, trouble, ...cell }: TroubledCell,
  { incidents, provider }: CallRecord,
): void {
  const told = nameOf({ part, phase, trouble, ...cell });
  const { engine, ...stages } = provider;
  const name = engine ?? new Map(Object.entries(stages)).get(stageOf(part) ?? '') ?? '';
  const isGone = OUTAGES.some((outage) => outage === trouble);
  const incident = {
    at: expect.any(Number),
    code: isGone ? 'provider-failed' : 'provider-reconnected',
    message: `${name} failed (PROVIDER_FAILED) and ${isGone ? 'was not needed any more' : 'works again'}.`,
    durationMs: isGone ? null : expect.any(Number),
  };
  // A greeting is made while the phone rings: a voice that fails and is back before anybody listens has kept nobody waiting.
  const isBefore = phase === 'start' || (phase === 'greeting' && stageOf(part) === 'tts');
  const isAtEdge = isBefore || phase === 'goodbye';
  if (trouble === undefined) expect.soft(incidents, told).toEqual([]);
  else if (!isAtEdge || incidents.length > 0) expect.soft(incidents, told).toEqual([incident]);
}

/** The caller was told, by the agent where it has a voice and else by the carrier, and the record says what happened. */
function checkApology({ cell, word, record, leg }: PlayedCell): void {
  const told = nameOf(cell);
  const { turns, error, incidents } = record;
  expect.soft(error, told).toEqual({
    code: 'PROVIDER_FAILED',
    message: expect.stringMatching(ERROR_SENTENCE),
  });
  const hasVoice = hasVoiceLeft(cell.part);
  expect.soft(leg.spoken, told).toEqual(hasVoice ? [] : [SORRY]);
  expect(incidents, told).toEqual([
    {
      at: expect.any(Number),
      code: 'apology-spoken',
      message: expect.stringMatching(hasVoice ? /^The agent/ : /^The carrier/),
      durationMs: expect.any(Number),
    },
  ]);
  expect.soft(incidents[0]?.durationMs, told).toBeLessThanOrEqual(LONGEST_SILENCE_MS);
  if (hasVoice) expect.soft(turns.at(-1)?.agentText, told).toMatch(APOLOGY);
  const whole = [GREETING, answerTo(word), GOODBYE, SORRY].join(' ');
  for (const { agentText } of turns) expect.soft(foreignWords(agentText, whole), told).toEqual([]);
}

/** A vendor that is in trouble leaves the agent its voice, unless it is one. */
function hasVoiceLeft(part: TroubledPart): boolean {
  return ['stt', 'llm'].includes(stageOf(part) ?? '');
}

/** The longest time without a word of anybody, in milliseconds. What the carrier says is heard when it has taken the order. */
function silenceOf({ record, report, leg }: PlayedCell): number {
  if (report === undefined) return Number.POSITIVE_INFINITY;
  const { agentSpeech, callerSpeech, durationMs, startedAt } = report;
  const isSpoken = leg.spoken.length > 0;
  const apology = record.incidents.find(({ code }) => isSpoken && code === 'apology-spoken');
  const endMs = apology === undefined ? (durationMs ?? 0) : apology.at - startedAt;
  let [longestMs, lastMs] = [0, 0];
  const spans = [...agentSpeech, ...callerSpeech, { startMs: endMs, endMs }];
  for (const { startMs, endMs: spokenMs } of spans.sort((one, other) => one.startMs - other.startMs)) {
    longestMs = Math.max(longestMs, startMs - lastMs);
    lastMs = Math.max(lastMs, spokenMs);
  }
  return longestMs;
}
