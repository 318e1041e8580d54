import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LOSSES, type Loss } from '../../src/calls/ending/lost-call.js';
import { CarrierA } from '../../src/carriers/carrier-a/index.js';
import { systemClock } from '../../src/base/clock.js';
import { LiveCalls, type LiveCallsOptions } from '../../src/client/live-calls.js';
import { Offhook } from '../../src/client.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import { OpenAIRealtime } from '../../src/providers/realtime/index.js';
import { DiskStore } from '../../src/stores/disk-store.js';
import { Agent, type AgentOptions } from '../../src/options/agent.js';
import { stamp, started } from '../support/call-facts.js';
import { makeFolder } from '../support/data-folder.js';
import { freePort } from '../support/free-port.js';
import { RecordedLogger } from '../support/recorded-logger.js';

/** What a process has left that was killed a moment ago, with a call of the agent `name`. */
async function leave(name: string): Promise<string> {
  const dataDir = await makeFolder();
  const past = await DiskStore.open({ folder: join(dataDir, 'server') });
  const facts = [started({ carrierCallId: `CA${'0'.repeat(32)}`, agent: name })];
  for (const event of stamp(facts, { callId: 'left', at: systemClock.wallNow() })) await past.append(event);
  await past.close();
  return dataDir;
}

/** The next process, whose agents are `agents`. */
async function next(dataDir: string, agents: readonly AgentOptions[], serve: object = {}) {
  const logger = new RecordedLogger();
  const ended: CallRecord[] = [];
  const phone = new Offhook({
    carrier: new CarrierA({
      accountSid: `AC${'0a'.repeat(16)}`,
      authToken: '0f'.repeat(16),
      baseUrl: 'http://127.0.0.1:9', // nobody listens
    }),
    phoneNumber: '+15005550010',
    webhookUrl: 'voice.example.com',
  });
  for (const agent of agents) phone.agent(agent);
  const { calls } = await phone.serve({
    agent: phone.agent({}),
    port: await freePort(),
    host: '127.0.0.1',
    manageWebhook: false,
    logger,
    dataDir,
    onCallEnd: (record) => ended.push(record),
    ...serve,
  });
  return { logger, ended, calls, phone, sentences: () => logger.lines.map(({ sentence }) => sentence) };
}

const why = (loss: Loss) => ({ code: 'process-lost', message: LOSSES[loss] });

it('an agent without a name that a call is placed with is said once, since the next process could not find it', async () => {
  const { phone, logger } = await next(await makeFolder(), []);
  const warnings = () => logger.sentences('warn').filter((line) => line.includes('has no name'));
  // Whatever becomes of it: there is no carrier.
  const place = async (agent?: Agent) => {
    phone.call({ to: '+15550123', ...(agent && { agent }) }).catch(() => {});
    await new Promise(setImmediate);
  };
  await place();
  await place(phone.agent({ name: 'sales' }));
  expect(warnings()).toEqual([]);
  const nameless = phone.agent({});
  await place(nameless);
  await place(nameless);
  expect(warnings()).toHaveLength(1);
  await phone.disconnect();
});

describe('a call that the last process has left', () => {
  it('is taken up, and ends with the server where nothing comes of it', async () => {
    const { ended, calls, phone, sentences } = await next(await leave('desk'), [{ name: 'desk' }]);
    expect((await calls.active()).map(({ callId }) => callId)).toEqual(['left']);
    expect(sentences()).toContain('taking up the calls of a process that is gone');
    await phone.disconnect();
    expect(ended).toMatchObject([{ callId: 'left', endReason: 'server-shutdown', term: 2 }]);
  });

  it('leaves no file behind that belongs to no call', async () => {
    const dataDir = await leave('desk');
    await mkdir(join(dataDir, 'live'), { mode: 0o700 });
    for (const name of ['over.json', 'over.json.next'])
      await writeFile(join(dataDir, 'live', name), '1 -\n{}');
    const { phone } = await next(dataDir, [{ name: 'desk' }]);
    expect((await readdir(join(dataDir, 'live'))).filter((name) => name.startsWith('over'))).toEqual([]);
    await phone.disconnect();
  });

  it('goes on with the agent of serve where its own is not here', async () => {
    const { calls, phone, sentences } = await next(await leave('desk'), []);
    expect(await calls.active()).toHaveLength(1);
    expect(sentences()).toContain('no agent of that name here: the call goes on with the agent of serve()');
    await phone.disconnect();
  });

  it('goes on with the fallback agent where agents are chosen, and nobody is asked', async () => {
    const asked: unknown[] = [];
    const fallbackAgent = new Agent({ name: 'reception' });
    const agent = (call: unknown) => {
      asked.push(call);
      return fallbackAgent;
    };
    const { calls, phone } = await next(await leave('desk'), [], { agent, fallbackAgent });
    expect(await calls.active()).toHaveLength(1);
    expect(asked).toEqual([]);
    await phone.disconnect();
  });

  it('is lost where its agent cannot talk, and keeps no server from starting', async () => {
    // A realtime model has no language model that onMessage could replace.
    const serve = { onMessage: () => 'Yes.' };
    const agents = [{ name: 'desk', engine: new OpenAIRealtime({ apiKey: 'key-of-a-test' }) }];
    const { ended, calls, phone, sentences } = await next(await leave('desk'), agents, serve);
    expect(await calls.active()).toEqual([]);
    expect(sentences()).toContain('a call of the previous process could not be taken up');
    expect(ended).toMatchObject([{ callId: 'left', endReason: 'process-lost', incidents: [why('failed')] }]);
    await phone.disconnect();
  });

  it('is lost a minute later', async () => {
    const dataDir = await makeFolder();
    const past = await DiskStore.open({ folder: join(dataDir, 'server') });
    for (const event of stamp([started()], { callId: 'left', at: systemClock.wallNow() - 61_000 }))
      await past.append(event);
    await past.close();
    const { ended, phone } = await next(dataDir, []);
    expect(ended).toMatchObject([{ callId: 'left', endReason: 'process-lost', incidents: [why('late')] }]);
    await phone.disconnect();
  });
});

describe('an agent that is chosen for a call', () => {
  /** What is said of `agents`, one after the other, beside the agent of serve. */
  async function noted(dataDir: string | false, own: Agent, agents: readonly (Agent | undefined)[]) {
    const logger = new RecordedLogger();
    const parts = {
      options: { dataDir, isSynced: false, privacy: { transcript: 'full' } },
      client: { carrier: new CarrierA({ authToken: '0f'.repeat(16) }) },
      agents: { own },
      desk: { keep: () => {} },
      clock: systemClock,
      logger,
    };
    const live = new LiveCalls(parts as unknown as LiveCallsOptions);
    await live.open({ isKept: true });
    for (const agent of agents) live.note(agent);
    live.close();
    return logger.lines.map(({ sentence }) => sentence);
  }

  const [own, nameless] = [new Agent({}), new Agent({})];
  const unheardOf = /has no name: after a crash, its calls would go on with the agent of serve/;

  it('is said once to have no name by which the next process could find it', async () => {
    const said = await noted(await makeFolder(), own, [nameless, nameless, new Agent({}), nameless]);
    expect(said).toEqual([expect.stringMatching(unheardOf), expect.stringMatching(unheardOf)]);
  });

  it('can be found by its name, or because it is that of serve', async () => {
    const found = [own, undefined, new Agent({ name: 'desk' })];
    expect(await noted(await makeFolder(), own, found)).toEqual([]);
  });

  it('needs none where calls end with their process', async () => {
    expect(await noted(false, own, [nameless])).toEqual([]);
  });
});
