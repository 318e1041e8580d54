// A voice over its vendor's emulator on a clock that stands still, and what is true of every such voice.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ConfigError } from '../../../src/base/errors.js';
import { silentLogger } from '../../../src/base/log.js';
import type { TextToSpeech, TextToSpeechSession } from '../../../src/providers/text-to-speech.js';
import type { Emulator, EmulatorOptions, WireTroubles } from '../../../src/testing/index.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';
import { collect, listen, never, settle, spoken } from './listener.js';
import { passUntil } from '../../support/pass-until.js';
import { soon } from '../../support/soon.js';
import { closedAfterTest } from '../../support/closed-after-test.js';
import { itRefuses, type RefusedOptions } from '../../support/refused-options.js';

const SENTENCES: readonly string[] = ['Hello there.', 'How are you?', 'Grüße!'];

export interface Voice<E extends Emulator, EO extends EmulatorOptions, PO> {
  /** `CARTESIA` of `CARTESIA_API_KEY`. */
  readonly variables: string;
  emulate(options: EO): Promise<E>;
  readonly type: new (options?: PO) => TextToSpeech;
}

/** One emulator and one session at a time. */
export class VoiceBench<E extends Emulator, EO extends EmulatorOptions, PO extends object> {
  readonly voice: Voice<E, EO, PO>;
  #emulator: E | undefined;

  constructor(voice: Voice<E, EO, PO>) {
    this.voice = voice;
    afterEach(() => vi.unstubAllEnvs());
  }

  get emulator(): E {
    if (this.#emulator === undefined) throw new Error('No emulator runs.');
    return this.#emulator;
  }

  async start(options: { emulator?: EO; provider?: PO; language?: string } = {}) {
    const clock = new FakeClock();
    const logger = new RecordedLogger();
    await this.#emulate({ clock, ...options.emulator });
    const provider = new this.voice.type({
      apiKey: 'test-key',
      baseUrl: this.emulator.url,
      ...options.provider,
    } as unknown as PO);
    const session = closedAfterTest(provider.open({ clock, logger, language: options.language }));
    return { clock, logger, session };
  }

  /** A session with key and address of the environment. `query`: what the address has behind it. */
  async startByEnvironment(
    provider: PO,
    { query = '', language }: { query?: string; language?: string } = {},
  ): Promise<TextToSpeechSession> {
    const clock = new FakeClock();
    await this.#emulate({ clock });
    vi.stubEnv(`${this.voice.variables}_API_KEY`, 'test-key');
    vi.stubEnv(`${this.voice.variables}_BASE_URL`, `${this.emulator.url}${query}`);
    return closedAfterTest(new this.voice.type(provider).open({ clock, logger: silentLogger, language }));
  }

  async #emulate(options: EmulatorOptions): Promise<void> {
    this.#emulator = closedAfterTest(await this.voice.emulate(options as EO));
  }
}

export function describeOptions<PO extends object>(
  bench: VoiceBench<Emulator, never, PO>,
  { name, refused }: { name: string; refused: RefusedOptions },
): void {
  describe('the options', () => {
    itRefuses(bench.voice.type, [...refused, [{ model: ' ' }, /model/], [{ apiKey: 'a b' }, /key/]]);

    it('need a key when a call opens, not before', () => {
      const provider = new bench.voice.type();
      expect(provider.name).toBe(name);
      expect(() => provider.assertConfigured?.()).toThrow(`${bench.voice.variables}_API_KEY`);
      expect(() => provider.open({ logger: silentLogger, language: undefined })).toThrow(ConfigError);
    });
  });
}

export interface Handshakes {
  /** As errors name it. */
  readonly vendor: string;
  /** Environment variable of its key. */
  readonly keyVariable: string;
  /** Headers that the vendor adds to a refusal, and what errors show of them. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly shown?: string;
}

/** A lost connection that cannot be made again, a dead one, and the end of the call. */
export function describeConnection<EO extends EmulatorOptions, PO extends object>(
  bench: VoiceBench<Emulator, EO, PO>,
  { vendor, keyVariable, headers, shown = '' }: Handshakes,
): void {
  describe('the connection', () => {
    it.each([
      [401, 'refused the key', false],
      [400, 'refused the request', false],
      [404, 'knows no such address, model, voice or agent', false],
      [429, 'is asked for too much at a time', true],
      [500, 'cannot answer now', true],
    ])('fails with what a handshake answered with %i means', async (status, sentence, retryable) => {
      const { clock, session, logger } = await bench.start();
      await soon(() => expect(bench.emulator.openSockets).toBe(1));
      bench.emulator.refuseNext({ status, times: 20, ...(headers === undefined ? {} : { headers }) });
      bench.emulator.disconnectAll();
      const reading = listen(session, 'Hello.');
      await passUntil(clock, 300, () => {
        const remedy = status === 401 ? `: check ${keyVariable}, or the option apiKey` : '';
        expect(reading.error).toMatchObject({
          message: `${vendor} ${sentence} (HTTP ${status}${shown})${remedy}.`,
          retryable,
        });
      });
      expect(logger.text + String(reading.error)).not.toContain('test-key');
    });

    it('is replaced when it is dead and not closed', async () => {
      const { clock, session } = await bench.start();
      expect(await collect(session.synthesize('One.', never))).toEqual(spoken('One.'));
      bench.emulator.freeze();
      const reading = listen(session, 'Two.');
      await settle();
      clock.advance(2500);
      await passUntil(clock, 0, () => {
        expect(reading).toMatchObject({ over: true, samples: spoken('Two.') });
      });
      expect(bench.emulator.requests).toHaveLength(2);
    });

    it('is closed at the end of the call', async () => {
      const { session } = await bench.start();
      await collect(session.synthesize('Bye.', never));
      session.close();
      await soon(() => expect(bench.emulator.openSockets).toBe(0));
    });
  });
}

export interface Spoken<E extends Emulator, EO extends EmulatorOptions> {
  /** What the vendor may do beside what all of them may. */
  readonly ways?: readonly [name: string, options: EO, troubles: WireTroubles][];
  /** What the emulator was told to say, by its first connection. */
  said(emulator: E): readonly string[];
  /** What else is to be seen there. */
  check?(emulator: E): void;
}

export function describeSentences<E extends Emulator, EO extends EmulatorOptions, PO extends object>(
  bench: VoiceBench<E, EO, PO>,
  { ways = [], said, check }: Spoken<E, EO>,
): void {
  it.each<[string, object, WireTroubles]>([
    ['as it is', {}, {}],
    ['cut in half samples', { chunkBytes: 333 }, {}],
    ['in split frames', {}, { split: true }],
    ...ways,
  ])('speaks sentence after sentence, %s', async (_, options, troubles) => {
    const { session } = await bench.start({ emulator: options as EO });
    bench.emulator.troubles = troubles;
    for (const text of SENTENCES)
      expect(await collect(session.synthesize(text, never))).toEqual(spoken(text));
    expect(said(bench.emulator)).toEqual(SENTENCES);
    check?.(bench.emulator);
    expect(bench.emulator.violations).toEqual([]);
  });
}

const LATE_AUDIO = { chunkEveryMs: 50, lateChunks: 3, chunkBytes: 333 };

/** A sentence is cut off while its audio comes, and more of it comes all the same. */
export function itKeepsLateAudioOut<E extends Emulator, EO extends EmulatorOptions, PO extends object>(
  bench: VoiceBench<E, EO, PO>,
  check: (emulator: E) => void,
): void {
  it('keeps late audio of a sentence that was cut off out of the next one', async () => {
    const { clock, session } = await bench.start({ emulator: LATE_AUDIO as unknown as EO });
    const abort = new AbortController();
    const first = listen(session, 'A story that goes on for long.', abort.signal);
    await passUntil(clock, 10, () => {
      expect(first.samples.length).toBeGreaterThan(0);
    });
    abort.abort();
    const second = listen(session, 'Sorry.');
    await passUntil(clock, 50, () => {
      expect(second.over).toBe(true);
    });
    expect(second.samples).toEqual(spoken('Sorry.'));
    expect(bench.emulator.violations).toEqual([]);
    check(bench.emulator);
  });
}
