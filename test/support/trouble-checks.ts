// What holds for every call in which a vendor is in trouble, and how it may end.
import { describe, expect } from 'vitest';
import { eachPlayed, together } from './played-together.js';
import type { TroubledStage } from './emulated-vendors.js';
import {
  cells,
  mannerOf,
  nameOf,
  playTroubled,
  type TroubledCall,
  type TroubleOutcome,
} from './provider-trouble.js';
import { type Aspect, rotated } from './rotated.js';
import { AGENT_TURNS, LONGEST_WAIT_MS, QUESTION } from './vendor-scene.js';
import { isRefusingClose, type VendorManner, type VendorTrouble } from './vendor-troubles.js';
import { wantedEnd } from './wanted-ends.js';

/** What the agent says when something has gone wrong for good. */
export const APOLOGY = /something went wrong/;

/** What an error says of a vendor: which, and what it did. Its own words are not in it. */
const SENTENCE =
  /^(Deepgram|AssemblyAI|OpenAI|OpenAI Realtime|Anthropic|ElevenLabs|ElevenLabs Agents|Gemini Live|Cartesia|The transcription server|language model|text-to-speech|The realtime model|The voice) (refused|is asked|wants|cannot|could not|closed|did not|does not|has|gave|broke|sent|lost)/;

/** Every vendor gets into trouble, and every trouble occurs; each stage has each kind of it; in every phase it has each end that it may have. */
export const TROUBLED_ASPECTS: readonly Aspect<TroubledCall>[] = [
  ({ vendor }) => vendor,
  ({ trouble }) => trouble.name,
  (call) => `${call.stage}, ${kindOf(call)}`,
  ({ trouble, phase }) => `${trouble.closeCode !== undefined}, ${phase}`,
  (call) => `${call.stage}, ${call.phase}, ${wantedEnd(call)}`,
];

/** A close is of its kind, whichever code a vendor has for it. */
function kindOf(call: TroubledCall): string {
  if (call.trouble.closeCode === undefined) return call.trouble.name;
  return isRefusingClose(call.trouble, mannerOf(call)) ? 'a refusing close' : 'a passing close';
}

/** The calls of all stages in which a vendor has one of these troubles. */
export function troubledCalls(
  troublesOf: (manner: VendorManner) => readonly VendorTrouble[],
): Readonly<Record<TroubledStage, readonly TroubledCall[]>> {
  const calls = rotated(cells(troublesOf), TROUBLED_ASPECTS);
  const of = (wanted: TroubledStage) => calls.filter(({ stage }) => stage === wanted);
  return { stt: of('stt'), llm: of('llm'), tts: of('tts'), engine: of('engine') };
}

/** Plays the calls, and has a test for each. */
export function describeTrouble(
  title: string,
  calls: readonly TroubledCall[],
  /** Told of every call that went on. */
  checkMore: (outcome: TroubleOutcome) => void = () => {},
): void {
  describe(title, () => {
    eachPlayed(calls, nameOf, together(playTroubled), (outcome) => {
      checkAlways(outcome);
      const end = wantedEnd(outcome.call);
      const hasFailed = outcome.ending?.failure !== undefined;
      if (end === 'hangs up') {
        checkHangUp(outcome);
        return;
      }
      expect(hasFailed ? 'apology' : 'goes on').toBe(end);
      if (hasFailed) checkApology(outcome);
      else {
        checkGoodbye(outcome);
        checkMore(outcome);
      }
    });
  });
}

function checkAlways({ call, longestWaitMs, timersLeft, socketsLeft, violations }: TroubleOutcome): void {
  expect(longestWaitMs).toBeLessThanOrEqual(LONGEST_WAIT_MS);
  expect({ timersLeft, socketsLeft }).toEqual({ timersLeft: 0, socketsLeft: 0 });
  // Who is given the ids of another call uses them.
  if (call.trouble.name !== 'ids of another call') expect(violations).toEqual([]);
}

/** The caller was told, by the agent or by the carrier, and the record says what happened. */
function checkApology({ ending, heard }: TroubleOutcome): void {
  expect(ending).toMatchObject({
    reason: 'provider-failed',
    failure: { code: 'PROVIDER_FAILED', message: expect.stringMatching(SENTENCE) },
  });
  if (ending?.failure?.untold !== true) expect(heard.at(-1)).toMatch(APOLOGY);
}

/** Found by pings, a silence may have begun so long before the trouble: it is counted from the last sign of life. */
const PING_MS = 1000;
/** A frozen connection is given up after at least this. */
const FROZEN_MS = 1500;

/** Whether the caller could notice. What is asked by requests has nothing to lose between two of them, nor a voice of which something was heard. */
function isAffected(call: TroubledCall): boolean {
  const { stage, trouble, phase } = call;
  // A model is asked nothing at the start: the trouble meets the first question.
  if (phase === 'goodbye' || (phase === 'start' && stage !== 'llm')) return false;
  if (mannerOf(call).wire === 'socket' || (phase === 'thinking' && stage !== 'tts')) return true;
  return /^\d+ at the handshake/.test(trouble.name) && (stage !== 'llm' || phase !== 'speaking');
}

/**
 * The record says once which connection was lost, and for how long: as long as it was of no use, which is not longer than it is since the
 * trouble began, and not only since it was found.
 */
export function checkReconnected({ call, provider, reconnections, backAfterMs = 0 }: TroubleOutcome): void {
  if (!isAffected(call)) {
    expect(reconnections.length).toBeLessThanOrEqual(1);
    return;
  }
  const { stage, trouble } = call;
  const code = 'PROVIDER_FAILED';
  expect(reconnections).toEqual([
    { type: 'provider.reconnected', stage, provider, code, gapMs: expect.any(Number) },
  ]);
  for (const { gapMs } of reconnections) {
    // Where nobody has to wait before another connection is made, it takes no time: loopback has none of the call's.
    expect(gapMs).toBeGreaterThanOrEqual(trouble.name === 'frozen' && stage !== 'llm' ? FROZEN_MS : 0);
    expect(gapMs).toBeLessThanOrEqual(backAfterMs + PING_MS);
  }
}

/** A tool that ran while the connection was lost ran once. The model is told what it gave, and answers once. */
export function checkToolResult(outcome: TroubleOutcome): void {
  const { heard, toolRuns, knowsResult } = outcome;
  checkReconnected(outcome);
  expect({ toolRuns, knowsResult }).toEqual({ toolRuns: 1, knowsResult: true });
  expect(heard).toEqual(AGENT_TURNS);
}

/** The vendor has ended the call as an agent does, with what it had said until then. */
function checkHangUp({ ending, heard, reconnections }: TroubleOutcome): void {
  expect(ending).toEqual({ reason: 'agent-hangup', failure: undefined });
  expect(reconnections).toEqual([]);
  for (const [index, text] of heard.entries())
    expect(foreignWords(text, AGENT_TURNS[index] ?? '')).toEqual([]);
}

/** The whole conversation took place. Of a sentence that broke off the end may be missing. */
function checkGoodbye({ call, ending, heard, said }: TroubleOutcome): void {
  expect(ending).toEqual({ reason: 'agent-hangup', failure: undefined });
  // Also what was played again over another connection stands there once. A recognizer that has gone silent is not waited for: the piece of
  // text that it had given counts, and what comes later follows it.
  const isWaitedFor = call.stage !== 'stt' || call.trouble.name !== 'frozen';
  if (isWaitedFor) expect(said).toEqual(['', QUESTION, QUESTION]);
  expect(heard).toHaveLength(AGENT_TURNS.length);
  for (const [index, text] of heard.entries()) {
    expect(text).not.toBe('');
    expect(foreignWords(text, AGENT_TURNS[index] ?? '')).toEqual([]);
  }
}

/** Words of `text` that were not to be said. A word may be cut off. */
export function foreignWords(text: string, whole: string): string[] {
  const words = whole.split(' ');
  return text.split(' ').filter((word) => !words.some((each) => each.startsWith(word)));
}
