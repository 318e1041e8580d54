// A model that is an agent of its vendor: it answers whatever it is told, and is paid for by the time.
import { describe, expect, it } from 'vitest';
import { RealtimeRig } from '../realtime-rig.js';

const UNINTERRUPTED = { firstMessage: 'Hello!', turnTaking: { interruptibleGreeting: false } };

describe('an answer that the model gives by itself', () => {
  it('is not asked for once more when the agent has finished', async () => {
    const rig = new RealtimeRig(UNINTERRUPTED).start();
    rig.model.answers('Hello!');
    rig.model.events.speechStarted();
    rig.model.events.speechEnded({ itemId: 'u1', agoMs: 0 });
    rig.model.events.userText({ itemId: 'u1', text: 'Hi.', final: true });
    rig.model.answers('How are you?');
    await rig.wait(3000);
    expect(rig.model.asked).toEqual(['say Hello!', 'interruptible true']);
    expect(rig.turns.at(-1)).toMatchObject({ userText: 'Hi.', agentText: 'Hello! How are you?' });
  });

  it('is asked for when what began meanwhile was the greeting', async () => {
    const rig = new RealtimeRig(UNINTERRUPTED).start();
    rig.model.events.speechStarted();
    rig.model.events.speechEnded({ itemId: 'u1', agoMs: 0 });
    rig.model.answers('Hello!');
    await rig.wait(1000);
    expect(rig.model.asked).toEqual(['say Hello!', 'interruptible true', 'respond']);
  });
});

describe('time that is paid for', () => {
  it('is what the model uses', () => {
    const rig = new RealtimeRig().start();
    rig.model.events.usage({ kind: 'session', seconds: 2.5 });
    rig.model.events.usage({ kind: 'session', seconds: Number.NaN });
    const usage = { type: 'usage.measured', stage: 'llm', turnIndex: null };
    expect(rig.facts.filter(({ type }) => type === 'usage.measured')).toEqual([
      { ...usage, quantities: { audioSeconds: 2.5 }, isGuess: false },
      { ...usage, quantities: {}, isGuess: true },
    ]);
  });
});
