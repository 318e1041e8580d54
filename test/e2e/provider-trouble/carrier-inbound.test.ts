// Calls that a carrier brings in, each to a server of its own, whose agent's vendor is gone for good from some phase on; beside some of
// them the same server has a call with other vendors.
import { describe } from 'vitest';
import { openToneVoice } from '../../../src/testing/index.js';
import { PHASES, type Phase } from '../../support/call-moments.js';
import { startCarrierPhone } from '../../support/carrier-phone.js';
import { eachPlayed } from '../../support/played-together.js';
import { rotated } from '../../support/rotated.js';
import { checkCell, nameOf } from '../../support/troubled-call-checks.js';
import {
  CARRIER_ASPECTS,
  type CarrierCell,
  cells,
  GONE,
  overBothCarriers,
  REALTIME_PARTS,
  wantedCellEnd,
} from '../../support/troubled-call-groups.js';
import { openVendors } from '../../support/troubled-call-vendors.js';
import {
  ActiveCalls,
  createCues,
  numberOf,
  type PlayedCell,
  personOf,
  playCell,
  playInbound,
  wordOf,
} from '../../support/troubled-calls.js';

/** The phase whose calls have another one beside them. */
const WITH_NEIGHBOUR: Phase = 'thinking';
const PARTS = ['stt', 'http-stt', 'llm', 'tts', ...REALTIME_PARTS];

describe('a vendor is gone for good, of a call that comes in', () => {
  eachPlayed(
    rotated(overBothCarriers(cells(PARTS, [GONE], PHASES)), CARRIER_ASPECTS),
    ({ id, cell }) => `${id}: ${nameOf(cell)}`,
    (calls) => Promise.all(calls.map(play)),
    (played) => {
      for (const each of played) checkCell(each, wantedCellEnd(each.cell));
    },
  );
});

/** Plays what one server has to do, and closes it. */
async function play({ id, cell }: CarrierCell): Promise<PlayedCell[]> {
  const inbound = { index: 0, cell, cues: createCues() };
  const beside = { index: 1, cell: { ...cell, trouble: undefined }, cues: createCues() };
  const outbound = cell.phase === WITH_NEIGHBOUR ? [beside] : [];
  const callees = Object.fromEntries(outbound.map((each) => [numberOf(each.index), personOf(each)]));
  await using vendors = await openVendors(cell, wordOf(inbound.index));
  await using phone = await startCarrierPhone(id, vendors.agent, {
    simulator: { openVoice: openToneVoice, callees },
  });
  const active = new ActiveCalls(phone);
  const playing = [
    playInbound(phone, active, { ...inbound, vendors }),
    ...outbound.map((options) => playCell(phone, active, options)),
  ];
  await Promise.allSettled(playing);
  return await Promise.all(playing);
}
