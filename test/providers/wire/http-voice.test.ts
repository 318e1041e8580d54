import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import type { Resampler } from '../../../src/transcoder/backend.js';
import { transcoder } from '../../../src/transcoder/select.js';
import { closedAfterTest } from '../../support/closed-after-test.js';
import { passUntil } from '../../support/pass-until.js';
import { soon } from '../../support/soon.js';
import { start } from '../tts/openai-speech/rig.js';

describe('the voice of a call over HTTP', () => {
  it('stops at once when it is aborted, closes the connection, and nothing comes later', async () => {
    const { emulator, clock, say, spoken } = await start({ chunkEveryMs: 10 });
    const abort = new AbortController();
    const reading = say('A long sentence that goes on and on.', abort.signal);
    await passUntil(clock, 10, () => {
      expect(reading.samples.length).toBeGreaterThan(0);
    });
    abort.abort();
    const { length } = reading.samples;
    await spoken(reading);
    expect([reading.samples.length, reading.error]).toEqual([length, undefined]);
    await soon(() => expect(emulator.exchanges[0]?.aborted).toBe(true));
  });

  it('closes the connection, too, where nobody reads on', async () => {
    const { emulator, clock, session } = await start({ chunkEveryMs: 10 });
    const reading = session
      .synthesize('A long sentence that goes on and on.', new AbortController().signal)
      [Symbol.asyncIterator]();
    let isHeard = false;
    void reading.next().then(() => {
      isHeard = true;
    });
    await passUntil(clock, 10, () => {
      expect(isHeard).toBe(true);
    });
    await reading.return?.();
    await soon(() => expect(emulator.exchanges[0]?.aborted).toBe(true));
  });

  it.each(['end', 'abort', 'cut'] as const)('frees what it converts with: %s', async (how) => {
    const create = vi.spyOn(transcoder, 'createResampler');
    const { emulator, clock, say, spoken } = await start({ chunkEveryMs: 10 });
    const abort = new AbortController();
    const reading = say('A long sentence that goes on and on.', abort.signal);
    await passUntil(clock, 10, () => {
      expect(reading.samples.length).toBeGreaterThan(8000);
    });
    if (how === 'abort') abort.abort();
    if (how === 'cut') emulator.cutRequests();
    await spoken(reading);
    expect(create.mock.results).toHaveLength(1);
    const { value } = create.mock.results[0] as { value: Resampler };
    expect(() => value.process(new Int16Array(1))).toThrow(/after free/);
  });

  it.each([429, 500, 503, 529])('tries again after %i', async (status) => {
    const { emulator, say, spoken, characters } = await start();
    emulator.refuseNext({ status });
    const reading = await spoken(say('Hi.'));
    expect([reading.error, reading.samples.length > 0, characters()]).toEqual([undefined, true, 3]);
  });

  it.each([400, 401, 404])('does not try again after %i', async (status) => {
    const { emulator, say, spoken } = await start();
    emulator.refuseNext({ status, body: '{"error":{"code":"x_y","message":"test-key"}}' });
    const { error } = await spoken(say('Hi.'));
    expect(error).toMatchObject({ code: 'PROVIDER_FAILED', status, retryable: false });
    expect(String(error)).not.toContain('test-key');
    expect(emulator.requests).toHaveLength(1);
  });

  it('gives a server up that is silent for ever, and tries an empty answer again', async () => {
    const { emulator, say, spoken, gaps } = await start();
    emulator.refuseNext({ status: 200, headers: { 'content-type': 'audio/pcm' } });
    expect((await spoken(say('Hi.'))).error).toBeUndefined();
    expect(gaps).toHaveLength(1);
    const hanging = await start({ firstAudioMs: 60_000 });
    const reading = await hanging.spoken(hanging.say('Hi.'));
    expect(reading.error).toMatchObject({ retryable: true, message: 'The voice did not go on in time.' });
    expect(hanging.clock.now()).toBeGreaterThanOrEqual(2500);
  });

  it('asks once more when the answer is late, and takes the one that comes', async () => {
    const { emulator, clock, say, spoken, gaps, characters } = await start();
    emulator.ignoreNext();
    const { samples, error } = await spoken(say('Hi.'));
    expect([samples.length, error]).toEqual([3 * 60 * 16, undefined]);
    expect(gaps).toEqual([expect.closeTo(2000, -3)]);
    expect(clock.now()).toBeLessThan(3000);
    expect([emulator.requests.length, characters()]).toEqual([1, 3]);
  });

  it('asks a server that is always slow twice for one sentence only, and pays for both', async () => {
    let asked = 0;
    const slow = createServer((request, response) => {
      asked += 1;
      request.resume();
      setup.clock.after(2300, () => response.end(Buffer.alloc(9600)));
    }).listen(0, '127.0.0.1');
    closedAfterTest(slow);
    await once(slow, 'listening');
    const { port } = slow.address() as AddressInfo;
    const setup = await start({}, { baseUrl: `http://127.0.0.1:${port}/v1` });
    for (const text of ['Hi.', 'Hello.', 'Bye.']) {
      const { samples, error } = await setup.spoken(setup.say(text));
      expect([samples.length > 0, error]).toEqual([true, undefined]);
    }
    expect([asked, setup.gaps.length]).toEqual([4, 0]);
    expect(setup.characters()).toBe(3 + 3 + 6 + 4);
  });

  it('says a sentence again of which less than a word was heard', async () => {
    const { emulator, clock, say, spoken } = await start({ firstAudioMs: 40, chunkEveryMs: 10 });
    const reading = say('A long sentence that goes on and on.');
    await passUntil(clock, 5, () => {
      expect(reading.samples.length).toBeGreaterThan(0);
    });
    expect(reading.samples.length).toBeLessThan(4000);
    emulator.cutRequests();
    expect((await spoken(reading)).error).toBeUndefined();
    expect(emulator.requests).toHaveLength(2);
  });

  it('does not say a sentence again of which a word was heard, and tells when it speaks again', async () => {
    const { emulator, clock, say, spoken, gaps } = await start({ firstAudioMs: 40, chunkEveryMs: 10 });
    const reading = say('A long sentence that goes on and on.');
    await passUntil(clock, 10, () => {
      expect(reading.samples.length).toBeGreaterThan(8000);
    });
    emulator.cutRequests();
    // The next one may be whole: the call goes on.
    expect((await spoken(reading)).error).toBeUndefined();
    expect(emulator.requests).toHaveLength(1);
    expect(gaps).toEqual([]);
    clock.advance(60_000);
    await spoken(say('Another one.'));
    expect(gaps).toEqual([expect.any(Number)]);
    // Without the time in which nobody asked.
    expect(gaps[0]).toBeGreaterThanOrEqual(40);
    expect(gaps[0]).toBeLessThan(5000);
    await spoken(say('And one more.'));
    expect(gaps).toHaveLength(1);
  });
});
