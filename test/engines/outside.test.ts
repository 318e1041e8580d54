import { describe, expect, it } from 'vitest';
import type { OutsideEffect } from '../../src/conversation/outside.js';
import { createAgentTools } from '../../src/engines/tools/agent-tool.js';
import { FakeClock } from '../support/fake-clock.js';
import { CallRig, playing } from './call-rig.js';
import { GONE } from './fallback-rig.js';
import { RealtimeRig } from './realtime-rig.js';

/** Whoever has the call, and takes a second to write an effect down. */
function writing(clock: FakeClock) {
  const begun: OutsideEffect[] = [];
  const done: string[] = [];
  const beforeOutside = (effect: OutsideEffect) => {
    begun.push(effect);
    return new Promise<void>((resolve) => void clock.after(1000, resolve));
  };
  return { begun, done, beforeOutside };
}

function setUp(mode: 'pipeline' | 'realtime', calls: { name: string; args?: object }[]) {
  const clock = new FakeClock();
  const written = writing(clock);
  const execute = () => void written.done.push('order');
  const options = {
    clock,
    beforeOutside: written.beforeOutside,
    tools: createAgentTools([{ name: 'order', description: 'Orders bread.', execute }]),
    transferTargets: { boss: '+15550199' },
  };
  const toolCalls = calls.map(({ name, args = {} }, index) => ({ id: `c${index}`, name, args }));
  const ask = async (text: string) => {
    if (mode === 'realtime') {
      const rig = new RealtimeRig(options).start();
      rig.model.hears('Please.');
      rig.model.answers(text, toolCalls);
      await rig.wait(0);
      return rig;
    }
    const rig = await new CallRig(options).start();
    rig.model.answer(
      text,
      ...toolCalls.map(({ id, name, args }) => ({
        type: 'tool-call' as const,
        id,
        name,
        arguments: args as Record<string, unknown>,
        argumentsText: JSON.stringify(args),
      })),
    );
    await rig.says('Please.');
    return rig;
  };
  return { ...written, ask };
}

describe.each(['pipeline', 'realtime'] as const)(
  'what a %s call does outside is told before it is done:',
  (mode) => {
    it('a tool', async () => {
      const { begun, done, ask } = setUp(mode, [{ name: 'order', args: { loaves: 2 } }]);
      const rig = await ask('');
      expect(begun).toMatchObject([
        { type: 'tool', isOutside: true, call: { id: 'c0', name: 'order', arguments: { loaves: 2 } } },
      ]);
      // What is written down with it knows that it runs.
      const { tools } = rig.engine.state.turns;
      expect(Object.values(tools)).toMatchObject([{ call: { id: 'c0' }, status: 'running' }]);
      await rig.wait(500);
      expect(done).toEqual([]);
      await rig.wait(600);
      expect(done).toEqual(['order']);
    });

    it.each([
      {
        name: 'transfer_call',
        args: { to: 'boss' },
        effect: { type: 'transfer', to: '+15550199' },
        order: 'transfer +15550199',
      },
      {
        name: 'send_dtmf',
        args: { digits: '12#' },
        effect: { type: 'keys', digits: '12#' },
        order: 'keys 12#',
      },
    ])('$effect.type', async ({ name, args, effect, order }) => {
      const { begun, ask } = setUp(mode, [{ name, args }]);
      const rig = await ask('');
      expect(begun).toMatchObject([{ ...effect, isOutside: true, call: { name } }]);
      expect(rig.orders).toEqual([]);
      await rig.wait(1100);
      expect(rig.orders).toEqual([order]);
    });

    it('a hang-up, and nobody is heard any more', async () => {
      const { begun, ask } = setUp(mode, [{ name: 'end_call' }]);
      const rig = await ask('Goodbye.');
      await rig.wait(playing('Goodbye.'));
      expect(begun).toEqual([{ type: 'hang-up', isOutside: true, reason: 'agent-hangup' }]);
      expect(rig.engine.state.floor.floor.phase).toBe('ending');
      expect(rig.ended).toEqual([]);
      rig.engine.pushDtmf('1');
      await rig.wait(1100);
      expect(rig.ended).toMatchObject([{ reason: 'agent-hangup' }]);
    });

    it('a hang-up, which is done though the vendors are lost meanwhile', async () => {
      const { ask } = setUp(mode, [{ name: 'end_call' }]);
      const rig = await ask('Goodbye.');
      await rig.wait(playing('Goodbye.'));
      (rig instanceof RealtimeRig ? rig.model : rig.ears).events.failed(GONE);
      await rig.wait(1100);
      expect(rig.ended).toMatchObject([{ reason: 'agent-hangup' }]);
    });

    it('but nothing that is wrong, or spoken over', async () => {
      const { begun, ask } = setUp(mode, [
        { name: 'nothing' },
        { name: 'transfer_call', args: { to: 'stranger' } },
        { name: 'send_dtmf', args: { digits: 'call me' } },
      ]);
      const rig = await ask('');
      await rig.wait(1000);
      expect(begun).toEqual([]);
      expect(rig.orders).toEqual([]);
    });
  },
);
