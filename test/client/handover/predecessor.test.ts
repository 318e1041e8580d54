// The process before this one, where it does not do what it is asked for.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Predecessor } from '../../../src/client/handover/predecessor.js';
import { Peer } from '../../../src/server/peer.js';
import { eventually } from '../../support/carrier-phone.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

it.each(['before it answers', 'after it has begun to answer'])(
  'one that gives nothing is waited for no longer than half a minute, %s',
  async (when) => {
    const folder = await mkdtemp(join(tmpdir(), 'offhook-'));
    const path = join(folder, 'old.sock');
    const clock = new FakeClock();
    let isAsked = false;
    let outcome: unknown;
    const server = createServer((_request, response) => {
      if (when !== 'before it answers') response.writeHead(200).flushHeaders();
      isAsked = true;
    });
    server.listen(path);
    await once(server, 'listening');
    try {
      const next = { path: join(folder, 'next.sock'), clock, logger: new RecordedLogger() };
      Predecessor.ask(new Peer(path), next).then(
        (predecessor) => {
          outcome = predecessor;
        },
        (error: unknown) => {
          outcome = error;
        },
      );
      await eventually('the question', () => isAsked || undefined);
      await eventually('the end of patience', () => {
        clock.advance(15_000);
        return outcome;
      });
      expect(outcome).toMatchObject({ code: 'CONFIG_CONFLICT' });
    } finally {
      server.close();
      server.closeAllConnections();
      await rm(folder, { recursive: true });
    }
  },
);
