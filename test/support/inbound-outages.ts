// Calls that a carrier brings in, each to a server of its own, whose agent's vendor is gone for good from some phase on; beside some of
// them the same server has a call with other vendors.
import { describe, it } from 'vitest';
import type { CarrierId } from '../../src/index.js';
import { type Callee, openToneVoice } from '../../src/testing/index.js';
import { type CarrierPhone, startCarrierPhone } from './carrier-phone.js';
import { checkCell } from './troubled-call-checks.js';
import { cells, ended, GONE, goesOn, REAL_TIME, REALTIME_PARTS } from './troubled-call-groups.js';
import { openVendors } from './troubled-call-vendors.js';
import {
  ActiveCalls,
  createCues,
  numberOf,
  type PlayedCell,
  type InboundOptions,
  type PlayedOptions,
  personOf,
  playCell,
  playInbound,
  wordOf,
} from './troubled-calls.js';
import { PHASES, type Phase } from './vendor-call.js';

/** The phase whose calls have another one beside them. */
const WITH_NEIGHBOUR: Phase = 'thinking';

export function describeInboundOutages(id: CarrierId): void {
  describe(`${id}: a vendor is gone for good, of calls that come in`, REAL_TIME, () => {
    it.each([
      ['pipeline', ['stt', 'http-stt', 'llm', 'tts']],
      ['realtime', REALTIME_PARTS],
    ])('%s', async (_, parts) => {
      const playing: Promise<PlayedCell[]>[] = [];
      const group = cells(parts, [GONE], PHASES);
      for (const [index, cell] of group.entries()) {
        const vendors = await openVendors(cell, wordOf(index));
        const inbound = { index, cell, cues: createCues(), vendors };
        const beside = {
          index: index + group.length,
          cell: { ...cell, trouble: undefined },
          cues: createCues(),
        };
        const outbound = cell.phase === WITH_NEIGHBOUR ? [beside] : [];
        const callees = Object.fromEntries(
          outbound.map((each): [string, Callee] => [numberOf(each.index), personOf(each)]),
        );
        // One after the other: each looks for a free port.
        const phone = await startCarrierPhone(id, vendors.agent, {
          simulator: { openVoice: openToneVoice, callees },
        });
        playing.push(playOn(phone, { inbound, outbound }));
      }
      for (const played of (await Promise.all(playing)).flat())
        checkCell(played, played.cell.trouble === undefined ? goesOn(played.cell) : ended(played.cell));
    });
  });
}

/** Plays the calls of one server, and closes it. */
async function playOn(
  phone: CarrierPhone,
  { inbound, outbound }: { inbound: InboundOptions; outbound: readonly PlayedOptions[] },
): Promise<PlayedCell[]> {
  await using vendors = inbound.vendors;
  await using running = phone;
  const active = new ActiveCalls(running);
  const playing = [
    playInbound(running, active, { ...inbound, vendors }),
    ...outbound.map((options) => playCell(running, active, options)),
  ];
  await Promise.allSettled(playing);
  return await Promise.all(playing);
}
