// A call that another process had placed: application code is told of it here what it was told there.
import { describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../src/base/log.js';
import type { LeftCall } from '../../src/calls/resume/call-state.js';
import { LiveCalls, type LiveCallsOptions } from '../../src/client/live-calls.js';
import { Recipes } from '../../src/client/recipes.js';
import type { EngineRecipe } from '../../src/engines/engine.js';
import { Agent } from '../../src/options/agent.js';
import { CallRig, FakeModel, FakeRecognizer, FakeVoice } from '../engines/call-rig.js';

describe('a call that is taken up', () => {
  it('has its agent, and the variables that it was placed with', async () => {
    const guardrail = vi.fn(() => true);
    const agent = new Agent({
      name: 'reminders',
      stt: new FakeRecognizer(),
      llm: new FakeModel(),
      tts: new FakeVoice(),
      firstMessage: 'Hello, {name}.',
      variables: { name: 'you', city: 'Bern' },
      guardrails: [guardrail],
    });
    let recipe: EngineRecipe | undefined;
    const parts = {
      options: { resume: { message: undefined } },
      agents: { own: new Agent({}), named: (name: string) => (name === 'reminders' ? agent : undefined) },
      recipes: new Recipes({ onMessage: undefined, logger: silentLogger }),
      desk: {
        resume: (_: LeftCall, toHow: () => { recipe: EngineRecipe }) => {
          recipe = toHow().recipe;
          return true;
        },
      },
      logger: silentLogger,
    } as unknown as LiveCallsOptions;
    const left = {
      record: { callId: 'call-1', agent: 'reminders' },
      state: { outbound: { texts: { variables: { name: 'Ada' } } } },
    } as unknown as LeftCall;
    expect(new LiveCalls(parts).takeUp(left, { isStreamThere: false })).toBe(true);
    if (recipe === undefined) throw new Error('nobody goes on');
    await new CallRig({ recipe }).start();
    expect(guardrail.mock.calls).toEqual([
      [
        'Hello, Ada.',
        {
          callId: 'call-1',
          direction: 'inbound',
          caller: '+15550100',
          callee: '+15550111',
          agent: 'reminders',
          variables: { name: 'Ada', city: 'Bern' },
        },
      ],
    ]);
  });
});
