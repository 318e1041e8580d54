// Whole calls with a second vendor for each stage, in which the first one of one stage is gone for good from some phase on: the call goes
// on to its goodbye, its record names who has served it last, and both are paid.
import { describe, expect, it } from 'vitest';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { CarrierId, ServeOptions } from '../../src/index.js';
import { openToneVoice } from '../../src/testing/index.js';
import { type CarrierPhone, startCarrierPhone } from './carrier-phone.js';
import { checkGoodbye, checkLine, nameOf } from './troubled-call-checks.js';
import {
  ActiveCalls,
  createCues,
  numberOf,
  type PlayedCell,
  type PlayedOptions,
  personOf,
  playCell,
} from './troubled-calls.js';
import { PHASES, type Phase } from './vendor-call.js';
import { OUTAGES } from './vendor-troubles.js';

const STAGES = ['stt', 'llm', 'tts'] as const;
type Stage = (typeof STAGES)[number];

const FIRST = { stt: 'deepgram/nova-3', llm: 'openai/gpt-6-luna', tts: 'elevenlabs/eleven_flash_v2_5' };
const SECOND = {
  stt: 'assemblyai/universal-3-6-pro',
  llm: 'anthropic/claude-haiku-5-5',
  tts: 'cartesia/sonic-3.5',
};

/** What a second, a token or a character costs, and how much more of it with a second vendor: by that the bill tells who was paid. */
const UNIT_PRICE = 0.0001;
const TIMES = 100;
const PRICING: ServeOptions['pricing'] = {
  deepgram: { '*': { perAudioMinute: 60 * UNIT_PRICE } },
  assemblyai: { '*': { perAudioMinute: 60 * UNIT_PRICE * TIMES } },
  openai: { '*': tokens(1e6 * UNIT_PRICE) },
  anthropic: { '*': tokens(1e6 * UNIT_PRICE * TIMES) },
  elevenlabs: { '*': { perThousandCharacters: 1000 * UNIT_PRICE } },
  cartesia: { '*': { perThousandCharacters: 1000 * UNIT_PRICE * TIMES } },
};

/** The phases by which the first vendor of a stage has done some of its work. */
const AT_WORK: Readonly<Record<Stage, readonly Phase[]>> = {
  stt: ['listening', 'thinking', 'speaking', 'goodbye'],
  llm: ['speaking', 'goodbye'],
  tts: ['greeting', 'listening', 'thinking', 'speaking', 'goodbye'],
};

/** Calls in real time: a shared machine that stands still makes waits that nobody can mend. */
const REAL_TIME = { retry: 2, timeout: 120_000 };

export function describeReplacements(id: CarrierId): void {
  describe(`${id}: the next vendor takes the place of one that is gone for good`, REAL_TIME, () => {
    it.each(STAGES)('%s', async (stage) => {
      const trouble = OUTAGES.find(({ name }) => name === '503 at the handshake');
      const playing: Promise<PlayedCell>[] = [];
      for (const [index, phase] of PHASES.entries()) {
        const cell = { part: stage, phase, trouble, fallbacks: STAGES };
        const options = { index, cell, cues: createCues() };
        // One after the other: each looks for a free port.
        playing.push(play(await start(id, options), options));
      }
      for (const call of await Promise.all(playing)) check(call, stage);
    });
  });
}

/** A server for one call: what is known of a vendor is shared by all calls of a server. */
function start(id: CarrierId, options: PlayedOptions): Promise<CarrierPhone> {
  const callees = { [numberOf(options.index)]: personOf(options) };
  return startCarrierPhone(
    id,
    {},
    { serve: { pricing: PRICING }, simulator: { openVoice: openToneVoice, callees } },
  );
}

async function play(phone: CarrierPhone, options: PlayedOptions): Promise<PlayedCell> {
  await using running = phone;
  return await playCell(running, new ActiveCalls(running), options);
}

function check(played: PlayedCell, stage: Stage): void {
  const { cell, record } = played;
  const told = nameOf(cell);
  checkLine(played);
  checkGoodbye(played);
  const { incidents, provider } = record;
  // All of the goodbye may be there already.
  if (cell.phase === 'goodbye' && incidents.length === 0) return;
  expect.soft(incidents, told).toEqual([
    {
      at: expect.any(Number),
      code: 'provider-replaced',
      message: `${FIRST[stage]} failed (PROVIDER_FAILED), and ${SECOND[stage]} was asked in its place.`,
      durationMs: expect.any(Number),
    },
  ]);
  expect.soft(provider, told).toEqual({ engine: null, ...FIRST, [stage]: SECOND[stage] });
  const { first, second } = paidFor(record, stage);
  if (AT_WORK[stage].includes(cell.phase)) expect.soft(first, told).toBeGreaterThan(0);
  else expect.soft(first, told).toBeGreaterThan(-1);
  if (cell.phase !== 'goodbye') expect.soft(second, told).toBeGreaterThan(0);
}

/** Seconds, tokens or characters that each of the two vendors of a stage is paid for. */
function paidFor({ cost, usage }: CallRecord, stage: Stage): { first: number; second: number } {
  const { sttSeconds = 0, llmOutputTokens = 0, ttsCharacters = 0 } = usage ?? {};
  const all = { stt: sttSeconds, llm: llmOutputTokens, tts: ttsCharacters }[stage];
  const second = ((cost[stage] ?? 0) / UNIT_PRICE - all) / (TIMES - 1);
  return { first: all - second, second };
}

function tokens(outputPerMillionTokens: number) {
  return { inputPerMillionTokens: 0, outputPerMillionTokens };
}
