import { afterEach, describe, expect, it, vi } from 'vitest';
import { prepareScript, splitForVoice, type CallerStep } from '../../src/testing/caller-script.js';
import { CallerTrack, type AgentEar, type CallerEvent } from '../../src/testing/caller-track.js';
import type { TextToSpeechSession } from '../../src/providers/text-to-speech.js';

afterEach(() => vi.restoreAllMocks());

/** Speaks every text as 100 ms of silence, 400 ms of tone and 100 ms of silence, in chunks. */
function createVoice(log: string[] = []): TextToSpeechSession {
  return {
    async *synthesize(text) {
      log.push(text);
      yield new Int16Array(1600);
      yield Int16Array.from({ length: 6400 }, (_, i) => Math.round(8000 * Math.sin(i / 4)));
      yield new Int16Array(1600);
    },
    close: () => log.push('closed'),
  };
}

async function prepare(steps: CallerStep[], log: string[] = []) {
  return prepareScript(steps, { openVoice: () => createVoice(log), signal: new AbortController().signal });
}

/** An agent whose stretches of sound are given. */
function createEar(spans: [number, number][]): AgentEar & { nowMs: number } {
  return {
    nowMs: 0,
    queuedMs: 0,
    soundStartSince(sinceMs) {
      const span = spans.find(([start, end]) => end > sinceMs && start <= this.nowMs);
      return span === undefined ? undefined : Math.max(span[0], sinceMs);
    },
    get lastSoundMs() {
      const span = spans.findLast(([start]) => start <= this.nowMs);
      return span === undefined ? undefined : Math.min(span[1], this.nowMs);
    },
  };
}

async function run(steps: CallerStep[], agent: [number, number][] = [], limitMs = 60_000) {
  const ear = createEar(agent);
  const track = new CallerTrack(await prepare(steps), ear);
  const events: (CallerEvent & { atMs: number })[] = [];
  for (let atMs = 0; atMs < limitMs; atMs += 20) {
    ear.nowMs = atMs + 20;
    const frame = track.nextFrame(atMs);
    expect(frame.samples).toHaveLength(160);
    events.push(...frame.events.map((event) => ({ ...event, atMs })));
    if (frame.events.some(({ type }) => type === 'hang-up')) break;
  }
  return { track, events };
}

describe('a caller', () => {
  it('tells each word when it has been said, and the whole text at the end of the sound', async () => {
    const { track, events } = await run([
      { type: 'pause', durationMs: 200 },
      { type: 'say', text: 'one three fives' },
      { type: 'hang-up' },
    ]);
    const spoken = events.filter((event) => event.type === 'spoken-text');
    expect(spoken.map(({ text, final }) => [text, final])).toEqual([
      ['one', false],
      ['one three', false],
      ['one three fives', true],
    ]);
    expect(new Set(spoken.map(({ id }) => id)).size).toBe(1);
    const [span] = track.utterances;
    expect(Math.abs((span?.startMs ?? 0) - 300)).toBeLessThanOrEqual(10);
    expect(Math.abs((span?.endMs ?? 0) - 700)).toBeLessThanOrEqual(10);
    for (const { atMs } of spoken) expect(atMs).toBeGreaterThanOrEqual(300);
    expect(Math.abs((spoken.at(-1)?.atMs ?? 0) - 700)).toBeLessThanOrEqual(20);
    expect(events.at(-1)).toEqual({ type: 'hang-up', abrupt: false, atMs: 800 });
  });

  it('says nothing beside a recording without a text', async () => {
    const samples = Int16Array.from({ length: 24_000 }, (_, i) => Math.round(8000 * Math.sin(i / 4)));
    const { track, events } = await run([
      { type: 'play', samples, sampleRateHz: 48_000 },
      { type: 'hang-up' },
    ]);
    expect(events.map(({ type }) => type)).toEqual(['hang-up']);
    expect(track.utterances).toHaveLength(1);
  });

  it('waits until the agent has answered what was said, and been quiet', async () => {
    const script: CallerStep[] = [
      { type: 'wait-for-agent' },
      { type: 'say', text: 'hi' },
      { type: 'wait-for-agent', quietMs: 500 },
      { type: 'hang-up' },
    ];
    const { events, track } = await run(script, [
      [200, 900],
      [1300, 2000],
      [5000, 6000],
    ]);
    expect(Math.abs((track.utterances[0]?.startMs ?? 0) - 3100)).toBeLessThanOrEqual(40);
    expect(Math.abs((events.at(-1)?.atMs ?? 0) - 6500)).toBeLessThanOrEqual(40);
    expect(track.notes).toEqual([]);
  });

  it('talks over the agent after the asked time of speech', async () => {
    const { track } = await run(
      [{ type: 'interrupt', afterMs: 800 }, { type: 'say', text: 'stop' }, { type: 'hang-up' }],
      [[1000, 9000]],
    );
    expect(Math.abs((track.utterances[0]?.startMs ?? 0) - 1900)).toBeLessThanOrEqual(20);
  });

  it('goes on with a note when the agent keeps silent', async () => {
    const { track, events } = await run([{ type: 'wait-for-agent', timeoutMs: 3000 }]);
    expect(events.at(-1)).toMatchObject({ type: 'hang-up', atMs: 3000 });
    expect(track.notes).toEqual(['The agent did not speak within 3000 ms.']);
  });

  it('presses keys one after the other', async () => {
    const { events } = await run([
      { type: 'press', digits: '1#A' },
      { type: 'hang-up', abrupt: true },
    ]);
    expect(events).toEqual([
      { type: 'dtmf', digit: '1', atMs: 0 },
      { type: 'dtmf', digit: '#', atMs: 200 },
      { type: 'dtmf', digit: 'A', atMs: 400 },
      { type: 'hang-up', abrupt: true, atMs: 600 },
    ]);
  });
});

describe('prepareScript', () => {
  it('speaks sentence by sentence and closes the voice', async () => {
    const log: string[] = [];
    const steps = await prepare([{ type: 'say', text: 'Hello there. How are you?' }], log);
    expect(log).toEqual(['Hello there.', 'How are you?', 'closed']);
    expect(steps.map(({ type }) => type)).toEqual(['speech', 'speech', 'wait-for-agent', 'hang-up']);
  });

  it('closes the voice when it fails', async () => {
    const log: string[] = [];
    const voice: TextToSpeechSession = {
      synthesize: () => {
        throw new Error('no breath');
      },
      close: () => log.push('closed'),
    };
    const context = { openVoice: () => voice, signal: new AbortController().signal };
    await expect(prepareScript([{ type: 'say', text: 'a' }], context)).rejects.toThrow('no breath');
    expect(log).toEqual(['closed']);
  });

  it('refuses what cannot be done before the voice is opened', async () => {
    const log: string[] = [];
    const script: CallerStep[] = [
      { type: 'say', text: 'a' },
      { type: 'press', digits: '12x' },
    ];
    await expect(prepare(script, log)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    expect(log).toEqual([]);
  });

  it('keeps the process alive while the voice speaks, and no longer', async () => {
    const started = vi.spyOn(globalThis, 'setInterval');
    const cleared = vi.spyOn(globalThis, 'clearInterval');
    const held = () => {
      const over = cleared.mock.calls.map(([timer]) => timer);
      return started.mock.results.filter(({ value }) => value.hasRef() && !over.includes(value)).length;
    };
    let during = 0;
    const voice = createVoice();
    const openVoice = () => {
      during = held();
      return voice;
    };
    await prepareScript([{ type: 'say', text: 'a' }], { openVoice, signal: new AbortController().signal });
    expect([during, held()]).toEqual([1, 0]);
  });

  it('never hands a voice more than 280 characters', () => {
    const pieces = splitForVoice(`${'word '.repeat(200)}${'x'.repeat(500)}`);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(280);
    expect(pieces[0]?.startsWith('word word')).toBe(true);
  });

  it('presses keys while it speaks, and none after that', async () => {
    const { events } = await run([
      { type: 'pause', durationMs: 100 },
      { type: 'say', text: 'one two', press: { digits: '12#45', afterMs: 60 } },
      { type: 'hang-up' },
    ]);
    const keys = events.filter((event) => event.type === 'dtmf');
    expect(keys.map(({ digit, atMs }) => [digit, atMs])).toEqual([
      ['1', 160],
      ['2', 360],
      ['#', 560],
    ]);
  });

  it('talks without a pause for as long as it is told to', async () => {
    const steps: CallerStep[] = [
      { type: 'monologue', durationMs: 20_000, text: 'One more. And another.' },
      { type: 'hang-up' },
    ];
    const { track, events } = await run(steps);
    const texts = events.flatMap((event) =>
      event.type === 'spoken-text' && event.final ? [event.text] : [],
    );
    expect(texts.slice(0, 3)).toEqual(['One more.', 'And another.', 'One more.']);
    const gaps = track.utterances.slice(1).map(({ startMs }, index) => {
      const before = track.utterances[index];
      return startMs - (before?.endMs ?? 0);
    });
    expect(Math.max(...gaps)).toBeLessThanOrEqual(80);
    expect(events.at(-1)?.atMs).toBeGreaterThanOrEqual(20_000);
    expect(events.at(-1)?.atMs).toBeLessThan(20_600);
  });

  it('waits for a signal, and not for ever', async () => {
    const fired = AbortSignal.abort();
    const never = new AbortController().signal;
    const soon = await run([{ type: 'wait-until', signal: fired }, { type: 'hang-up' }]);
    expect([soon.events.at(-1)?.atMs, soon.track.notes]).toEqual([0, []]);
    const late = await run([{ type: 'wait-until', signal: never, timeoutMs: 500 }, { type: 'hang-up' }]);
    expect(late.events.at(-1)?.atMs).toBe(500);
    expect(late.track.notes).toEqual(['What was waited for did not come within 500 ms.']);
  });

  it('makes noise that has the level that was asked for, and no words', async () => {
    const [noise] = await prepare([{ type: 'noise', durationMs: 500, levelDbfs: -30 }]);
    if (noise?.type !== 'speech') throw new Error('no sound');
    const power = noise.samples.reduce((sum, sample) => sum + sample * sample, 0) / noise.samples.length;
    expect(10 * Math.log10(power / 32_768 ** 2)).toBeCloseTo(-30, 0);
    expect([noise.samples.length, noise.spoken]).toEqual([4000, []]);
  });
});
