// A realtime model that has the line's own format: what it says reaches the carrier as it is.
import { describe, expect, it } from 'vitest';
import { createOutboundConverter } from '../../../src/audio/converter.js';
import { ALAW_8K, type AudioFormat, MULAW_8K, PCM_24K } from '../../../src/audio/format.js';
import { loadTranscoder } from '../../../src/transcoder/select.js';
import { CarrierPlayer } from '../../support/carrier-player.js';
import { FakeRealtimeModel, RealtimeRig } from '../realtime-rig.js';

const backend = loadTranscoder('javascript');
const SILENT_BYTE = 0xff;
const BYTES_PER_MS = 8;

/** Bytes that are nowhere silent. */
function bytes(length: number, from = 0): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (from + index) % 251);
}

function startRig(line: AudioFormat = MULAW_8K, offered: readonly AudioFormat[] = [PCM_24K, line]) {
  const rig = new RealtimeRig({
    model: new FakeRealtimeModel(offered),
    line: { inbound: line, outbound: line },
  }).start();
  const { events } = rig.model;
  return {
    rig,
    say(responseId: string, audio: Uint8Array, pieceBytes: number) {
      const itemId = `item-${responseId}`;
      events.text({ responseId, itemId, delta: `The words of ${responseId}.` });
      for (let at = 0; at < audio.length; at += pieceBytes)
        events.audio({ responseId, itemId, audio: audio.subarray(at, at + pieceBytes) });
    },
    /** Changes the stream under the call. */
    goOver(format: AudioFormat): CarrierPlayer {
      const player = new CarrierPlayer({
        clock: rig.clock,
        bytesPerMs: format === PCM_24K ? 48 : BYTES_PER_MS,
      });
      rig.pacer.attach({ converter: createOutboundConverter(format, backend), sink: player });
      return player;
    },
  };
}

const end = (responseId: string) => ({ responseId, reason: 'complete', toolCalls: [] }) as const;

describe('an answer in the format of the line', () => {
  it.each([
    ['mu-law', MULAW_8K],
    ['A-law', ALAW_8K],
  ])('reaches the carrier byte for byte: %s', async (_, format) => {
    const { rig, say } = startRig(format);
    const audio = bytes(1600 * BYTES_PER_MS);
    rig.model.events.responseStarted('r1');
    say('r1', audio, 777);
    rig.model.events.responseEnded(end('r1'));
    await rig.wait(2000);
    expect(Buffer.concat(rig.player.sent.map((frame) => frame.bytes))).toEqual(Buffer.from(audio));
    expect(rig.turns).toMatchObject([{ agentText: 'The words of r1.', interrupted: false }]);
  });

  it('joins its items, has its marks on the way, and is filled up at its end', async () => {
    const { rig, say } = startRig();
    rig.model.events.responseStarted('r1');
    say('r1', bytes(1000 * BYTES_PER_MS + 3), 500);
    say('r2', bytes(50), 7);
    rig.model.events.responseEnded(end('r1'));
    await rig.wait(2000);
    const heard = rig.player.heard();
    const said = Buffer.concat([bytes(1000 * BYTES_PER_MS + 3), bytes(50)]);
    expect(heard.subarray(0, said.length)).toEqual(said);
    expect(heard.subarray(said.length)).toEqual(Buffer.alloc(160 - 53, SILENT_BYTE));
    expect(rig.player.marksSent).toEqual(['answer-1-first', 'answer-1-1', 'answer-1-2']);
    expect(rig.turns).toMatchObject([{ agentText: 'The words of r1. The words of r2.' }]);
  });

  it('has no silence in its middle where the model is no faster than speech', async () => {
    const { rig, say } = startRig();
    const audio = bytes(3000 * BYTES_PER_MS);
    rig.model.events.responseStarted('r1');
    for (let at = 0; at < audio.length; at += 333) {
      say('r1', audio.subarray(at, at + 333), 333);
      await rig.wait(41);
    }
    rig.model.events.responseEnded(end('r1'));
    await rig.wait(1000);
    expect(Buffer.concat(rig.player.sent.map((frame) => frame.bytes))).toEqual(Buffer.from(audio));
    expect(rig.player.marksSent).toEqual(['answer-1-first', 'answer-1-1', 'answer-1-2', 'answer-1-3']);
  });

  it('is cut where the caller has heard it', async () => {
    const { rig, say } = startRig();
    rig.model.events.responseStarted('r1');
    say('r1', bytes(3000 * BYTES_PER_MS), 4000);
    await rig.wait(1000);
    rig.model.events.interrupted();
    expect(rig.model.asked).toEqual(['truncate item-r1 990']);
    expect(rig.player.clears).toBe(1);
    await rig.wait(1000);
    expect(rig.player.heard()).toEqual(Buffer.from(bytes(1000 * BYTES_PER_MS)));
  });
});

describe('a line that changes its format in the middle of a call', () => {
  it('gets what it carries, and the bytes again when it is back', async () => {
    const { rig, say, goOver } = startRig();
    rig.model.events.responseStarted('r1');
    say('r1', bytes(200 * BYTES_PER_MS), 400);
    await rig.wait(400);
    const alaw = goOver(ALAW_8K);
    say('r1', backend.mulawEncode(new Int16Array(200 * BYTES_PER_MS).fill(8000)), 400);
    await rig.wait(400);
    expect(alaw.sent.map((frame) => frame.bytes.length)).toEqual(new Array(10).fill(160));
    // Past the beginning of the filter.
    const decoded = backend.alawDecode(alaw.heard().subarray(400, 1200));
    for (const sample of decoded) expect(Math.abs(sample - 8000)).toBeLessThan(400);
    const mulaw = goOver(MULAW_8K);
    say('r1', bytes(200 * BYTES_PER_MS, 9), 400);
    await rig.wait(400);
    expect(mulaw.heard()).toEqual(Buffer.from(bytes(200 * BYTES_PER_MS, 9)));
  });

  it('begins anew with an item that it has to convert for a second time', async () => {
    const { rig, say, goOver } = startRig();
    rig.model.events.responseStarted('r1');
    const loud = backend.mulawEncode(new Int16Array(200 * BYTES_PER_MS).fill(20_000));
    goOver(ALAW_8K);
    say('r1', loud, 400);
    goOver(MULAW_8K);
    say('r1', loud, 400);
    const again = goOver(ALAW_8K);
    say('r1', new Uint8Array(200 * BYTES_PER_MS).fill(SILENT_BYTE), 400);
    await rig.wait(400);
    // No sample of what was said before is left in a filter.
    expect(new Set(backend.alawDecode(again.heard()).map((sample) => Math.abs(sample)))).toEqual(
      new Set([8]),
    );
  });
});

describe('a model without the format of the line', () => {
  it('is converted', async () => {
    const { rig, say } = startRig(MULAW_8K, [PCM_24K]);
    rig.model.events.responseStarted('r1');
    const pcm = new Int16Array(200 * 24).fill(8000);
    say('r1', new Uint8Array(pcm.buffer), 4001);
    await rig.wait(400);
    expect(rig.player.sent.map((frame) => frame.bytes.length)).toEqual(new Array(10).fill(160));
    for (const sample of backend.mulawDecode(rig.player.heard().subarray(400, 1200)))
      expect(Math.abs(sample - 8000)).toBeLessThan(400);
  });
});

describe('formats that the model changes', () => {
  it('are those of what follows, in both directions', async () => {
    const { rig, say } = startRig();
    const { events } = rig.model;
    events.responseStarted('r1');
    say('r1', bytes(400 * BYTES_PER_MS), 500);
    events.formatsChanged?.({ input: PCM_24K, output: PCM_24K });
    const loud = new Uint8Array(new Int16Array(24 * 400).fill(8000).buffer);
    say('r1', loud, 501);
    events.responseEnded(end('r1'));
    await rig.wait(2000);
    const heard = rig.player.heard();
    expect(heard.subarray(0, 400 * BYTES_PER_MS)).toEqual(Buffer.from(bytes(400 * BYTES_PER_MS)));
    // Not three times as long, and not noise: one level from the first to the last but for the filters' edges.
    expect(heard.length).toBeLessThanOrEqual(820 * BYTES_PER_MS);
    expect(new Set(heard.subarray(450 * BYTES_PER_MS, 790 * BYTES_PER_MS)).size).toBe(1);
    rig.model.audioBytes = 0;
    for (let frame = 0; frame < 50; frame += 1) {
      rig.engine.pushEncoded?.(bytes(160), MULAW_8K);
      rig.engine.pushAudio(new Int16Array(320));
    }
    expect(rig.model.audioBytes).toBeGreaterThan(47_000);
    expect(rig.model.audioBytes).toBeLessThanOrEqual(48_000);
  });
});
