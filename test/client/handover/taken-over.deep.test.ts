import { describe, expect, it } from 'vitest';
import { findProcesses } from '../../../src/client/handover/processes.js';
import type { CallEvent } from '../../../src/contract/call-event.js';
import { SIMULATED_CARRIERS } from '../../../src/contract/call-record.js';
import type { Offhook, ServeOptions } from '../../../src/index.js';
import { asksUpon, WAIT } from '../../support/asking-caller.js';
import { eventually } from '../../support/carrier-phone.js';
import { Deploy } from '../../support/deploy.js';
import { bytesBelow } from '../../support/folder-bytes.js';

/** The proxy is switched before the call moves, or not at all. */
const CELLS = SIMULATED_CARRIERS.flatMap((id) => [true, false].flatMap((isSwitched) => ({ id, isSwitched })));

describe('a call that the old server deletes', () => {
  it('leaves the disk that the next one has', async () => {
    await using deploy = await Deploy.on('carrier-a');
    const old = await deploy.serve();
    deploy.proxy.switchTo(old.port);
    await deploy.simulator.call({
      script: [WAIT, { type: 'say', text: 'My parrot is ill.' }, WAIT, { type: 'hang-up' }],
    });
    const over = await eventually('the end', async () => old.ended[0]);
    const isDeleted = new AbortController();
    const calling = deploy.simulator.call({ script: asksUpon(isDeleted.signal) });
    await eventually('the other call', async () => (await old.server.calls.active())[0]);
    const next = await deploy.serve();
    expect(await bytesBelow(deploy.dataDir)).toMatch(/parrot/i);
    await old.phone.forget(over.callId);
    expect(await bytesBelow(deploy.dataDir)).not.toMatch(/parrot/i);
    expect(await next.server.calls.get(over.callId)).toBeUndefined();
    isDeleted.abort();
    await calling;
  });
});

describe.each(SIMULATED_CARRIERS)('a call that the old server has lost without knowing, on %s', (id) => {
  it('is let go as soon as that hears of a higher term', async () => {
    await using deploy = await Deploy.on(id);
    const old = await deploy.serve();
    deploy.proxy.switchTo(old.port);
    const calling = deploy.simulator.call({ script: [WAIT, { type: 'pause', durationMs: 20_000 }] });
    const { callId } = await eventually('the greeting', () =>
      old.facts.find(({ type }) => type === 'turn.completed'),
    );
    await deploy.serve();
    const { found } = await findProcesses(deploy.dataDir);
    const next = found.find(({ status }) => status.state === 'serving');
    const fact = { type: 'turn.started', turnIndex: 5, callId, nodeId: 'a third', term: 9, seq: 1, at: 5 };
    await next?.peer.ask('/facts', { body: JSON.stringify({ facts: [fact] }), timeoutMs: 5000 });
    for (const { peer } of found) peer.close();
    // Whatever it states is answered with that.
    void old.phone.say(callId, 'Are you there?').catch(() => {});
    await eventually('the end of the stream', () =>
      old.logger.sentences('warn').includes('another process has the call: it is let go') ? true : undefined,
    );
    const count = old.facts.length;
    await calling;
    expect(old.facts.slice(count).filter((each) => each.callId === callId)).toEqual([]);
    expect(old.ended).toEqual([]);
  });
});

describe('a call that rings as another server takes over', () => {
  const chooses = (phone: Offhook): Partial<ServeOptions> => {
    const billing = phone.agent({
      name: 'billing',
      firstMessage: 'Hello {who}, billing speaking.',
      idle: false,
    });
    return {
      agent: () => ({ agent: billing, variables: { who: 'Ada' } }),
      fallbackAgent: phone.agent({ name: 'reception', firstMessage: 'Reception speaking.', idle: false }),
    };
  };

  it.each(CELLS)(
    'is answered as its agent function has decided, on $id, proxy switched: $isSwitched',
    async ({ id, isSwitched }) => {
      await using deploy = await Deploy.on(id);
      const old = await deploy.serve({}, chooses);
      deploy.proxy.switchTo(old.port);
      deploy.simulator.disturb({ streamDelayMs: 2500 });
      const calling = deploy.simulator.call({ script: [WAIT, { type: 'hang-up' }] });
      await eventually('the choice', () =>
        old.logger.sentences('info').includes('call answered') ? true : undefined,
      );
      const next = await deploy.serve({}, chooses);
      if (isSwitched) deploy.proxy.switchTo(next.port);
      const first = (type: CallEvent['type']) =>
        eventually(type, () => [...old.facts, ...next.facts].find((fact) => fact.type === type));
      expect(await first('call.started')).toMatchObject({ agent: 'billing' });
      expect(await first('turn.completed')).toMatchObject({
        turn: { agentText: 'Hello Ada, billing speaking.' },
      });
      await calling;
    },
  );
});
