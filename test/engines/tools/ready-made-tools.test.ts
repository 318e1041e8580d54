import { describe, expect, it } from 'vitest';
import { playing } from '../call-rig.js';
import { call, lastMessages, results, rigWith } from './tools-rig.js';

describe('end_call', () => {
  it('ends the call after the goodbye was heard, without asking again', async () => {
    const rig = await rigWith([]);
    rig.model.answer('Goodbye and thank you!', call('end_call'));
    await rig.says('That is all.');
    await rig.quiet(500);
    expect(rig.ended).toEqual([]);
    await rig.quiet(playing('Goodbye and thank you!'));
    expect(rig.ended).toMatchObject([{ reason: 'agent-hangup' }]);
    expect(rig.model.requests).toHaveLength(1);
    expect(rig.turns).toMatchObject([{ toolCalls: [{ name: 'end_call', error: null }] }]);
  });

  it('does not end it when the caller speaks before', async () => {
    const rig = await rigWith([]);
    rig.model.answer('Goodbye and thank you for your call!', call('end_call')).answer('Yes?');
    await rig.says('That is all.');
    await rig.quiet(500);
    await rig.says('Wait, one more thing.', 700);
    await rig.quiet(2000);
    expect(rig.ended).toEqual([]);
    expect(results(rig)).toEqual(['The caller spoke before you had finished. The call goes on.']);
  });
});

describe('transfer_call', () => {
  const transferTargets = { sales: '+15550123', 'front desk': '+15550124' };
  const SAID = 'I connect you.';

  it('is not offered without targets', async () => {
    const rig = await rigWith([]);
    rig.model.answer(call('transfer_call', { to: '+15550199' })).answer('Sorry.');
    await rig.says('Connect me.');
    await rig.quiet(1000);
    expect(rig.model.requests[0]?.tools?.map(({ name }) => name)).toEqual(['end_call', 'send_dtmf']);
    expect(rig.orders).toEqual([]);
    expect(results(rig)[0]).toMatch(/no tool/);
  });

  it.each(['+15550199', 'constructor', 'nobody'])('takes names and nothing else: %s', async (to) => {
    const rig = await rigWith([], { transferTargets });
    rig.model.answer(call('transfer_call', { to })).answer('Sorry.');
    await rig.says('Connect me.');
    await rig.quiet(1000);
    expect(rig.orders).toEqual([]);
    expect(results(rig)[0]).toMatch(/must be one of/);
  });

  it('waits for the words before it, and leaves with the caller', async () => {
    const rig = await rigWith([], { transferTargets });
    rig.model.answer(SAID, call('transfer_call', { to: 'sales' }));
    rig.transfer = () => {
      rig.engine.hold();
      return new Promise(() => {});
    };
    await rig.says('Connect me.');
    await rig.quiet(300);
    expect(rig.orders).toEqual([]);
    await rig.quiet(playing(SAID));
    expect(rig.orders).toEqual(['transfer +15550123']);
    expect(rig.turns).toMatchObject([{ agentText: SAID, interrupted: false, toolCalls: [{ error: null }] }]);
    rig.engine.close();
    expect(rig.clock.pending).toBe(0);
  });

  it('counts as done when the call ends with it, also when nothing was said before', async () => {
    const rig = await rigWith([], { transferTargets });
    rig.model.answer(call('transfer_call', { to: 'sales' }));
    rig.transfer = () => {
      rig.engine.hold();
      return new Promise(() => {});
    };
    await rig.says('Connect me.');
    await rig.quiet(1000);
    rig.engine.close();
    expect(rig.turns).toMatchObject([
      { userText: 'Connect me.', toolCalls: [{ name: 'transfer_call', error: null }] },
    ]);
  });

  it.each([SAID, ''])('tells the model how it failed when the caller is back, after %j', async (said) => {
    const rig = await rigWith([], { transferTargets });
    rig.model.answer(said, call('transfer_call', { to: 'sales' })).answer('They are busy.');
    let fail: () => void = () => {};
    rig.transfer = () => {
      rig.engine.hold();
      return new Promise((resolve) => {
        fail = () => {
          resolve('busy');
          rig.engine.resume('listen');
        };
      });
    };
    await rig.says('Connect me.');
    await rig.quiet(2000);
    fail();
    await rig.quiet(3000);
    expect(results(rig)).toEqual([expect.stringContaining('busy')]);
    expect(lastMessages(rig).at(-1)?.role).toBe('tool');
    expect(rig.turns.at(-1)).toMatchObject({ agentText: 'They are busy.' });
    expect(rig.ended).toEqual([]);
  });

  it('is not done when the caller speaks before the words were heard', async () => {
    const rig = await rigWith([], { transferTargets });
    rig.model
      .answer('I connect you with somebody in sales.', call('transfer_call', { to: 'sales' }))
      .answer('Yes?');
    await rig.says('Connect me.');
    await rig.quiet(500);
    await rig.says('No, wait please.', 700);
    await rig.quiet(2000);
    expect(rig.orders).toEqual([]);
    expect(results(rig)[0]).toMatch(/Not done/);
  });

  it('tells the model of a carrier that refuses', async () => {
    const { CarrierError } = await import('../../../src/base/errors.js');
    const rig = await rigWith([], { transferTargets });
    rig.model.answer(call('transfer_call', { to: 'sales' })).answer('Sorry.');
    rig.transfer = () =>
      Promise.reject(new CarrierError('The carrier refused.', { status: 400, retryable: false }));
    await rig.says('Connect me.');
    await rig.quiet(2000);
    expect(results(rig)).toEqual(['{"error":"The carrier refused."}']);
    expect(rig.turns).toMatchObject([
      { agentText: 'Sorry.', toolCalls: [{ error: 'The carrier refused.' }] },
    ]);
  });
});

describe('send_dtmf', () => {
  it('presses keys, and goes on when the stream was replaced for it', async () => {
    const rig = await rigWith([]);
    rig.model.answer('One moment.', call('send_dtmf', { digits: '1w2#' })).answer('Done.');
    rig.sendDigits = async () => rig.engine.hold();
    await rig.says('Press one.');
    await rig.quiet(2000);
    expect(rig.orders).toEqual(['keys 1w2#']);
    rig.engine.resume('continue');
    await rig.quiet(2000);
    expect(results(rig)).toEqual(['The keys were pressed.']);
    expect(rig.turns.map(({ agentText }) => agentText)).toEqual(['One moment.', 'Done.']);
  });

  it('refuses what is no key', async () => {
    const rig = await rigWith([]);
    rig.model.answer(call('send_dtmf', { digits: 'hello' })).answer('Sorry.');
    await rig.says('Press one.');
    await rig.quiet(1000);
    expect(rig.orders).toEqual([]);
    expect(results(rig)[0]).toMatch(/pattern/);
  });
});
