import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/log.js';
import type { Turn } from '../../src/contract/call-record.js';
import { FliteTextToSpeech, type FliteVoice } from '../../src/providers/tts/index.js';
import { transcoder } from '../../src/transcoder/select.js';
import { makeSpeechTones } from '../../src/testing/index.js';
import { startPhone, type RunningPhone } from '../support/running-phone.js';
import { contains, rms } from '../support/similarity.js';

const GREETING = 'Hello, this is the bakery.';

/** What a sentence sounds like on the telephone: 8 kHz, through mu-law. */
async function spoken(text: string, voice: FliteVoice): Promise<Int16Array> {
  const session = new FliteTextToSpeech({ voice }).open({ logger: silentLogger, language: undefined });
  const resampler = transcoder.createResampler(16000, 8000);
  const parts: Int16Array[] = [];
  for await (const chunk of session.synthesize(text, new AbortController().signal)) {
    parts.push(resampler.process(chunk.slice()).slice());
  }
  session.close();
  resampler.free();
  const whole = Int16Array.from(parts.flatMap((part) => [...part]));
  return transcoder.mulawDecode(transcoder.mulawEncode(whole)).slice();
}

function stageSum({ latency }: Turn): number {
  const { endpointingMs, sttMs, llmFirstTokenMs, sentenceMs, ttsFirstByteMs, sendMs } = latency;
  return [endpointingMs, sttMs, llmFirstTokenMs, sentenceMs, ttsFirstByteMs, sendMs].reduce<number>(
    (sum, stage) => sum + (stage ?? Number.NaN),
    0,
  );
}

// Calls in real time.
const REAL_TIME = { timeout: 60_000 };

describe('a conversation on the local stack', REAL_TIME, () => {
  let running: RunningPhone;

  beforeAll(async () => {
    running = await startPhone(
      { systemPrompt: 'You answer for a bakery.', firstMessage: GREETING },
      { onMessage: ({ text }) => `You said ${text.replace(/[.?!]$/, '')}, thank you.` },
    );
  });
  afterAll(() => running[Symbol.asyncDispose]());

  it('goes from bell to goodbye: heard, answered, recorded', async () => {
    const { report, record, callerAudio, agentAudio } = await running.call([
      { type: 'wait-for-agent' },
      { type: 'say', text: 'Three loaves of bread.', voice: 'rms' },
      { type: 'wait-for-agent' },
      { type: 'hang-up' },
    ]);

    expect(report).toMatchObject({ ok: true, clicks: [], clears: [], protocolErrors: [] });
    expect(report.answer.outcome).toBe('answered');
    expect(report.turns).toHaveLength(1);
    expect(contains(agentAudio, await spoken(GREETING, 'slt'), 8000)).toBeGreaterThan(0.9);
    expect(
      contains(agentAudio, await spoken('You said Three loaves of bread, thank you.', 'slt'), 8000),
    ).toBeGreaterThan(0.9);
    expect(contains(callerAudio, await spoken('Three loaves of bread.', 'rms'), 8000)).toBeGreaterThan(0.9);
    expect(contains(callerAudio, await spoken(GREETING, 'slt'), 8000)).toBeLessThan(0.8);

    expect(record).toMatchObject({
      status: 'completed',
      endReason: 'caller-hangup',
      outcome: 'answered',
      direction: 'inbound',
      caller: '+15005550020',
      callee: '+15005550010',
      carrierCallId: report.carrierCallId,
      mode: 'pipeline',
      turnCount: 2,
      error: null,
    });
    expect(record.media?.unexpectedMessages).toBe(0);
    expect(record.transcript.map(({ role, text, final }) => ({ role, text, final }))).toEqual([
      { role: 'agent', text: GREETING, final: true },
      { role: 'user', text: 'Three loaves of bread.', final: true },
      { role: 'agent', text: 'You said Three loaves of bread, thank you.', final: true },
    ]);
    const [greeting, answer] = record.turns;
    expect(greeting?.latency.totalMs).toBeNull();
    expect(answer?.latency.totalMs).toBeGreaterThan(0);
    expect(Math.abs(stageSum(answer as Turn) - (answer?.latency.totalMs ?? 0))).toBeLessThanOrEqual(20);
    expect(answer?.latency.heardMs).toBeGreaterThanOrEqual(answer?.latency.totalMs ?? 0);
  });

  it('answers a recording of which nobody knows the words', async () => {
    const samples = makeSpeechTones(1200);
    const { report, record } = await running.call([
      { type: 'wait-for-agent' },
      { type: 'play', samples, sampleRateHz: 8000 },
      { type: 'wait-for-agent' },
      { type: 'hang-up' },
    ]);
    expect(report).toMatchObject({ ok: true, clicks: [], protocolErrors: [] });
    expect(report.turns).toHaveLength(1);
    expect(report.turns[0]?.responseMs).toBeGreaterThan(0);
    expect(record.turns[1]?.userText).toBe('[speech]');
  });

  it('keeps two calls at once apart', async () => {
    const [anna, bert] = await Promise.all([
      running.call(
        [
          { type: 'wait-for-agent' },
          { type: 'say', text: 'Nine chocolate cakes.', voice: 'awb' },
          { type: 'wait-for-agent' },
        ],
        { from: '+15005550031' },
      ),
      running.call(
        [
          { type: 'wait-for-agent' },
          { type: 'say', text: 'Where can I park my bicycle?', voice: 'rms' },
          { type: 'wait-for-agent' },
        ],
        { from: '+15005550032' },
      ),
    ]);
    const [forAnna, forBert] = await Promise.all([
      spoken('You said Nine chocolate cakes, thank you.', 'slt'),
      spoken('You said Where can I park my bicycle, thank you.', 'slt'),
    ]);
    expect(contains(anna.agentAudio, forAnna, 8000)).toBeGreaterThan(0.9);
    expect(contains(bert.agentAudio, forBert, 8000)).toBeGreaterThan(0.9);
    expect(contains(anna.agentAudio, forBert, 8000)).toBeLessThan(0.8);
    expect(contains(bert.agentAudio, forAnna, 8000)).toBeLessThan(0.8);
    for (const { report, record } of [anna, bert]) {
      expect(report).toMatchObject({ ok: true, clicks: [], protocolErrors: [] });
      expect(record.carrierCallId).toBe(report.carrierCallId);
    }
    expect(anna.record.caller).toBe('+15005550031');
    expect(bert.record.caller).toBe('+15005550032');
    expect(anna.record.turns[1]?.userText).toBe('Nine chocolate cakes.');
    expect(bert.record.turns[1]?.userText).toBe('Where can I park my bicycle?');
    expect(rms(anna.callerAudio)).toBeGreaterThan(100);
  });
});

describe('an agent that is interrupted', REAL_TIME, () => {
  it('falls silent at once, and the record holds what was heard', async () => {
    const long =
      'We have bread, rolls, cakes and tarts. Then there are cookies of seven kinds. ' +
      'Our coffee comes from a small roastery around the corner. And we are open every day of the week.';
    await using running = await startPhone({ systemPrompt: 'You answer for a bakery.', firstMessage: long });
    const { report, record } = await running.call([
      { type: 'interrupt', afterMs: 4500 },
      { type: 'say', text: 'Stop please, I only have a question.', voice: 'rms' },
      { type: 'wait-for-agent' },
      { type: 'hang-up' },
    ]);
    expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    expect(report.clears.length).toBeGreaterThanOrEqual(1);
    expect(report.clears[0]?.droppedMs).toBeGreaterThan(0);
    const [turn] = record.turns;
    expect(turn?.interrupted).toBe(true);
    expect(turn?.agentText).not.toBe('');
    expect(turn?.agentText.startsWith('We have bread')).toBe(true);
    expect(turn?.agentTextUnheard).toContain('every day of the week');
    expect(`${turn?.agentText} ${turn?.agentTextUnheard}`).toBe(long);
    expect(record.media?.clears).toBe(report.clears.length);
    const entry = record.transcript.find((other) => other.role === 'agent');
    expect(entry).toMatchObject({ text: turn?.agentText, interrupted: true, final: true });
    expect(record.turns[1]?.userText).toContain('Stop please');
  });
});
