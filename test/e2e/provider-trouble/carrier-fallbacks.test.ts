// Whole calls with a second vendor for each stage, in which the first one of one stage is gone for good from some phase on: the call goes
// on to its goodbye, its record names who has served it last, and both are paid.
import { describe, expect } from 'vitest';
import type { CallRecord } from '../../../src/contract/call-record.js';
import type { ServeOptions } from '../../../src/index.js';
import { openToneVoice } from '../../../src/testing/index.js';
import { PHASES, type Phase } from '../../support/call-moments.js';
import { startCarrierPhone } from '../../support/carrier-phone.js';
import { eachPlayed } from '../../support/played-together.js';
import { rotated } from '../../support/rotated.js';
import { checkGoodbye, checkLine, nameOf } from '../../support/troubled-call-checks.js';
import {
  CARRIER_ASPECTS,
  type CarrierCell,
  cells,
  GONE,
  overBothCarriers,
} from '../../support/troubled-call-groups.js';
import type { PipelineStage } from '../../support/troubled-call-stages.js';
import {
  ActiveCalls,
  createCues,
  numberOf,
  type PlayedCell,
  personOf,
  playCell,
} from '../../support/troubled-calls.js';

const STAGES = ['stt', 'llm', 'tts'] as const;

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
const AT_WORK: Readonly<Record<PipelineStage, readonly Phase[]>> = {
  stt: ['listening', 'thinking', 'speaking', 'goodbye'],
  llm: ['speaking', 'goodbye'],
  tts: ['greeting', 'listening', 'thinking', 'speaking', 'goodbye'],
};

describe('the next vendor takes the place of one that is gone for good', () => {
  eachPlayed(
    rotated(overBothCarriers(cells(STAGES, [GONE], PHASES)), CARRIER_ASPECTS),
    ({ id, cell }) => `${id}: ${nameOf(cell)}`,
    (calls) => Promise.all(calls.map(play)),
    (played) => check(played, played.cell.part as PipelineStage),
  );
});

/** On a server for one call: what is known of a vendor is shared by all calls of a server. */
async function play({ id, cell }: CarrierCell): Promise<PlayedCell> {
  const options = { index: 0, cell: { ...cell, fallbacks: STAGES }, cues: createCues() };
  const callees = { [numberOf(options.index)]: personOf(options) };
  await using phone = await startCarrierPhone(
    id,
    {},
    { serve: { pricing: PRICING }, simulator: { openVoice: openToneVoice, callees } },
  );
  return await playCell(phone, new ActiveCalls(phone), options);
}

function check(played: PlayedCell, stage: PipelineStage): void {
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
function paidFor({ cost, usage }: CallRecord, stage: PipelineStage): { first: number; second: number } {
  const { sttSeconds = 0, llmOutputTokens = 0, ttsCharacters = 0 } = usage ?? {};
  const all = { stt: sttSeconds, llm: llmOutputTokens, tts: ttsCharacters }[stage];
  const second = ((cost[stage] ?? 0) / UNIT_PRICE - all) / (TIMES - 1);
  return { first: all - second, second };
}

function tokens(outputPerMillionTokens: number) {
  return { inputPerMillionTokens: 0, outputPerMillionTokens };
}
