import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../../src/base/errors.js';
import { silentLogger } from '../../../src/base/log.js';
import { Circuits } from '../../../src/providers/circuits.js';
import { TextToSpeechChain } from '../../../src/providers/fallback/text-to-speech-chain.js';
import type { Patience } from '../../../src/providers/patience.js';
import type {
  SpokenPiece,
  SynthesisEvents,
  TextToSpeech,
  TextToSpeechContext,
  TextToSpeechSession,
} from '../../../src/providers/text-to-speech.js';
import { FakeClock } from '../../support/fake-clock.js';

const DOWN = new ProviderError('The key is wrong.', { status: 401, retryable: false });
const never = new AbortController().signal;

/** What a voice does with a sentence: milliseconds of audio, a wait, a failure, or nothing any more. */
type Act = { readonly audioMs: number } | { readonly waitMs: number } | Error | 'hang';

/** Says every word in 300 ms, and that it does so where it is timed. */
class FakeVoice implements TextToSpeech {
  readonly name: string;
  readonly asked: string[] = [];
  readonly aborted: string[] = [];
  opened = 0;
  closed = 0;
  isTimed = false;
  openError: Error | undefined;
  context: TextToSpeechContext | undefined;
  readonly #clock: FakeClock;
  readonly #scripts: (readonly Act[])[];

  constructor(name: string, clock: FakeClock, scripts: readonly (readonly Act[])[]) {
    this.name = name;
    this.#clock = clock;
    this.#scripts = [...scripts];
  }

  open(context: TextToSpeechContext): TextToSpeechSession {
    if (this.openError !== undefined) throw this.openError;
    this.opened += 1;
    this.context = context;
    return {
      synthesize: (text, signal, events) => this.#say(text, signal, events),
      close: () => {
        this.closed += 1;
      },
    };
  }

  async *#say(text: string, signal: AbortSignal, events?: SynthesisEvents): AsyncGenerator<Int16Array> {
    this.asked.push(text);
    signal.addEventListener('abort', () => this.aborted.push(text), { once: true });
    this.context?.events?.usage?.({ characters: text.length });
    const pieces = [...text.matchAll(/\S+/g)].map(
      (word, index): SpokenPiece => ({
        start: word.index,
        end: word.index + word[0].length,
        startMs: index * 300,
        endMs: index * 300 + 300,
      }),
    );
    if (this.isTimed) events?.timed?.(pieces);
    for (const act of this.#scripts.shift() ?? [{ audioMs: pieces.length * 300 }]) {
      if (act instanceof Error) throw act;
      if (act === 'hang') await new Promise((resolve) => signal.addEventListener('abort', resolve));
      else if ('waitMs' in act)
        await new Promise<void>((resolve) => void this.#clock.after(act.waitMs, resolve));
      else yield new Int16Array(act.audioMs * 16).fill(Number(this.name.at(-1)));
      if (signal.aborted) return;
    }
  }
}

function setUp(...scripts: (readonly (readonly Act[])[])[]) {
  const clock = new FakeClock();
  const circuits = new Circuits(clock);
  const voices = scripts.map((each, index) => new FakeVoice(`v/${index + 1}`, clock, each));
  const [first, ...others] = voices;
  if (first === undefined) throw new Error('a chain has members');
  const chain = new TextToSpeechChain({ members: [first, ...others], circuits, clock });
  const told: string[] = [];
  const open = (patience?: Patience, isLast?: () => boolean) =>
    chain.open({
      clock,
      patience,
      isLast,
      logger: silentLogger,
      language: 'en',
      events: {
        usage: ({ characters, payee }) => void told.push(`${payee?.name} is paid ${characters}`),
        reconnected: ({ provider, gapMs }) => void told.push(`${provider} is back after ${gapMs}`),
        replaced: ({ from, to, gapMs }) => void told.push(`${from} -> ${to} after ${gapMs}`),
      },
    });
  return { clock, circuits, voices, chain, told, open };
}

interface Reading {
  /** Who has said how much, in milliseconds. */
  readonly said: [voice: number, ms: number][];
  readonly pieces: SpokenPiece[];
  /** Chunks without audio. */
  signs: number;
  over: boolean;
  error: unknown;
}

function say(session: TextToSpeechSession, text: string, signal: AbortSignal = never): Reading {
  const reading: Reading = { said: [], pieces: [], signs: 0, over: false, error: undefined };
  const timed = (pieces: readonly SpokenPiece[]) => void reading.pieces.push(...pieces);
  void (async () => {
    try {
      for await (const pcm of session.synthesize(text, signal, { timed })) {
        if (pcm.length === 0) reading.signs += 1;
        else reading.said.push([pcm[0] ?? 0, pcm.length / 16]);
      }
    } catch (error) {
      reading.error = error;
    }
    reading.over = true;
  })();
  return reading;
}

describe('TextToSpeechChain', () => {
  it.each([true, false])(
    'has its last voice know that it is, where nobody is behind the chain: %s',
    async (isLast) => {
      const { clock, voices, open } = setUp([[DOWN]], [[{ waitMs: 500 }, { audioMs: 300 }]]);
      const areLast = () => voices.map(({ context }) => context?.isLast?.());
      const session = open(undefined, () => isLast);
      expect(areLast()).toEqual([false, undefined]);
      say(session, 'Hello.');
      await clock.advanceAsync(0);
      expect(areLast()).toEqual([false, isLast]);
      await clock.advanceAsync(500);
      // Who has worked has the first behind it again.
      expect(areLast()).toEqual([false, false]);
    },
  );

  it('has the next say a sentence that ends without audio, but not a sign', async () => {
    const { clock, voices, told, open } = setUp([[], [{ audioMs: 0 }]], [[{ audioMs: 300 }]]);
    const session = open();
    const sign = say(session, '…');
    await clock.advanceAsync(0);
    expect(sign).toMatchObject({ over: true, error: undefined });
    const reading = say(session, 'Hello.');
    await clock.advanceAsync(0);
    expect(reading).toMatchObject({ said: [[2, 300]], over: true, error: undefined });
    expect(told).toContain('v/1 -> v/2 after 0');
    expect(voices[1]?.asked).toEqual(['Hello.']);
  });

  it('has the next one in the place of one that opens no session', async () => {
    const { clock, voices, open } = setUp([], [[{ audioMs: 300 }]]);
    const [first] = voices;
    if (first !== undefined) first.open = () => null as never;
    const reading = say(open(), 'Hello.');
    await clock.advanceAsync(0);
    expect(reading).toMatchObject({ said: [[2, 300]], over: true });
  });

  it('says that a sentence broke off whose rest nobody knows', async () => {
    const { clock, open } = setUp([[{ audioMs: 300 }, DOWN]], [[{ audioMs: 300 }]]);
    let breaks = 0;
    const session = open();
    const read = async () => {
      const events = {
        brokeOff: () => {
          breaks += 1;
        },
      };
      for await (const _ of session.synthesize('One two three.', never, events));
    };
    void read();
    await clock.advanceAsync(0);
    expect(breaks).toBe(1);
  });

  it('is the first as long as that one works, and opens no other', async () => {
    const { clock, voices, open, told, chain } = setUp([], []);
    const session = open();
    const reading = say(session, 'Hello there.');
    await clock.advanceAsync(0);
    expect(reading).toMatchObject({ said: [[1, 600]], over: true });
    expect(chain.name).toBe('v/1');
    expect(told).toEqual(['v/1 is paid 12']);
    expect(voices.map(({ opened }) => opened)).toEqual([1, 0]);
    session.close();
    session.close();
    expect(voices.map(({ closed }) => closed)).toEqual([1, 0]);
    expect(clock.pending).toBe(0);
  });

  it('has the next say a sentence of which nothing was heard, and all that follow', async () => {
    const { clock, voices, open, told } = setUp([[{ waitMs: 200 }, DOWN]], []);
    const session = open();
    const first = say(session, 'Hello there.');
    await clock.advanceAsync(200);
    expect(first).toMatchObject({ said: [[2, 600]], over: true, error: undefined });
    const next = say(session, 'Goodbye.');
    await clock.advanceAsync(0);
    expect(next.said).toEqual([[2, 300]]);
    expect(told).toEqual(['v/1 is paid 12', 'v/1 -> v/2 after 200', 'v/2 is paid 12', 'v/2 is paid 8']);
    expect(voices[0]).toMatchObject({ closed: 1 });
  });

  it('waits two and a half seconds for the first audio of one that hangs', async () => {
    const { clock, voices, open, told } = setUp([['hang']], []);
    const reading = say(open(), 'Hello there.');
    await clock.advanceAsync(2499);
    expect(reading.said).toEqual([]);
    await clock.advanceAsync(1);
    expect(reading.said).toEqual([[2, 600]]);
    expect(told).toContain('v/1 -> v/2 after 2500');
    expect(voices[0]?.aborted).toEqual(['Hello there.']);
  });

  it('gives a sign as soon as one is asked, and another one', async () => {
    const { clock, open } = setUp([['hang']], [[{ waitMs: 1000 }, { audioMs: 300 }]]);
    const reading = say(open(), 'Hello.');
    await clock.advanceAsync(2499);
    expect(reading.signs).toBe(1);
    await clock.advanceAsync(1);
    expect(reading).toMatchObject({ signs: 2, said: [] });
    await clock.advanceAsync(1000);
    expect(reading).toMatchObject({ signs: 2, said: [[2, 300]], over: true });
  });

  it('has only the rest said of a sentence that was begun, where the voice times its words', async () => {
    const { clock, voices, open } = setUp([[{ audioMs: 700 }, DOWN]], []);
    for (const voice of voices) voice.isTimed = true;
    const reading = say(open(), 'Three loaves are ready now.');
    await clock.advanceAsync(0);
    expect(voices[1]?.asked).toEqual([' ready now.']);
    expect(reading.said).toEqual([
      [1, 700],
      [2, 600],
    ]);
    expect(reading.pieces.at(-1)).toEqual({ start: 23, end: 27, startMs: 1000, endMs: 1300 });
  });

  it('leaves the rest out where it does not, and goes on with the next sentence', async () => {
    const { clock, open, told } = setUp([[{ audioMs: 700 }, { waitMs: 100 }, DOWN]], []);
    const session = open();
    const reading = say(session, 'Three loaves are ready now.');
    await clock.advanceAsync(100);
    expect(reading).toMatchObject({ said: [[1, 700]], over: true, error: undefined });
    const next = say(session, 'Goodbye.');
    await clock.advanceAsync(0);
    expect(next.said).toEqual([[2, 300]]);
    expect(told).toContain('v/1 -> v/2 after 100');
  });

  it('gives up one that stops in the middle without an end', async () => {
    const { clock, voices, open } = setUp([[{ audioMs: 400 }, 'hang']], []);
    if (voices[0] !== undefined) voices[0].isTimed = true;
    const reading = say(open(), 'Three loaves are ready now.');
    await clock.advanceAsync(3500);
    expect(reading.said).toEqual([
      [1, 400],
      [2, 900],
    ]);
  });

  it('leaves the last one the time that it takes, and fails with it', async () => {
    const { clock, open } = setUp([[DOWN]], [[{ waitMs: 6000 }, { audioMs: 300 }], [DOWN]]);
    const session = open();
    const reading = say(session, 'Hello.');
    await clock.advanceAsync(6000);
    expect(reading.said).toEqual([[2, 300]]);
    const { voices, ...other } = setUp([[DOWN]], [[DOWN]]);
    const failing = say(other.open(), 'Hello.');
    await other.clock.advanceAsync(0);
    expect(failing.error).toBe(DOWN);
    expect(voices.map(({ asked }) => asked.length)).toEqual([1, 1]);
  });

  it('begins with the next when the first cannot be opened, and throws when none can', async () => {
    const { clock, voices, open, told } = setUp([], []);
    const [first, second] = voices;
    if (first === undefined || second === undefined) throw new Error('two voices');
    first.openError = DOWN;
    const reading = say(open(), 'Hello.');
    await clock.advanceAsync(0);
    expect(reading.said).toEqual([[2, 300]]);
    expect(told[0]).toBe('v/1 -> v/2 after 0');
    second.openError = new Error('no');
    expect(open).toThrow('no');
  });

  it('ends at once with an abort, which is no failure', async () => {
    const { clock, voices, open, told } = setUp([[{ audioMs: 100 }, { waitMs: 10 }, DOWN]], []);
    const abort = new AbortController();
    const reading = say(open(), 'Hello there.', abort.signal);
    await clock.advanceAsync(0);
    abort.abort();
    expect(voices[0]?.aborted).toHaveLength(1);
    await clock.advanceAsync(10);
    expect(reading).toMatchObject({ said: [[1, 100]], over: true, error: undefined });
    expect(told).toEqual(['v/1 is paid 12']);
    expect(clock.pending).toBe(0);
  });

  it('does not cut a sentence of the old voice when another sentence has failed', async () => {
    const long: Act[] = [{ audioMs: 100 }, { waitMs: 300 }, { audioMs: 500 }];
    const { clock, voices, open } = setUp([long, [DOWN]], []);
    const session = open();
    const reply = say(session, 'Hello there.');
    await clock.advanceAsync(0);
    const filler = say(session, 'One moment.');
    await clock.advanceAsync(0);
    expect(filler.said).toEqual([[2, 600]]);
    expect(voices[0]?.closed).toBe(0);
    await clock.advanceAsync(300);
    expect(reply.said).toEqual([
      [1, 100],
      [1, 500],
    ]);
    expect(voices[0]?.closed).toBe(1);
  });

  it('waits for a voice that is busy with another sentence', async () => {
    const long: Act[] = Array.from({ length: 6 }, (): Act[] => [{ waitMs: 1000 }, { audioMs: 300 }]).flat();
    const { clock, open, told } = setUp([long, [{ waitMs: 7000 }, { audioMs: 300 }]], []);
    const session = open();
    const reply = say(session, 'A long sentence.');
    const filler = say(session, 'One moment.');
    await clock.advanceAsync(7000);
    expect([reply.said.length, filler.said]).toEqual([6, [[1, 300]]]);
    expect(told.filter((line) => line.includes('->'))).toEqual([]);
  });

  it('lets the next call begin with the fallback when one fails again and again', async () => {
    const { clock, open, voices, told } = setUp([[DOWN], [DOWN], [DOWN], [DOWN], [DOWN]], []);
    for (let call = 0; call < 5; call += 1) {
      say(open(), 'Hello.');
      await clock.advanceAsync(10);
    }
    told.length = 0;
    say(open(), 'Hello.');
    await clock.advanceAsync(0);
    expect(voices[0]?.asked).toHaveLength(5);
    expect(told).toEqual(['v/1 -> v/2 after 0', 'v/2 is paid 6']);
  });

  it('names who has come back, and takes what is no audio for a failure', async () => {
    const { clock, voices, open, told } = setUp([[]], []);
    const session = open();
    voices[0]?.context?.events?.reconnected?.({ gapMs: 30 });
    expect(told).toEqual(['v/1 is back after 30']);
    const broken = {
      name: 'v/8',
      open: () => ({
        ...session,
        async *synthesize() {
          yield 'pcm' as never;
        },
      }),
    };
    const good = voices[1] as FakeVoice;
    const chain = new TextToSpeechChain({ members: [broken, good], circuits: new Circuits(clock), clock });
    const reading = say(chain.open({ clock, logger: silentLogger, language: 'en' }), 'Hello.');
    await clock.advanceAsync(0);
    expect(reading.said).toEqual([[2, 300]]);
  });

  it('gives up a voice that another sentence has found to be of no use', async () => {
    const { clock, open } = setUp([['hang'], ['hang']], []);
    const session = open();
    const first = say(session, 'Hello there.');
    await clock.advanceAsync(500);
    const second = say(session, 'Goodbye.');
    await clock.advanceAsync(2000);
    expect(first).toMatchObject({ said: [[2, 600]], over: true });
    await clock.advanceAsync(500);
    expect(second).toMatchObject({ said: [[2, 300]], over: true, error: undefined });
    session.close();
  });

  it.each([
    [3000, 2000],
    [1000, 500],
    [0, 1],
  ])('lets a caller who can wait %i ms more wait for the first voice for %i', async (leftMs, firstMs) => {
    const { clock, open, told } = setUp([['hang']], []);
    const session = open({ leftMs: () => leftMs - clock.now() });
    const reading = say(session, 'Hello.');
    await clock.advanceAsync(firstMs - 1);
    expect(reading.said).toEqual(leftMs === 0 ? [[2, 300]] : []);
    await clock.advanceAsync(1);
    expect(reading.said).toEqual([[2, 300]]);
    expect(told).toContain(`v/1 -> v/2 after ${leftMs === 0 ? 0 : firstMs}`);
    session.close();
  });
});
