// What holds for every call in which a vendor is in trouble, and how it may end.
import { beforeAll, describe, expect, it } from 'vitest';
import { nameOf, playAll, type TroubledCall, type TroubleOutcome } from './provider-trouble.js';
import { ANSWER, GOODBYE, GREETING } from './vendor-line-up.js';

/** `goes on`: to its goodbye. `sorry`: it ends, and the caller is told. `either`: it depends on what the moment hits. */
export type WantedEnd = 'goes on' | 'sorry' | 'either';

/** Callers ask whether anybody is there after some five seconds. */
const LONGEST_WAIT_MS = 5000;
export const APOLOGY = /something went wrong/;
const TURNS = [GREETING, ANSWER, GOODBYE];

/** What an error says of a vendor: which, and what it did. Its own words are not in it. */
const SENTENCE =
  /^(Deepgram|AssemblyAI|OpenAI|OpenAI Realtime|Anthropic|ElevenLabs|Cartesia|language model|text-to-speech|The realtime model|The voice) (refused|is asked|cannot|could not|closed|did not|does not|has gone|gave|broke|sent|lost)/;

/** Plays the calls, and has a test for each. */
export function describeTrouble(
  title: string,
  calls: readonly TroubledCall[],
  wanted: (call: TroubledCall) => WantedEnd,
  /** Told of every call that went on. */
  checkMore: (outcome: TroubleOutcome) => void = () => {},
): void {
  describe(title, () => {
    let outcomes: readonly TroubleOutcome[] = [];
    beforeAll(async () => {
      outcomes = await playAll(calls);
    }, 400_000);

    it.each(calls.map((call, index) => [nameOf(call), index] as const))('%s', (_, index) => {
      const outcome = outcomes[index];
      if (outcome === undefined) throw new Error('the call was not played');
      checkAlways(outcome);
      const end = wanted(outcome.call);
      const hasFailed = outcome.ending?.failure !== undefined;
      if (end !== 'either') expect(hasFailed ? 'sorry' : 'goes on').toBe(end);
      if (hasFailed) checkSorry(outcome);
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
function checkSorry({ ending, heard }: TroubleOutcome): void {
  expect(ending).toMatchObject({
    reason: 'provider-failed',
    failure: { code: 'PROVIDER_FAILED', message: expect.stringMatching(SENTENCE) },
  });
  if (ending?.failure?.untold !== true) expect(heard.at(-1)).toMatch(APOLOGY);
}

/** The record says once which connection was lost and for how long, unless the call had not begun to be heard, or ended meanwhile. */
export function checkReconnected({ call, reconnections }: TroubleOutcome): void {
  const { stage, vendor, phase } = call;
  if (phase === 'start' || phase === 'goodbye') return;
  expect(reconnections).toEqual([
    {
      type: 'provider.reconnected',
      stage,
      provider: expect.stringMatching(new RegExp(`^${vendor}/`)),
      code: 'PROVIDER_FAILED',
      gapMs: expect.any(Number),
    },
  ]);
  for (const { gapMs } of reconnections) expect(gapMs).toBeGreaterThan(0);
}

/** The whole conversation took place. Of a sentence that broke off the end may be missing. */
function checkGoodbye({ ending, heard }: TroubleOutcome): void {
  expect(ending).toEqual({ reason: 'agent-hangup', failure: undefined });
  expect(heard).toHaveLength(TURNS.length);
  for (const [index, text] of heard.entries()) {
    expect(text).not.toBe('');
    expect(foreignWords(text, TURNS[index] ?? '')).toEqual([]);
  }
}

/** Words of `text` that were not to be said. A word may be cut off. */
export function foreignWords(text: string, whole: string): string[] {
  const words = whole.split(' ');
  return text.split(' ').filter((word) => !words.some((each) => each.startsWith(word)));
}
