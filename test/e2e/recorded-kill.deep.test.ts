// A recording outlives its process: the server is killed in the middle of a call, or right behind it. Whole calls, real processes.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import type { CallEvent } from '../../src/contract/call-event.js';
import { type CallRecord, SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import { openToneVoice, readWav } from '../../src/testing/index.js';
import { type HeardWord, readTones } from '../../src/testing/tone-reader.js';
import { eventually } from '../support/carrier-phone.js';
import { KilledPhone } from '../support/killed-phone.js';

const TOKEN = 'a-token-of-sixteen-characters';
const KEY = Buffer.alloc(32, 9).toString('base64');
/** A caller who says one word after the other, each once. */
const WORDS = Array.from({ length: 26 }, (_, index) => `word${String.fromCharCode(97 + index)}`);
/** Frames arrive as the machine lets them. */
const NEAR_MS = 100;

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'offhook-killed-recording-'));
  onTestFinished(() => rm(made, { recursive: true, force: true, maxRetries: 20 }));
  return made;
}

const turnOver = (index: number) => (fact: CallEvent) =>
  fact.type === 'turn.completed' && fact.turn.index === index;

function callerOf(bytes: Uint8Array): HeardWord[] {
  const { channels, sampleRateHz } = readWav(bytes);
  return readTones(channels[0] ?? new Int16Array(0), { sampleRateHz });
}

/** The record once its recording is settled, in whichever process. */
function settled(phone: KilledPhone, callId: string): Promise<CallRecord> {
  return eventually(
    `the recording of call ${callId}`,
    async () => {
      const record = await phone.get<CallRecord>(`/calls/${callId}`);
      const { status = 'recording' } = record?.localRecording ?? {};
      const isSettled = status === 'completed' || status === 'failed';
      return record?.status === 'completed' && isSettled ? record : undefined;
    },
    40_000,
  );
}

async function play(phone: KilledPhone, callId: string): Promise<HeardWord[]> {
  const response = await phone.ask(`/calls/${callId}/audio`);
  expect(response.status).toBe(200);
  return callerOf(new Uint8Array(await response.arrayBuffer()));
}

/** Which words of `theirs` are in `ours`, each where it was. */
function found(ours: readonly HeardWord[], theirs: readonly HeardWord[]): string[] {
  const isThere = ({ text, startMs }: HeardWord) =>
    ours.some((word) => word.text === text && Math.abs(word.startMs - startMs) <= NEAR_MS);
  return theirs.filter(isThere).map(({ text }) => text);
}

describe.each(SIMULATED_CARRIERS)('a recorded call on %s', { timeout: 240_000 }, (id) => {
  it.each([undefined, KEY])('goes on in one recording when its server is killed (key: %#)', async (key) => {
    await using phone = await KilledPhone.start(id, {
      serve: { dashboardToken: TOKEN, localRecording: key === undefined ? true : { key } },
      simulator: { openVoice: openToneVoice },
    });
    const recordTo = join(await folder(), 'carrier.wav');
    const isBack = new AbortController();
    const calling = phone.simulator.call({
      recordTo,
      maxDurationMs: 120_000,
      script: [
        { type: 'wait-for-agent' },
        { type: 'say', text: WORDS.slice(0, 10).join(' ') },
        { type: 'wait-until', signal: isBack.signal, timeoutMs: 50_000 },
        { type: 'say', text: WORDS.slice(10, 20).join(' ') },
        { type: 'wait-for-agent' },
        { type: 'hang-up' },
      ],
    });
    await phone.fact(turnOver(1));
    await phone.replace();
    await phone.fact((fact) => fact.type === 'turn.completed' && fact.term === 2);
    isBack.abort();
    const report = await calling;
    const record = await settled(phone, phone.started[0] ?? '');
    expect(report.answer.outcome).toBe('answered');
    expect(record).toMatchObject({ term: 2, localRecording: { status: 'completed', trouble: null } });
    const theirs = callerOf(await readFile(recordTo));
    expect(theirs.map(({ text }) => text)).toEqual(WORDS.slice(0, 20));
    expect(found(await play(phone, record.callId), theirs)).toEqual(WORDS.slice(0, 20));
    expect(await readdir(join(phone.dataDir, 'recordings', 'tapes'))).toEqual([]);
    expect(await readdir(join(phone.dataDir, 'recordings'))).toHaveLength(2);
  });

  it('has all but its last second when nobody goes on with it', async () => {
    await using phone = await KilledPhone.start(id, {
      serve: { dashboardToken: TOKEN, localRecording: true },
      simulator: { openVoice: openToneVoice },
    });
    const recordTo = join(await folder(), 'carrier.wav');
    const calling = phone.simulator.call({
      recordTo,
      maxDurationMs: 60_000,
      script: [{ type: 'wait-for-agent' }, { type: 'say', text: WORDS.join(' ') }, { type: 'hang-up' }],
    });
    await phone.fact(turnOver(0));
    // In the middle of what the caller says: 26 words take nine seconds.
    await pause(systemClock, 5000);
    const [begun] = phone.told.flatMap(({ fact }) =>
      fact?.type === 'local-recording.updated' ? [fact.recording.startedAt] : [],
    );
    const killedMs = Date.now() - (begun ?? Number.NaN);
    await phone.kill();
    await calling;
    await phone.simulator.settled();
    await phone.begin();
    const record = await settled(phone, phone.started[0] ?? '');
    expect(record).toMatchObject({ endReason: 'process-lost', localRecording: { status: 'completed' } });
    expect(record.localRecording?.durationMs).toBeGreaterThan(killedMs - 1000 - NEAR_MS);
    const theirs = callerOf(await readFile(recordTo)).filter(({ endMs }) => endMs < killedMs - 1000);
    expect(theirs.length).toBeGreaterThan(3);
    expect(found(await play(phone, record.callId), theirs)).toEqual(theirs.map(({ text }) => text));
  });

  it('is finished by the next process when this one is killed right behind the call', async () => {
    await using phone = await KilledPhone.start(id, {
      serve: { dashboardToken: TOKEN, localRecording: true },
      simulator: { openVoice: openToneVoice },
    });
    const calling = phone.simulator.call({
      maxDurationMs: 60_000,
      script: [
        { type: 'wait-for-agent' },
        { type: 'say', text: 'worda wordb' },
        // Of its last second nothing is promised.
        { type: 'pause', durationMs: 1500 },
        { type: 'hang-up' },
      ],
    });
    await phone.fact((fact) => fact.type === 'call.ended');
    await phone.kill();
    await calling;
    await phone.begin();
    const record = await settled(phone, phone.started[0] ?? '');
    expect(record.localRecording).toMatchObject({ status: 'completed', trouble: null });
    expect((await play(phone, record.callId)).map(({ text }) => text)).toEqual(['worda', 'wordb']);
    expect(await readdir(join(phone.dataDir, 'recordings', 'tapes'))).toEqual([]);
  });
});
