import { describe, expect, it } from 'vitest';
import { ANSWER, answering, REST_OF_ANSWER } from './answering-rig.js';
import { CallRig, FakeRecognizer, MS_PER_CHAR, playing } from './call-rig.js';

describe('a recognizer that ends turns itself', () => {
  const ears = () => new FakeRecognizer({ ownsTurnTaking: true });

  it('decides, whatever the silence', async () => {
    const rig = await new CallRig({ ears: ears() }).start();
    rig.model.answer('Yes.');
    await rig.voiced(400);
    rig.ears.events.final('Are you open?');
    await rig.quiet(2000);
    expect(rig.model.requests).toHaveLength(0);
    rig.ears.events.turnEnded?.();
    await rig.quiet(20);
    expect(rig.model.requests[0]?.messages).toEqual([{ role: 'user', content: 'Are you open?' }]);
    expect(rig.turns).toHaveLength(0);
    await rig.quiet(500);
    expect(rig.turns[0]?.latency.endpointingMs).toBe(2000);
  });

  it('is not waited for without end', async () => {
    const rig = await new CallRig({ ears: ears() }).start();
    rig.model.answer('Yes.');
    await rig.voiced(400);
    rig.ears.events.final('Are you open?');
    await rig.quiet(3020);
    expect(rig.model.requests).toHaveLength(1);
    rig.ears.events.turnEnded?.();
    await rig.quiet(2000);
    expect(rig.model.requests).toHaveLength(1);
  });

  it('may say so without any sound, and for nothing', async () => {
    const rig = await new CallRig({ ears: ears() }).start();
    rig.model.answer('Yes.');
    rig.ears.events.turnEnded?.();
    rig.ears.events.final('');
    rig.ears.events.turnEnded?.();
    await rig.quiet(100);
    expect(rig.model.requests).toHaveLength(0);
    rig.ears.events.final('Hello?');
    rig.ears.events.turnEnded?.();
    await rig.quiet(100);
    expect(rig.model.requests).toHaveLength(1);
  });

  it('does not decide where it does not say that it does', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer('Yes.');
    await rig.voiced(400);
    rig.ears.events.partial('are you');
    rig.ears.events.turnEnded?.();
    await rig.quiet(200);
    expect(rig.model.requests).toHaveLength(0);
  });
});

describe('what the recognizer tells', () => {
  it('ends the wait at once when nothing is open', async () => {
    const rig = await answering(1500);
    await rig.voiced(500);
    expect(rig.player.clears).toBe(1);
    rig.ears.onFinish = () => rig.ears.events.final('');
    await rig.quiet(520);
    expect(rig.voice.spoken.filter((text) => text.startsWith('On Saturday'))).toHaveLength(2);
    await rig.quiet(playing(ANSWER));
    expect(rig.turns[1]).toMatchObject({ userText: '', agentText: REST_OF_ANSWER });
  });

  it('opens a barge-in that is dismissed when nothing follows', async () => {
    const rig = await answering(1500);
    rig.ears.events.speechStarted?.(1500);
    await rig.quiet(playing(ANSWER));
    expect(rig.player.clears).toBe(0);
    expect(rig.turns).toMatchObject([{ agentText: ANSWER }]);
  });

  it('may come in any order, twice, empty and late', async () => {
    const rig = await new CallRig({}).start();
    const { events } = rig.ears;
    rig.model.answer('Certainly, at six.');
    events.final('');
    events.partial('   ');
    events.turnEnded?.();
    events.speechStarted?.(-5);
    events.usage?.({ seconds: Number.NaN });
    await rig.voiced(300);
    events.final('A table');
    events.partial('');
    events.final('');
    events.partial('for two');
    events.final('for two.');
    await rig.quiet(600);
    events.partial('for two');
    events.final('for two.');
    await rig.quiet(100);
    expect(rig.model.requests[0]?.messages).toEqual([{ role: 'user', content: 'A table for two.' }]);
    expect(rig.ended).toEqual([]);
  });
});

it('warms the model up again when the caller speaks after a long pause', async () => {
  const rig = await new CallRig({}).start();
  expect(rig.model.warmUps).toBe(1);
  await rig.voiced(100);
  expect(rig.model.warmUps).toBe(1);
  await rig.quiet(31_000);
  await rig.voiced(100);
  expect(rig.model.warmUps).toBe(2);
});

it('begins with a short clause when no sentence ends', async () => {
  const rig = await new CallRig({}).start();
  rig.model.answers.push(async function* () {
    yield { type: 'text', delta: 'Of course we are open, and you' };
    await new Promise<void>((resolve) => rig.clock.after(2000, resolve));
    yield { type: 'text', delta: ' may come whenever you like.' };
  });
  await rig.says('Open?');
  expect(rig.voice.spoken).toEqual(['Of course we are open,']);
  await rig.quiet(5000);
  expect(rig.turns[0]?.agentText).toBe('Of course we are open, and you may come whenever you like.');
});

it('does not speak what comes late while the next answer is spoken', async () => {
  const rig = await answering(1500);
  rig.model.answer('The second answer, which is another one.');
  await rig.voiced(500);
  rig.ears.events.final('And on Sunday?');
  await rig.quiet(6000);
  expect(rig.turns.map(({ agentText }) => agentText).at(-1)).toBe('The second answer, which is another one.');
  const heard = rig.turns.reduce((sum, { agentText }) => sum + agentText.length * MS_PER_CHAR, 0);
  expect(Math.abs(rig.heardMs - heard)).toBeLessThan(700);
});

it.each(['partial', 'final'] as const)(
  'answers words that stand still in a sound that never ends (%s)',
  async (kind) => {
    const rig = await new CallRig({}).start();
    rig.model.answer('Yes.');
    await rig.voiced(400);
    rig.ears.events[kind]('Are you open?');
    await rig.voiced(4000);
    expect(rig.model.requests).toHaveLength(1);
    expect(rig.heardMs).toBeGreaterThan(0);
    expect(rig.player.clears).toBe(0);
  },
);
