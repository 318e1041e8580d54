import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallRecord } from '../../src/contract/call-record.js';
import { makeSpeechTones } from '../../src/testing/tones.js';
import { ring } from '../support/hand-dialed-call.js';
import { ClientBench, TONE_MS, toneVoice, until } from '../support/client-bench.js';

let bench: ClientBench;

beforeEach(async () => {
  bench = await ClientBench.open();
});
afterEach(() => bench[Symbol.asyncDispose]());

describe('a call', () => {
  it('goes from bell to goodbye, and two at once stay apart', async () => {
    const ended = new Map<string, CallRecord>();
    const started: string[] = [];
    const said: string[] = [];
    await bench.serve(
      {
        onMessage: ({ text, caller }) => `You said ${text}. Your pitch is ${caller.slice(-3)}0`,
        onCallStart: ({ caller }) => void started.push(caller),
        onTranscript: ({ role, text, caller }) => void said.push(`${caller} ${role}: ${text}`),
        onCallEnd: (record) => void ended.set(record.caller, record),
      },
      { tts: toneVoice, systemPrompt: 'Be brief.' },
    );
    const callers = ['+15550040', '+15550090'];
    const calls = await Promise.all(callers.map((caller) => bench.dial(caller)));
    await Promise.all(
      calls.map(async (call, index) => {
        call.tell(`words ${index}`);
        await call.speak(makeSpeechTones(1000));
        const answer = until(async () => loudSamples(call.heard).length >= 8 * (TONE_MS - 100));
        await Promise.race([answer, call.speak(new Int16Array(8000 * 8))]);
        await answer;
        // What was sent ahead takes this long to be heard.
        await call.speak(new Int16Array(8 * 400));
        call.hangUp();
        await call.closed;
      }),
    );
    await until(async () => ended.size === 2);

    expect([...started].sort()).toEqual(callers);
    for (const [index, caller] of callers.entries()) {
      const pitch = Number(caller.slice(-3)) * 10;
      expect(Math.abs(pitchOf(loudSamples(calls[index]?.heard ?? new Int16Array())) - pitch)).toBeLessThan(
        20,
      );
      const record = ended.get(caller);
      expect(record).toMatchObject({
        status: 'completed',
        endReason: 'caller-hangup',
        outcome: 'answered',
        carrierCallId: calls[index]?.callSid,
        callee: '+15005550010',
        media: { unexpectedMessages: 0 },
      });
      const transcript = record?.transcript.map(({ role, text }) => `${caller} ${role}: ${text}`) ?? [];
      expect(transcript[0]).toBe(`${caller} user: words ${index}`);
      expect(transcript[1]).toContain(`agent: You said words ${index}`);
      expect(said).toEqual(expect.arrayContaining(transcript.slice(0, 1)));
    }
    expect(bench.logger.text).not.toMatch(/\+155500|words \d/);
  });

  it('whatever one stream sends, the other goes on', async () => {
    await bench.serve();
    const [broken, whole] = [await bench.dial('+15550111'), await bench.dial('+15550112')];
    await until(async () => (await bench.active()).length === 2);
    const noise = ['', '{', 'null', '[]', '{"event":"media"}', '{"event":"media","media":{"payload":"%%%"}}'];
    for (const text of noise) broken.sendRaw(text);
    broken.sendRaw(new Uint8Array(100));
    for (let count = 0; count < 1000; count += 1) broken.sendRaw(`{"event":"${'x'.repeat(100)}"}`);
    expect((await broken.closed).code).toBe(1008);
    whole.sendAudio(new Uint8Array(160).fill(0xff));
    await until(async () => {
      const [call] = await bench.active();
      return call?.caller === '+15550112' && (await bench.finished()).length === 1;
    });
    expect(await bench.finished()).toMatchObject([{ caller: '+15550111', endReason: 'protocol-error' }]);
    whole.hangUp();
    await whole.closed;
  });

  it('over the limit gets the busy answer and a record, and the one that is up does not notice', async () => {
    await bench.serve({ maxCalls: 1 });
    const call = await bench.dial('+15550111');
    await until(async () => (await bench.active()).length === 1);
    const refused = await ring(bench.dialOptions('+15550112'), `CA${'1'.repeat(32)}`);
    expect(await refused.text()).toContain('busy');
    await until(async () => (await bench.finished()).length === 1);
    expect(await bench.finished()).toMatchObject([
      { caller: '+15550112', outcome: 'busy', endReason: 'over-capacity' },
    ]);
    expect(await bench.active()).toHaveLength(1);
    call.hangUp();
    await call.closed;
  });
});

/** What of 8 kHz PCM is no silence. */
function loudSamples(pcm: Int16Array): Int16Array {
  const first = pcm.findIndex((sample) => Math.abs(sample) > 1000);
  const last = pcm.findLastIndex((sample) => Math.abs(sample) > 1000);
  return first === -1 ? new Int16Array() : pcm.subarray(first, last + 1);
}

/** Hertz of a tone, by the rising zero crossings of 400 ms of it. */
function pitchOf(pcm: Int16Array): number {
  const part = pcm.subarray(0, 3200);
  let rises = 0;
  for (let index = 1; index < part.length; index += 1) {
    if ((part[index - 1] ?? 0) < 0 && (part[index] ?? 0) >= 0) rises += 1;
  }
  return rises / (part.length / 8000);
}
