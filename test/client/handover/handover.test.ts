// Calls that go from one server to the next in the middle.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { Handover } from '../../../src/client/handover/handover.js';
import { SIMULATED_CARRIERS } from '../../../src/contract/call-record.js';
import { asksUpon } from '../../support/asking-caller.js';
import { eventually, nothingIsKept } from '../../support/carrier-phone.js';
import { Deploy } from '../../support/deploy.js';
import { isDeep } from '../../support/depth.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

/** The proxy is switched before the call moves, or not at all. */
const CELLS = SIMULATED_CARRIERS.flatMap((id, index) =>
  [true, false].flatMap((isSwitched) => (isDeep || isSwitched === (index === 0) ? [{ id, isSwitched }] : [])),
);

describe('a server that takes over', () => {
  it.concurrent.each(CELLS)(
    'goes on with a call in the middle, on $id, proxy switched: $isSwitched',
    async ({ id, isSwitched }) => {
      await using deploy = await Deploy.on(id);
      const old = await deploy.serve();
      deploy.proxy.switchTo(old.port);
      const isMoved = new AbortController();
      const calling = deploy.simulator.call({ script: asksUpon(isMoved.signal) });
      await eventually('the greeting', () => old.facts.find(({ type }) => type === 'turn.completed'));
      const next = await deploy.serve();
      if (isSwitched) deploy.proxy.switchTo(next.port);
      const moved = await eventually('the call there', () =>
        next.facts.find(({ type }) => type === 'call.status'),
      );
      if (isSwitched) await old.server.closed;
      // Also the application in the old process, as long as that is there.
      if (!isSwitched) await old.phone.inform(moved.callId, 'The shop closes at six.');
      isMoved.abort();
      const report = await calling;
      expect(report).toMatchObject({ ok: true, protocolErrors: [] });
      const record = await eventually('the end', async () => next.ended[0]);
      expect(record).toMatchObject({
        callId: moved.callId,
        endReason: 'caller-hangup',
        term: 2,
        error: null,
      });
      expect(record.transcript.map(({ role, text }) => `${role}: ${text}`)).toEqual([
        'agent: Hello, how can I help you?',
        'user: What time is it?',
        'agent: I heard: What time is it? What else can I do for you?',
      ]);
      expect(record.incidents.map(({ code }) => code)).toEqual(['process-replaced']);
      expect([old.started, old.ended, next.started]).toEqual([[record.callId], [], []]);
      await old.server.closed;
      await nothingIsKept(deploy.dataDir);
      expect(old.logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
      expect(next.logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
    },
  );
});

it('a server says where it could not take over what the one before has left', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'offhook-'));
  const logger = new RecordedLogger();
  let left = () => {};
  const predecessor = {
    async ready({ done }: { done: () => void }) {
      left = done;
    },
  };
  const takeOver = () => Promise.reject(new Error('the disk has failed'));
  const parts = { dataDir, nodeId: 'next', clock: systemClock, logger, takeOver };
  const handover = new Handover(parts as never, {} as never, predecessor as never);
  try {
    await handover.open({} as never);
    left();
    await eventually('the error', () => logger.sentences('error')[0]);
    expect(logger.sentences('error')).toEqual(['the calls of the other process were not taken over']);
  } finally {
    await handover.close();
    await rm(dataDir, { recursive: true });
  }
});
