// A process that stands still while calls go to or from it: its socket listens, and nothing answers. The other one goes on with what it has.
import { expect, it } from 'vitest';
import { SIMULATED_CARRIERS } from '../../../src/contract/call-record.js';
import type { CallerStep } from '../../../src/testing/index.js';
import { runCommand } from '../../cli/run-command.js';
import { asksUpon, WAIT } from '../../support/asking-caller.js';
import { eventually } from '../../support/carrier-phone.js';
import { Deploy } from '../../support/deploy.js';
import type { ForkedPhone, ServedPhone } from '../../support/served-phone.js';

const HANG_UP: CallerStep = { type: 'hang-up' };
const SAID = ['Hello, how can I help you?', 'What time is it?', /^I heard: What time is it\?/];

/** Stops it until the block is over. */
function freeze({ child }: ForkedPhone): Disposable {
  child.kill('SIGSTOP');
  return { [Symbol.dispose]: () => void child.kill('SIGCONT') };
}

const greeted = ({ facts }: Pick<ServedPhone, 'facts'>) =>
  eventually('the greeting', () => facts.find(({ type }) => type === 'turn.completed'), 40_000);
const ended = ({ ended }: Pick<ServedPhone, 'ended'>, callId?: string) =>
  eventually('the end', () => ended.find((each) => callId === undefined || each.callId === callId), 40_000);

it('a server that is frozen is not taken for none', { timeout: 120_000 }, async () => {
  await using deploy = await Deploy.on('carrier-a');
  const old = await deploy.fork();
  using _ = freeze(old);
  const { code, out, errors } = await runCommand(['status', '--data-dir', deploy.dataDir]);
  expect([code, out, errors]).toEqual([1, '', expect.stringMatching(/^1 server on .* does not answer/)]);
  await expect(deploy.serve()).rejects.toMatchObject({
    code: 'CONFIG_CONFLICT',
    message: expect.stringContaining('does not answer'),
  });
});

it.each(SIMULATED_CARRIERS)(
  'the process before is frozen: the next one answers callers, and gets its calls later, on %s',
  { timeout: 120_000 },
  async (id) => {
    await using deploy = await Deploy.on(id);
    const old = await deploy.fork();
    deploy.proxy.switchTo(old.port);
    const isMoved = new AbortController();
    const calling = deploy.simulator.call({ script: asksUpon(isMoved.signal) });
    const { callId } = await greeted(old);
    const next = await deploy.serve();
    deploy.proxy.switchTo(next.port);
    {
      using _ = freeze(old);
      expect(await deploy.simulator.call({ script: [WAIT, HANG_UP] })).toMatchObject({
        ok: true,
        protocolErrors: [],
      });
      expect(await ended(next)).toMatchObject({ endReason: 'caller-hangup', term: 1, error: null });
    }
    await eventually(
      'the first call',
      () => next.facts.find((fact) => fact.callId === callId && fact.type === 'incident.noted'),
      40_000,
    );
    isMoved.abort();
    expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
    const record = await ended(next, callId);
    expect(record).toMatchObject({ endReason: 'caller-hangup', term: 2, error: null });
    expect(record.transcript.map(({ text }) => text)).toEqual(
      SAID.map((line) => (typeof line === 'string' ? line : expect.stringMatching(line))),
    );
    expect(next.logger.sentences('error')).toEqual([]);
  },
);

it.each(SIMULATED_CARRIERS)(
  'the process after is frozen: a call is not disturbed, and goes there later, on %s',
  { timeout: 120_000 },
  async (id) => {
    await using deploy = await Deploy.on(id);
    const old = await deploy.serve();
    deploy.proxy.switchTo(old.port);
    const [isFrozen, isMoved] = [new AbortController(), new AbortController()];
    const calling = deploy.simulator.call({
      script: [...asksUpon(isFrozen.signal).slice(0, -1), ...asksUpon(isMoved.signal).slice(1)],
    });
    const { callId } = await greeted(old);
    const next = await deploy.fork();
    const orders = () => deploy.simulator.requests.filter(({ purpose }) => purpose === 'start-stream').length;
    const before = orders();
    {
      using _ = freeze(next);
      // By now it would have moved: nobody speaks.
      await eventually('the time to move', () =>
        old.logger.sentences('info').some((line) => line.startsWith('handing over')) ? true : undefined,
      );
      await new Promise((resolve) => setTimeout(resolve, 5000));
      isFrozen.abort();
      await eventually('the answer', () =>
        old.facts.find((fact) => fact.type === 'turn.completed' && fact.turn.index === 1),
      );
      expect(orders()).toBe(before);
      // Whoever calls meanwhile hears that nobody is free, and does not wait for the one that stands still.
      expect(await deploy.simulator.call({ script: [HANG_UP] })).toMatchObject({ protocolErrors: [] });
    }
    await eventually(
      'the call there',
      () => next.facts.find((fact) => fact.callId === callId && fact.type === 'incident.noted'),
      40_000,
    );
    isMoved.abort();
    expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
    expect(await ended(next, callId)).toMatchObject({
      endReason: 'caller-hangup',
      term: 2,
      error: null,
      incidents: [{ code: 'process-replaced' }],
    });
    expect(old.ended).toMatchObject([{ endReason: 'over-capacity' }]);
    await old.server.closed;
    expect(old.logger.sentences('error')).toEqual([]);
  },
);
