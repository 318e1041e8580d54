// Every program of the pages that is marked `run`, as it stands there: a server is called by a simulated carrier, a suite of tests is run.
import { afterEach, expect, it } from 'vitest';
import { silentLogger } from '../../src/base/log.js';
import * as offhook from '../../src/index.js';
import * as llm from '../../src/providers/llm/index.js';
import * as realtime from '../../src/providers/realtime/index.js';
import * as stt from '../../src/providers/stt/index.js';
import * as tts from '../../src/providers/tts/index.js';
import * as stores from '../../src/stores/index.js';
import * as testing from '../../src/testing/index.js';
import * as transcoder from '../../src/transcoder/index.js';
import { docBlocks } from '../docs/blocks.js';
import { makeFolder } from '../support/data-folder.js';
import { freePort } from '../support/free-port.js';
import { bodyOf, runBody } from '../support/program-body.js';

const ACCOUNT = { accountSid: `AC${'0a'.repeat(16)}`, authToken: '0f1e2d3c4b5a69788796a5b4c3d2e1f0' };
const API_KEY = 'any-text-without-blanks';
const CONNECTION_ID = '1234567890';
const TOKEN = 'a-token-for-the-dashboard';

type Signal = () => unknown;
type Check = () => unknown;

/** What is to be closed behind a program. */
const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** The carriers of one program, which call its server on this port under this name. */
async function openCarriers(code: string, port: number) {
  const [, webhookHost = 'voice.example.com'] = /webhookUrl: '([^']+)'/.exec(code) ?? [];
  const [, phoneNumber = '+15550100'] = /phoneNumber: '([^']+)'/.exec(code) ?? [];
  const url = `http://127.0.0.1:${port}`;
  const a = await testing.startCarrierASimulator({ ...ACCOUNT, url, webhookHost });
  const b = await testing.startCarrierBSimulator({
    ...{ url, webhookHost, apiKey: API_KEY, connectionId: CONNECTION_ID },
  });
  open.push(
    () => a.close(),
    () => b.close(),
  );
  const call = {
    to: phoneNumber,
    script: [{ type: 'wait-for-agent' }, { type: 'say', text: 'Hello?' }],
  } as const;
  return { a, b, call: { 'carrier-a': () => a.call(call), 'carrier-b': () => b.call(call) } };
}

/** Runs a program. What it reads from its surroundings is that of the test, and what it makes is closed behind it. */
async function run(code: string) {
  const port = await freePort();
  const carriers = await openCarriers(code, port);
  const clients: offhook.Offhook[] = [];
  const called: offhook.CallRecord[] = [];
  const signals = new Map<string, Signal>();
  const checks: { title: string; check: Check }[] = [];
  const exits: unknown[] = [];
  const logged: unknown[][] = [];
  const folder = await makeFolder();

  class Client extends offhook.Offhook {
    constructor(options: offhook.ClientOptions) {
      super(options);
      clients.push(this);
      open.push(() => this.disconnect());
    }
    override serve(options: offhook.ServeOptions) {
      const onCallEnd = (record: offhook.CallRecord) => {
        called.push(record);
        return options.onCallEnd?.(record);
      };
      const ours = { port, host: '127.0.0.1', dataDir: false, dashboardUrl: false } as const;
      return super.serve({ logger: silentLogger, ...ours, ...options, onCallEnd });
    }
  }
  class OnlyA extends offhook.CarrierA {
    constructor(options: offhook.CarrierAOptions = {}) {
      super(options.baseUrl === undefined ? { ...ACCOUNT, baseUrl: carriers.a.url } : options);
    }
  }
  class OnlyB extends offhook.CarrierB {
    constructor(options: offhook.CarrierBOptions = {}) {
      const { url: baseUrl, publicKey } = carriers.b;
      super(
        options.baseUrl === undefined
          ? { ...options, apiKey: API_KEY, connectionId: CONNECTION_ID, publicKey, baseUrl }
          : options,
      );
    }
  }
  const collect = (title: string, check: Check) => void checks.push({ title, check });
  const modules: Readonly<Record<string, object>> = {
    offhook: { ...offhook, Offhook: Client, CarrierA: OnlyA, CarrierB: OnlyB },
    'offhook/llm': llm,
    'offhook/realtime': realtime,
    'offhook/stores': stores,
    'offhook/stt': stt,
    'offhook/testing': testing,
    'offhook/transcoder': transcoder,
    'offhook/tts': tts,
    vitest: { expect, it: collect, test: collect, describe: (_: string, body: () => void) => body() },
  };
  const surroundings = {
    load: async (name: string) => modules[name] ?? ((await import(name)) as object),
    console: { log: (...values: unknown[]) => logged.push(values) },
    process: {
      env: { DASHBOARD_TOKEN: TOKEN },
      once: (signal: string, handler: Signal) => signals.set(signal, handler),
      on: (signal: string, handler: Signal) => signals.set(signal, handler),
      exit: (status: unknown) => exits.push(status),
    },
  };
  const here = bodyOf(code)
    .replaceAll(/(:|port: |\?\? )8000\b/g, `$1${port}`)
    .replaceAll('`.offhook/', `\`${folder}/`)
    .replaceAll(/'([\w-]+\.wav)'/g, (_, name: string) => JSON.stringify(`${folder}/${name}`));
  await runBody(here, surroundings);
  return { carriers, clients, called, signals, checks, exits, logged };
}

const programs = docBlocks().filter(({ marks }) => marks.includes('run'));

it('there are such programs', () => {
  expect(programs.length).toBeGreaterThan(3);
});

it.for(programs)('$place', async ({ code }) => {
  const { carriers, clients, called, signals, checks, exits } = await run(code);
  for (const { check } of checks) await check();
  if (clients.length === 0) return;
  if (called.length === 0 && checks.length === 0) {
    const carrier = code.includes('new CarrierB(') ? 'carrier-b' : 'carrier-a';
    const report = await carriers.call[carrier]();
    expect(report.protocolErrors).toEqual([]);
    expect(report.ok).toBe(true);
    const stop = signals.get('SIGINT') ?? signals.get('SIGTERM');
    if (stop === undefined) for (const client of clients) await client.disconnect();
    else {
      await stop();
      expect(exits).toHaveLength(1);
    }
  }
  expect(called.length + checks.length).toBeGreaterThan(0);
  for (const { outcome, transcript } of called) {
    expect(outcome).toBe('answered');
    expect(transcript.some(({ role }) => role === 'agent')).toBe(true);
  }
});
