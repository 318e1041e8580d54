import { describe, expect, it } from 'vitest';
import { ANSWER, answering } from './answering-rig.js';
import { CallRig, playing } from './call-rig.js';

describe('keys', () => {
  it('interrupt the agent and are a turn of their own', async () => {
    const rig = await answering(1500);
    rig.model.answer('You chose twelve.');
    rig.engine.pushDtmf('1');
    expect(rig.player.clears).toBe(1);
    await rig.quiet(1000);
    rig.engine.pushDtmf('2');
    await rig.quiet(1480);
    expect(rig.model.requests).toHaveLength(1);
    await rig.quiet(40);
    expect(rig.model.requests[1]?.messages.at(-1)).toEqual({
      role: 'user',
      content: 'The caller pressed 1 2',
    });
    await rig.quiet(2000);
    expect(rig.turns[1]).toMatchObject({
      userText: 'The caller pressed 1 2',
      agentText: 'You chose twelve.',
      latency: { totalMs: null },
    });
  });

  it('are complete with #', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer('Thank you.');
    for (const key of '42#') rig.engine.pushDtmf(key);
    await rig.quiet(20);
    expect(rig.model.requests[0]?.messages).toEqual([{ role: 'user', content: 'The caller pressed 4 2 #' }]);
  });

  it('wait for the end of an answer where they do not interrupt', async () => {
    const rig = await answering(1500, { turnTaking: { keysInterrupt: false } });
    rig.model.answer('You chose one.');
    rig.engine.pushDtmf('1');
    await rig.quiet(playing(ANSWER));
    expect(rig.player.clears).toBe(0);
    expect(rig.turns[0]).toMatchObject({ agentText: ANSWER, interrupted: false });
    expect(rig.model.requests[1]?.messages.at(-1)?.content).toBe('The caller pressed 1');
  });

  it('that are pressed while words are spoken make one turn with them', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer('Yes.');
    await rig.voiced(300);
    rig.engine.pushDtmf('5');
    rig.ears.events.final('My code is');
    await rig.quiet(1300);
    expect(rig.model.requests).toHaveLength(0);
    await rig.quiet(500);
    expect(rig.model.requests.map(({ messages }) => messages)).toEqual([
      [{ role: 'user', content: 'My code is The caller pressed 5' }],
    ]);
  });

  it('leave nothing behind', async () => {
    const rig = await answering(1500);
    rig.engine.pushDtmf('5');
    rig.engine.close();
    rig.pacer.close();
    rig.engine.pushDtmf('6');
    await rig.clock.advanceAsync(10_000);
    expect(rig.clock.pending).toBe(0);
    expect(rig.model.requests).toHaveLength(1);
  });
});
