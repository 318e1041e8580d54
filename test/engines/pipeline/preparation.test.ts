import { describe, expect, it } from 'vitest';
import { createPipelineRecipe } from '../../../src/engines/pipeline/recipe.js';
import type { PipelinePreparation } from '../../../src/engines/pipeline/preparation.js';
import type { TextToSpeechContext } from '../../../src/providers/text-to-speech.js';
import { FakeClock } from '../../support/fake-clock.js';
import { CallRig, MS_PER_CHAR } from '../call-rig.js';
import { charactersOf, FIRST, GREETING, PreparedCall, SECOND } from '../prepared-rig.js';

describe('a pipeline call that is prepared', () => {
  it('has its voice connected, its model warm and its first sentence before there is an engine', async () => {
    const call = new PreparedCall();
    await call.pass(400);
    expect(call.voice.sessions).toHaveLength(1);
    expect(call.voice.spoken).toEqual([FIRST]);
    expect(call.model.warmUps).toBe(1);
    expect(call.ears.opens).toBe(0);
    call.preparation.answered?.();
    call.preparation.answered?.();
    expect(call.ears.opens).toBe(1);
  });

  it('greets at once, and goes on with the next sentence', async () => {
    const call = new PreparedCall();
    call.preparation.answered?.();
    await call.pass(400);
    const rig = await call.begin();
    expect(rig.pacer.pushedMs).toBe(FIRST.length * MS_PER_CHAR);
    expect(call.voice.sessions).toHaveLength(1);
    expect(call.ears.opens).toBe(1);
    await rig.quiet(GREETING.length * MS_PER_CHAR + 500);
    expect(rig.turns).toMatchObject([{ agentText: GREETING, agentTextUnheard: '', interrupted: false }]);
    expect(new Set(Object.values(rig.turns[0]?.latency ?? { none: 1 }))).toEqual(new Set([null]));
    expect(call.voice.spoken).toEqual([FIRST, SECOND]);
  });

  it('takes over a sentence in the middle of its synthesis', async () => {
    const call = new PreparedCall();
    await call.pass(200);
    const rig = await call.begin();
    expect(rig.pacer.pushedMs).toBe(0);
    await call.pass(100);
    expect(rig.pacer.pushedMs).toBe(FIRST.length * MS_PER_CHAR);
    expect(call.voice.spoken).toEqual([FIRST]);
  });

  it('hears through the session that was opened before it', async () => {
    const call = new PreparedCall();
    call.preparation.answered?.();
    const rig = await call.begin();
    call.model.answer('Nobody asks the model of the test.');
    await rig.quiet(GREETING.length * MS_PER_CHAR + 1000);
    await rig.voiced(300);
    rig.ears.events.partial('Then are you');
    rig.ears.events.withdrawn?.();
    expect(rig.transcript.filter(({ role }) => role === 'user')).toEqual([]);
    rig.ears.events.final('When are you open?');
    await rig.quiet(1000);
    expect(rig.transcript.find(({ role }) => role === 'user')?.text).toBe('When are you open?');
  });

  it.each([false, true])(
    'has providers that know whether they are the last, with a fallback: %s',
    async (hasFallback) => {
      const call = new PreparedCall({ hasFallback });
      const areLast = () => [call.voice.isLast?.(), call.ears.isLast?.()];
      call.preparation.answered?.();
      // One that fails now is opened once more with the call.
      expect(areLast()).toEqual([false, false]);
      await call.begin();
      expect(areLast()).toEqual([!hasFallback, !hasFallback]);
      expect([call.voice.sessions.length, call.ears.opens]).toEqual([1, 1]);
      const unprepared = await new CallRig({ hasFallback }).start();
      expect([unprepared.voice.isLast?.(), unprepared.ears.isLast?.()]).toEqual([!hasFallback, !hasFallback]);
    },
  );

  it('states what was used once, and as its own', async () => {
    const call = new PreparedCall();
    await call.pass(400);
    const rig = await call.begin();
    await rig.quiet(GREETING.length * MS_PER_CHAR + 500);
    rig.engine.close();
    call.preparation.close();
    expect(charactersOf(rig.facts)).toEqual([FIRST.length, SECOND.length]);
    expect(call.spent).toEqual([]);
    expect(rig.facts.filter((fact) => fact.type === 'usage.measured')).toMatchObject([
      { turnIndex: 0 },
      { turnIndex: 0 },
    ]);
  });

  it('closes every session once with its engine', async () => {
    const call = new PreparedCall();
    call.preparation.answered?.();
    await call.pass(400);
    const rig = await call.begin();
    call.preparation.close();
    expect(call.voice.closed || call.ears.closed).toBe(false);
    rig.engine.close();
    rig.engine.close();
    expect(call.voice.sessions).toEqual([{ closes: 1 }]);
    expect(call.ears.closed).toBe(true);
    await call.pass(10_000);
    expect(call.clock.pending).toBe(0);
  });

  it('has its first sentence stopped when no engine takes it', async () => {
    let isStopped = false;
    let closes = 0;
    const call = new PreparedCall({}, ({ voice }) => {
      voice.open = () => ({
        async *synthesize() {
          try {
            for (let chunk = 0; chunk < 200; chunk += 1) yield new Int16Array(1600);
          } finally {
            isStopped = true;
          }
        },
        close() {
          closes += 1;
        },
      });
    });
    await call.pass(100);
    expect(isStopped).toBe(false);
    call.preparation.close();
    call.preparation.close();
    await call.pass(0);
    expect(isStopped).toBe(true);
    expect(closes).toBe(1);
  });

  it('leaves nothing open when its engine is closed before it has begun', async () => {
    const call = new PreparedCall();
    call.preparation.answered?.();
    await call.pass(400);
    const rig = call.create();
    rig.engine.close();
    expect([call.voice.closed, call.ears.closed]).toEqual([true, true]);
    expect(charactersOf(rig.facts)).toEqual([FIRST.length]);
    expect(call.spent).toEqual([]);
  });

  it('does not say the sentence ahead when another one comes first', async () => {
    const call = new PreparedCall();
    await call.pass(100);
    const { recipe, clock, voice, ears, preparation } = call;
    const other = createPipelineRecipe({
      stt: ears,
      llm: call.model,
      tts: voice,
      firstMessage: 'Good evening.',
    });
    const rig = new CallRig({
      clock,
      voice,
      ears,
      preparation,
      recipe: { ...recipe, create: (context, prepared) => other.create(context, prepared) },
    });
    await rig.start();
    await rig.quiet(2000);
    expect(voice.spoken).toContain('Good evening.');
    expect(rig.turns).toMatchObject([{ agentText: 'Good evening.' }]);
  });

  it('holds only so much of a sentence without an end, and gives out the rest', async () => {
    const call = new PreparedCall({ firstMessage: 'This one is long.' }, ({ voice }) => {
      voice.open = () => ({
        async *synthesize() {
          for (let chunk = 0; chunk < 200; chunk += 1) {
            voice.spoken.push(`chunk ${chunk}`);
            yield new Int16Array(1600).fill(1000);
          }
        },
        close() {},
      });
    });
    await call.pass(1000);
    expect(call.voice.spoken).toHaveLength(100);
    const rig = await call.begin();
    await rig.quiet(21_000);
    expect(rig.pacer.pushedMs).toBe(20_000);
    expect(call.voice.spoken).toHaveLength(200);
  });

  it('passes the times of words on', async () => {
    const piece = { start: 0, end: 5, startMs: 0, endMs: 1000 };
    const call = new PreparedCall({ firstMessage: 'Hello there to everybody.' }, ({ voice }) => {
      voice.open = () => ({
        async *synthesize(
          _text: string,
          _signal?: AbortSignal,
          events?: { timed?(pieces: unknown[]): void },
        ) {
          events?.timed?.([piece]);
          yield new Int16Array(16_000 * 2).fill(1000);
        },
        close() {},
      });
    });
    await call.pass(10);
    const rig = await call.begin();
    await rig.quiet(1100);
    await rig.voiced(600);
    rig.ears.events.final('Wait a moment, please.');
    await rig.quiet(100);
    expect(rig.turns[0]?.agentText.startsWith('Hello')).toBe(true);
    expect(rig.turns[0]?.interrupted).toBe(true);
  });
});

describe('guardrails of a prepared greeting', () => {
  it('are asked once, and what they drop is not synthesized', async () => {
    const seen: string[] = [];
    const guardrail = (sentence: string) => {
      seen.push(sentence);
      return !sentence.includes('front desk');
    };
    const call = new PreparedCall({ guardrails: [guardrail] });
    await call.pass(400);
    expect(call.voice.spoken).toEqual([SECOND]);
    const rig = await call.begin();
    expect(rig.pacer.pushedMs).toBe(SECOND.length * MS_PER_CHAR);
    await rig.quiet(GREETING.length * MS_PER_CHAR);
    expect(seen).toEqual([FIRST, SECOND]);
    expect(rig.turns).toMatchObject([{ agentText: SECOND, agentTextUnheard: FIRST }]);
    expect(call.voice.spoken).toEqual([SECOND]);
  });

  it('see its short sentences by themselves, and the piece that is synthesized is the one that is said', async () => {
    const seen: string[] = [];
    const guardrail = (sentence: string) => {
      seen.push(sentence);
      return sentence !== 'Hello.';
    };
    const sentences = ['Hello.', 'Good day.', 'This is the bakery.', 'Yes?'];
    const call = new PreparedCall({ guardrails: [guardrail], firstMessage: sentences.join(' ') });
    await call.pass(400);
    expect(seen).toEqual(sentences.slice(0, 3));
    expect(call.voice.spoken).toEqual(['Good day. This is the bakery.']);
    const rig = await call.begin();
    await rig.quiet(4000);
    expect(seen).toEqual(sentences);
    expect(call.voice.spoken).toEqual(['Good day. This is the bakery.', 'Yes?']);
    expect(rig.turns).toMatchObject([
      { agentText: 'Good day. This is the bakery. Yes?', agentTextUnheard: 'Hello.' },
    ]);
  });

  it('have their own words prepared', async () => {
    const call = new PreparedCall({
      guardrails: [() => 'Something quite different is said.'],
      firstMessage: FIRST,
    });
    await call.pass(400);
    expect(call.voice.spoken).toEqual(['Something quite different is said.']);
  });

  it('that are still at it go on in the engine, and nothing is synthesized twice', async () => {
    let allow: (allowed: boolean) => void = () => {};
    const guardrail = () => new Promise<boolean>((resolve) => (allow = resolve));
    const call = new PreparedCall({ guardrails: [guardrail], firstMessage: FIRST });
    await call.pass(100);
    const rig = await call.begin();
    expect(call.voice.spoken).toEqual([]);
    allow(true);
    await rig.quiet(2500);
    expect(call.voice.spoken).toEqual([FIRST]);
    expect(rig.turns).toMatchObject([{ agentText: FIRST }]);
  });
});

describe('a preparation that is not used', () => {
  it('is closed once, with all it has opened, and tells what it has used', async () => {
    const call = new PreparedCall();
    call.preparation.answered?.();
    await call.pass(100);
    call.preparation.close();
    call.preparation.close();
    expect(call.voice.sessions).toEqual([{ closes: 1 }]);
    expect(call.ears.closed).toBe(true);
    expect(call.spent).toMatchObject([
      { stage: 'tts', quantities: { characters: FIRST.length }, turnIndex: null },
    ]);
    call.preparation.answered?.();
    expect(call.ears.opens).toBe(1);
  });

  it('has a voice that is closed once, and says nothing afterwards', async () => {
    const call = new PreparedCall({ firstMessage: '' });
    const { tts } = call.preparation as PipelinePreparation;
    tts.close();
    tts.close();
    tts.say(FIRST);
    await call.pass(400);
    expect(call.voice.sessions).toEqual([{ closes: 1 }]);
    expect(call.voice.spoken).toEqual([]);
  });

  it('leaves no timer and no session of a thousand calls', async () => {
    const clock = new FakeClock();
    const hangs = () => new Promise<boolean>(() => {});
    const calls = Array.from({ length: 1000 }, (_, index) => {
      const call = new PreparedCall({ clock, guardrails: index % 2 === 0 ? [] : [hangs] });
      call.preparation.answered?.();
      return call;
    });
    await clock.advanceAsync(100);
    for (const { preparation } of calls) preparation.close();
    await clock.advanceAsync(5000);
    expect(clock.pending).toBe(0);
    const isClosed = ({ voice, ears }: PreparedCall) => voice.sessions[0]?.closes === 1 && ears.closed;
    expect(calls.every(isClosed)).toBe(true);
  });
});

describe('what fails in a preparation', () => {
  it('is opened anew: a voice that could not be opened', async () => {
    const call = new PreparedCall({ firstMessage: FIRST }, ({ voice }) => (voice.refusals = 1));
    await call.pass(400);
    const rig = await call.begin();
    await rig.quiet(2500);
    expect(rig.ended).toEqual([]);
    expect(rig.turns).toMatchObject([{ agentText: FIRST }]);
    expect(call.voice.sessions).toHaveLength(2);
  });

  it('is opened anew: a voice that broke at the greeting, whose characters count all the same', async () => {
    const call = new PreparedCall({ firstMessage: FIRST }, ({ voice }) => (voice.breaks = 1));
    await call.pass(400);
    const rig = await call.begin();
    await rig.quiet(2500);
    expect(rig.ended).toEqual([]);
    expect(rig.turns).toMatchObject([{ agentText: FIRST }]);
    expect(call.voice.sessions[0]).toEqual({ closes: 1 });
    expect(charactersOf(rig.facts)).toEqual([FIRST.length, FIRST.length]);
  });

  it('is opened anew: a recognizer that has failed', async () => {
    const call = new PreparedCall({}, ({ ears }) => (ears.failsWhileOpened = true));
    call.preparation.answered?.();
    const rig = await call.begin();
    await rig.quiet(500);
    expect(call.ears.opens).toBe(2);
    expect(rig.ended).toEqual([]);
  });

  it('costs nothing where a provider is plain JavaScript: promises, throws and no audio', async () => {
    const call = new PreparedCall({ firstMessage: FIRST }, ({ voice, ears, model }) => {
      const open = voice.open.bind(voice);
      let tries = 0;
      voice.open = ((context: TextToSpeechContext) => {
        tries += 1;
        return tries === 1 ? Promise.reject(new Error('a promise')) : open(context);
      }) as unknown as typeof voice.open;
      const hear = ears.open.bind(ears);
      ears.open = (context) => {
        ears.open = hear;
        throw new Error(`not yet ${typeof context}`);
      };
      model.warmUp = () => {
        throw new Error('cold');
      };
    });
    call.preparation.answered?.();
    await call.pass(400);
    call.model.warmUp = () => {};
    const rig = await call.begin();
    await rig.quiet(2500);
    expect(rig.ended).toEqual([]);
    expect(rig.turns).toMatchObject([{ agentText: FIRST }]);
  });

  it('costs nothing where the voice gives something that is no audio', async () => {
    const call = new PreparedCall({ firstMessage: FIRST }, ({ voice }) => {
      const open = voice.open.bind(voice);
      voice.open = () => {
        voice.open = open;
        return {
          async *synthesize() {
            yield 'sound' as unknown as Int16Array<ArrayBuffer>;
          },
          close() {},
        };
      };
    });
    await call.pass(400);
    const rig = await call.begin();
    await rig.quiet(2500);
    expect(rig.ended).toEqual([]);
    expect(rig.turns).toMatchObject([{ agentText: FIRST }]);
  });
});

describe('a recognizer', () => {
  it.each([true, false])('that was readied writes when it always did: afterwards %s', async (isLate) => {
    const call = new PreparedCall({}, ({ ears }) => (ears.writesAfterwards = isLate));
    call.preparation.answered?.();
    const rig = await call.begin();
    await rig.quiet(1000);
    await rig.voiced(1000);
    expect(rig.player.clears).toBe(isLate ? 1 : 0);
  });

  it('that is paid by the clock is opened with the engine', async () => {
    const call = new PreparedCall({}, ({ ears }) => (ears.paidWhileOpen = true));
    call.preparation.answered?.();
    await call.pass(5000);
    expect(call.ears.opens).toBe(0);
    await call.begin();
    expect(call.ears.opens).toBe(1);
  });

  it('has what it used meanwhile booked in the call', async () => {
    const call = new PreparedCall();
    call.preparation.answered?.();
    call.ears.events.usage?.({ seconds: 2 });
    const rig = await call.begin();
    call.ears.events.usage?.({ seconds: 3 });
    const heard = rig.facts.filter((fact) => fact.type === 'usage.measured' && fact.stage === 'stt');
    expect(heard).toMatchObject([{ quantities: { audioSeconds: 2 } }, { quantities: { audioSeconds: 3 } }]);
  });
});
