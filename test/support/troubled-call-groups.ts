// Groups of whole calls over a carrier, side by side on one phone server: in one nothing happens, in each of the others one vendor gets
// into trouble in one phase.
import { describe, it } from 'vitest';
import type { CarrierId } from '../../src/index.js';
import { type Callee, openToneVoice } from '../../src/testing/index.js';
import { startCarrierPhone } from './carrier-phone.js';
import { type CellEnd, checkCell } from './troubled-call-checks.js';
import { PIPELINE_PARTS, type TroubledPart } from './troubled-call-vendors.js';
import {
  ActiveCalls,
  createCues,
  numberOf,
  playCell,
  scriptOf,
  type TroubledCell,
  wordOf,
} from './troubled-calls.js';
import { PHASES, type Phase } from './vendor-call.js';
import { DROPS, OUTAGES, type VendorTrouble } from './vendor-troubles.js';

const CUT = troubleCalled('cut');
const CLOSED = troubleCalled('closed with 1011');
const FROZEN = troubleCalled('frozen');
const GONE = troubleCalled('503 at the handshake');

const OPENAI = 'openai/gpt-realtime-2.1-mini';
const GEMINI = 'google/gemini-3.8-live';
const ELEVENLABS = 'elevenlabs/agents';

/** Calls in real time: a shared machine that stands still makes waits that nobody can mend. */
const REAL_TIME = { retry: 2, timeout: 120_000 };
/** More would be late on a small machine. */
const MAX_STREAMS = 60;

type Wanted = (cell: TroubledCell) => CellEnd;

/** A recogniser, a voice or a realtime model comes back. */
const goesOn: Wanted = () => 'goes on';

/** A model's answer that has not begun is asked for once more, unless too much time has passed; of one that has begun the rest is not. */
const modelEnd: Wanted = ({ phase, trouble }) =>
  phase === 'thinking' && trouble !== FROZEN ? 'goes on' : 'sorry';

/** In the goodbye nobody has to be heard any more. Of what is said all may be there already. */
const ended: Wanted = ({ part, phase }) => {
  if (phase !== 'goodbye') return 'sorry';
  return part === 'stt' ? 'goes on' : 'either';
};

/** Connections of the pipeline's vendors drop, and others can be had. */
export function describePipelineDrops(id: CarrierId): void {
  describe(`${id}: a vendor of the pipeline drops in each phase of a call`, REAL_TIME, () => {
    const works: readonly Phase[] = ['thinking', 'speaking', 'goodbye'];
    const parts: readonly TroubledPart[] = ['stt', 'tts'];
    it.each([
      ['closed or cut', CLOSED, [CUT, CLOSED]],
      ['frozen', FROZEN, [FROZEN]],
    ])('%s', async (_, socket, requests) => {
      const model = cells(['llm'], requests, works);
      await playGroup(id, [
        ...cells(parts, [socket], PHASES).map((cell) => ({ cell, wanted: goesOn })),
        ...model.map((cell) => ({ cell, wanted: modelEnd })),
        ...cells(['http-stt'], requests, ['thinking']).map((cell) => ({ cell, wanted: goesOn })),
      ]);
    });
  });
}

/** The same with realtime models. */
export function describeRealtimeDrops(id: CarrierId): void {
  describe(`${id}: a realtime model drops in each phase of a call`, REAL_TIME, () => {
    it.each([
      ['cut', [GEMINI, ELEVENLABS], CUT],
      ['closed with 1011', [OPENAI, GEMINI, ELEVENLABS], CLOSED],
      ['frozen', [OPENAI, GEMINI, ELEVENLABS], FROZEN],
    ])('%s', async (_, vendors, trouble) => {
      const group = cells(vendors, [trouble], PHASES);
      await playGroup(
        id,
        group.map((cell) => ({ cell, wanted: goesOn })),
      );
    });
  });
}

/** From some moment of a call on nothing can be had of a vendor any more. */
export function describeOutages(id: CarrierId): void {
  describe(`${id}: a vendor is gone for good from each phase of a call on`, REAL_TIME, () => {
    it('pipeline', async () => {
      const parts = PIPELINE_PARTS.filter((part) => part !== 'http-stt');
      await playGroup(id, [
        ...cells(parts, [GONE], PHASES).map((cell) => ({ cell, wanted: ended })),
        ...cells(['http-stt'], [GONE], ['thinking']).map((cell) => ({ cell, wanted: ended })),
      ]);
    });

    it('realtime', async () => {
      const group = cells([OPENAI, GEMINI, ELEVENLABS], [GONE], PHASES);
      await playGroup(
        id,
        group.map((cell) => ({ cell, wanted: ended })),
      );
    });
  });
}

function troubleCalled(name: string): VendorTrouble {
  const found = [...DROPS, ...OUTAGES].find((trouble) => trouble.name === name);
  if (found === undefined) throw new Error(`there is no trouble ${name}`);
  return found;
}

function cells(
  parts: readonly TroubledPart[],
  troubles: readonly VendorTrouble[],
  phases: readonly Phase[],
): TroubledCell[] {
  return parts.flatMap((part) =>
    troubles.flatMap((trouble) => phases.map((phase) => ({ part, trouble, phase }))),
  );
}

/** Plays the calls beside one in which nothing happens, and looks at each of them. */
async function playGroup(
  id: CarrierId,
  group: readonly { readonly cell: TroubledCell; readonly wanted: Wanted }[],
): Promise<void> {
  const [first] = group;
  if (first === undefined) throw new Error('there is no call in the group');
  const well = { cell: { ...first.cell, trouble: undefined }, wanted: goesOn };
  const calls = [well, ...group].map((each, index) => ({ ...each, index, cues: createCues() }));
  const callees = Object.fromEntries(
    calls.map(({ cell, index, cues }): [string, Callee] => [
      numberOf(index),
      { type: 'human', ringMs: 200, script: scriptOf(wordOf(index), cell, cues) },
    ]),
  );
  await using phone = await startCarrierPhone(
    id,
    {},
    { serve: { maxStreamsPerIp: MAX_STREAMS }, simulator: { openVoice: openToneVoice, callees } },
  );
  const active = new ActiveCalls(phone);
  const played = await Promise.all(calls.map((call) => playCell(phone, active, call)));
  for (const [index, { wanted }] of calls.entries()) {
    const call = played[index];
    if (call !== undefined) checkCell(call, wanted(call.cell));
  }
}
