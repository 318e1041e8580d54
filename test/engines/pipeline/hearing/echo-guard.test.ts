// Lines that bring the agent's voice back, and callers who are heard all the same.
import { describe, expect, it } from 'vitest';
import { createOutboundConverter } from '../../../../src/audio/converter.js';
import { PCM_16K } from '../../../../src/audio/format.js';
import { Pacer } from '../../../../src/audio/pacer.js';
import { EchoGuard } from '../../../../src/engines/pipeline/hearing/echo-guard.js';
import { LineSound } from '../../../../src/engines/pipeline/hearing/line-sound.js';
import { MeteredPlayout } from '../../../../src/engines/pipeline/hearing/played-level.js';
import { loadTranscoder } from '../../../../src/transcoder/select.js';
import { CarrierPlayer } from '../../../support/carrier-player.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { CallRig, lateEars, MS_PER_CHAR, type RigOptions } from '../../call-rig.js';

const GREETING = 'Hello, this is the bakery.';
const GOODBYE = 'Goodbye then.';
const IDLE = { afterMs: 3000, prompts: ['Are you there?'], goodbye: GOODBYE };
/** The voice of the rig is at 1000: this is it 10 dB lower, and 20 dB lower. */
const LOUD_ECHO = 316;
const ECHO = 100;
const playing = (text: string) => text.length * MS_PER_CHAR;
const userEntries = (rig: CallRig) => rig.transcript.filter(({ role }) => role === 'user');

async function greeting(options: RigOptions = {}): Promise<CallRig> {
  const rig = await new CallRig({
    firstMessage: GREETING,
    ears: lateEars(),
    turnTaking: { carefulMs: 3000 },
    ...options,
  }).start();
  rig.model.answer('Of course.');
  return rig;
}

/** The goodbye has begun to sound. */
async function leaving(options: RigOptions = {}): Promise<CallRig> {
  const rig = await greeting({ idle: IDLE, ...options });
  while (!rig.voice.spoken.includes(GOODBYE)) await rig.quiet(20);
  return rig;
}

describe('the last words of a call to which nobody says anything', () => {
  it.each([
    ['20 dB lower', ECHO],
    ['10 dB lower', LOUD_ECHO],
  ])('come back %s, and are recognized after their end: the call ends', async (_, level) => {
    const rig = await leaving();
    await rig.quiet(120);
    await rig.voiced(playing(GOODBYE) - 40, level);
    rig.ears.events.partial('goodbye');
    await rig.voiced(60, level);
    rig.ears.events.partial('goodbye then.');
    rig.ears.events.final('goodbye then.');
    // Sooner than the agent would ask again.
    await rig.quiet(2700);
    expect(rig.ended).toMatchObject([{ reason: 'idle' }]);
    expect(rig.voice.spoken).toEqual([GREETING, 'Are you there?', GOODBYE]);
    expect(userEntries(rig)).toEqual([]);
  });

  it('come back two seconds later without any sound that is noticed, in pieces: the call ends', async () => {
    const rig = await leaving();
    await rig.voiced(playing(GOODBYE) + 60, ECHO);
    await rig.quiet(700);
    for (const piece of ['good', 'goodbye', 'e', 'then']) rig.ears.events.final(piece);
    await rig.quiet(3000);
    expect(rig.ended).toMatchObject([{ reason: 'idle' }]);
    expect(userEntries(rig)).toEqual([]);
  });

  it('are said once, also to music', async () => {
    const rig = await leaving();
    await rig.voiced(12_000, ECHO);
    expect(rig.ended).toMatchObject([{ reason: 'idle' }]);
    expect(rig.voice.spoken.filter((text) => text === GOODBYE)).toHaveLength(1);
  });

  it('are not the last when the caller says something', async () => {
    const rig = await leaving();
    await rig.quiet(300);
    await rig.says('No wait, I am here', 700);
    await rig.quiet(1000);
    expect(rig.ended).toEqual([]);
    expect(rig.model.requests).toHaveLength(1);
  });
});

describe('a loud echo', () => {
  it('interrupts nobody by its length once its words were recognized', async () => {
    const rig = await greeting({ firstMessage: `${GREETING} What would you like to have today?` });
    await rig.quiet(140);
    await rig.voiced(300, LOUD_ECHO);
    rig.ears.events.partial('hello,');
    await rig.voiced(900, LOUD_ECHO);
    expect(rig.player.clears).toBe(0);
    // Louder than any echo.
    await rig.voiced(900);
    expect(rig.player.clears).toBe(1);
  });

  it('is known when its words are torn', async () => {
    const rig = await greeting();
    await rig.voiced(600, LOUD_ECHO);
    rig.ears.events.partial('hel l this');
    expect([rig.player.clears, userEntries(rig)]).toEqual([0, []]);
  });

  it('that is never recognized interrupts nobody', async () => {
    const rig = await greeting({ firstMessage: `${GREETING} What would you like to have today?` });
    for (let second = 0; second < 30; second += 1) {
      await rig.voiced(1000, LOUD_ECHO);
      rig.ears.events.final('');
      await rig.quiet(2200);
    }
    expect(rig.player.clears).toBe(0);
    expect(rig.turns.at(-1)).toMatchObject({ interrupted: false });
  });
});

describe('an echo that only the recognizer hears', () => {
  it('of what was said before is known while the next answer is thought about', async () => {
    const rig = await greeting();
    await rig.quiet(playing(GREETING) - 100);
    await rig.says('Two rolls please');
    rig.ears.events.final('the bakery.');
    await rig.quiet(1500);
    expect(userEntries(rig).map(({ text }) => text)).toEqual(['Two rolls please']);
  });
});

describe('a label in the place of words', () => {
  it.each([
    ['at the level of an echo is one', ECHO, 0],
    ['at a caller’s level is none', 5000, 1],
  ])('%s', async (_, level, requests) => {
    const rig = await greeting();
    await rig.quiet(200);
    await rig.voiced(playing(GREETING) - 150, level);
    rig.ears.events.final('[speech]');
    await rig.quiet(2000);
    expect(rig.model.requests).toHaveLength(requests);
  });
});

describe('a caller who says what the agent has said', () => {
  it.each([
    ['two seconds later, at any level', 2000, ECHO, 1],
    ['half a second later, at any level', 500, ECHO, 1],
    ['right behind it, at a caller’s level', 60, 5000, 1],
    ['right behind it, at the level of an echo', 60, ECHO, 1],
  ])('%s', async (_, laterMs, level, requests) => {
    const rig = await greeting();
    await rig.quiet(playing(GREETING) + laterMs);
    await rig.voiced(600, level);
    rig.ears.events.final('the bakery');
    await rig.quiet(2000);
    expect(rig.model.requests).toHaveLength(requests);
  });

  it('is heard where the echo has not yet come to its end', async () => {
    const rig = await greeting();
    await rig.voiced(playing(GREETING) + 200, ECHO);
    await rig.quiet(200);
    await rig.voiced(500);
    rig.ears.events.final('the bakery');
    await rig.quiet(2000);
    expect(rig.model.requests).toHaveLength(1);
  });
});

it('takes words for the agent’s for two and a half seconds behind them', () => {
  const clock = new FakeClock();
  const player = new CarrierPlayer({ clock, bytesPerMs: 32, delayMs: 0, onMark() {} });
  const converter = createOutboundConverter(PCM_16K, loadTranscoder('javascript'));
  const guard = new EchoGuard({
    clock,
    playout: new MeteredPlayout(new Pacer({ converter, sink: player, clock })),
    sound: new LineSound(),
    stopWords: new Set(),
    filler: () => undefined,
  });
  guard.speaking({ audible: true, saidBetween: () => GREETING });
  const soundBeganAt = clock.now();
  clock.advance(1000);
  guard.silent();
  const isEcho = () => guard.isEcho('the bakery', { isFinal: true, soundBeganAt });
  clock.advance(2499);
  expect(isEcho()).toBe(true);
  clock.advance(1);
  expect(isEcho()).toBe(false);
});
