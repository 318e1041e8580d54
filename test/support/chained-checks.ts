// What holds for every call of the pipeline in which vendors are in trouble that may have fallbacks, and fillers.
import { describe, expect } from 'vitest';
import type { TranscriptEntry } from '../../src/contract/call-record.js';
import { eachPlayed, together } from './played-together.js';
import { type Aspect, rotated } from './rotated.js';
import { APOLOGY } from './trouble-checks.js';
import {
  type Broken,
  type ChainedCall,
  type ChainedOutcome,
  nameOfChained,
  type PipelineStage,
  playChained,
} from './vendor-chains.js';
import { PHASES } from './call-moments.js';
import { AGENT_TURNS, LONGEST_WAIT_MS } from './vendor-scene.js';
import { DROPS, NONSENSE, OUTAGES, type VendorTrouble } from './vendor-troubles.js';

const STAGES: readonly PipelineStage[] = ['stt', 'llm', 'tts'];
const FILLERS = ['One moment, please.', 'Let me see.'];

const FROZEN = named(DROPS, 'frozen');
const HANGING = named(OUTAGES, 'frozen, and no handshake');
const DOWN = named(OUTAGES, '503 at the handshake');

/** Troubles that pass, so that a call without any fallback can go on. */
const PASSING = [
  named(DROPS, 'cut'),
  FROZEN,
  named(DROPS, 'no handshake, once'),
  named(NONSENSE, 'slow'),
] as const;

function named(troubles: readonly VendorTrouble[], name: string): VendorTrouble {
  const found = troubles.find((each) => each.name === name);
  if (found === undefined) throw new Error(`${name} is no trouble`);
  return found;
}

function inAllPhases(calls: readonly Omit<ChainedCall, 'phase'>[]): ChainedCall[] {
  return calls.flatMap((call) => PHASES.map((phase) => ({ ...call, phase })));
}

/** The first vendor of `stage`, or both. */
function broken(stage: PipelineStage, trouble: VendorTrouble, places: readonly (0 | 1)[] = [0]): Broken[] {
  return places.map((place) => ({ stage, place, trouble }));
}

/** The first of every stage has each trouble that lasts, and hangs. */
export function fallbackCells(): ChainedCall[] {
  return inAllPhases(
    STAGES.flatMap((stage) =>
      [...OUTAGES, FROZEN].map((trouble) => ({
        broken: broken(stage, trouble),
        chained: [stage],
        fillers: [],
      })),
    ),
  );
}

/** Two stages at once, with fallbacks and without, or all vendors of a stage. */
export function pairCells(): ChainedCall[] {
  const two = (
    [
      ['stt', 'llm'],
      ['stt', 'tts'],
      ['llm', 'tts'],
    ] as const
  ).flatMap(([one, other]) =>
    [HANGING, FROZEN, DOWN].flatMap((trouble) =>
      [[], STAGES].map((chained) => ({
        broken: [...broken(one, trouble), ...broken(other, trouble)],
        chained,
      })),
    ),
  );
  const mixed = [[], STAGES].map((chained) => ({
    broken: [...broken('stt', FROZEN), ...broken('llm', HANGING), ...broken('tts', HANGING)],
    chained,
  }));
  const all = STAGES.map((stage) => ({ broken: broken(stage, HANGING, [0, 1]), chained: [stage] }));
  const nothing = {
    broken: [...broken('llm', HANGING, [0, 1]), ...broken('tts', HANGING, [0, 1])],
    chained: STAGES,
  };
  return inAllPhases(
    [...two, ...mixed, ...all, nothing].flatMap((call) =>
      [[], FILLERS].map((fillers) => ({ ...call, fillers })),
    ),
  );
}

/** Troubles that pass, with fillers and no fallback. */
export function fillerCells(): ChainedCall[] {
  return inAllPhases(
    STAGES.flatMap((stage) =>
      PASSING.map((trouble) => ({ broken: broken(stage, trouble), chained: [], fillers: FILLERS })),
    ),
  );
}

/** Every stage has each trouble, alone and beside others; each stage comes in every phase, and so do chains and fillers. */
export const CHAINED_ASPECTS: readonly Aspect<ChainedCall>[] = [
  ({ broken }) => toldOf(broken),
  ({ broken: [first], phase }) => `${first?.stage}, ${phase}`,
  ({ chained }) => `${chained}`,
  ({ chained, phase }) => `${chained.length}, ${phase}`,
  ({ fillers, phase }) => `${fillers}, ${phase}`,
];

function toldOf(broken: readonly Broken[]): string {
  return broken.map(({ stage, place, trouble }) => `${stage} ${place} ${trouble.name}`).join(' and ');
}

/** Plays the calls, and has a test for each. `checkMore` is told of every one. */
export function describeChained(
  title: string,
  calls: readonly ChainedCall[],
  checkMore: (outcome: ChainedOutcome) => void,
): void {
  describe(title, () => {
    eachPlayed(rotated(calls, CHAINED_ASPECTS), nameOfChained, together(playChained), (outcome) => {
      checkAlways(outcome);
      checkFillers(outcome);
      checkMore(outcome);
    });
  });
}

function checkAlways({
  longestWaitMs,
  timersLeft,
  socketsLeft,
  violations,
  ending,
  heard,
}: ChainedOutcome): void {
  expect(longestWaitMs).toBeLessThanOrEqual(LONGEST_WAIT_MS);
  expect({ timersLeft, socketsLeft, violations }).toEqual({ timersLeft: 0, socketsLeft: 0, violations: [] });
  if (ending?.failure === undefined) expect(ending?.reason).toBe('agent-hangup');
  else {
    expect(ending.reason).toBe('provider-failed');
    if (ending.failure.untold !== true) expect(heard.at(-1)).toMatch(APOLOGY);
  }
}

/** At most one in a turn, before its answer, and nothing that a model is told of. */
function checkFillers({ call, facts, asked }: ChainedOutcome): void {
  const entries = facts.flatMap((fact) => (fact.type === 'transcript.segment' ? [fact.entry] : []));
  // One that is cut off is told once more, as far as it was heard.
  const isWhole = ({ text, interrupted }: TranscriptEntry) => text !== '' && interrupted !== true;
  const said = entries.filter((entry) => entry.id.startsWith('filler-') && isWhole(entry));
  if (call.fillers.length === 0) expect(said).toEqual([]);
  expect(new Set(said.map(({ id }) => id)).size).toBe(said.length);
  for (const filler of said) {
    const answer = entries.findIndex(({ id }) => id === `agent-${filler.turnIndex}`);
    expect(answer === -1 || entries.indexOf(filler) < answer).toBe(true);
  }
  for (const message of asked.flat())
    for (const filler of FILLERS) expect(message.content).not.toContain(filler);
}

/** The whole conversation took place, and nothing in it was said twice. The end of a sentence that broke off may be missing. */
export function checkGoesOn({ ending, heard }: ChainedOutcome): void {
  expect(ending).toEqual({ reason: 'agent-hangup', failure: undefined });
  expect(heard).toHaveLength(AGENT_TURNS.length);
  for (const [index, text] of heard.entries()) {
    expect(text).not.toBe('');
    expect(isPartInOrder(text, AGENT_TURNS[index] ?? '')).toBe(true);
  }
}

/**
 * The record says once who was replaced, and how long that took. A connection that was frozen may be made again by the first vendor, and
 * nobody misses one that there was not, over which nothing was heard, or of which everything was there.
 */
export function checkReplaced({ call, facts }: ChainedOutcome): void {
  const [first] = call.broken;
  if (first === undefined) throw new Error('nobody is broken');
  const replaced = facts.filter((fact) => fact.type === 'provider.replaced');
  const again = facts.filter((fact) => fact.type === 'provider.reconnected');
  const told = [...replaced, ...again];
  const isUnused = first.stage === 'llm' && call.phase !== 'thinking' && call.phase !== 'speaking';
  const isBefore = call.phase === 'start' || isUnused;
  const mayBeUnseen = call.phase === 'goodbye' || (first.trouble === FROZEN && isBefore);
  if (mayBeUnseen && told.length === 0) return;
  if (first.trouble !== FROZEN) expect(again).toEqual([]);
  expect(told).toMatchObject([{ stage: first.stage, code: 'PROVIDER_FAILED', gapMs: expect.any(Number) }]);
  const [remedy] = told;
  const isHung = first.trouble === FROZEN || first.trouble === HANGING;
  if (isHung) expect(remedy?.gapMs).toBeGreaterThan(0);
  else expect(remedy?.gapMs).toBeGreaterThanOrEqual(0);
}

/** Every word of `text` has a place of its own in `whole`, in the same order. A word may be cut off. */
function isPartInOrder(text: string, whole: string): boolean {
  const words = whole.split(' ');
  let at = 0;
  return text.split(' ').every((word) => {
    const found = words.findIndex((each, index) => index >= at && each.startsWith(word));
    at = found + 1;
    return found !== -1;
  });
}
