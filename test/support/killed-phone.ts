// A carrier in this process, and a phone server in another one that can be killed and started again on the same port and folder.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decodeState } from '../../src/calls/resume/call-state.js';
import type { CallEvent } from '../../src/contract/call-event.js';
import type { CallRecord, CarrierId } from '../../src/contract/call-record.js';
import { type CarrierSimulator, openToneVoice, type SimulatorOptions } from '../../src/testing/index.js';
import { carrierCredentials, eventually, OWN_NUMBER, PUBLIC_HOST, startCarrier } from './carrier-phone.js';
import { freePort } from './free-port.js';

const CHILD = fileURLToPath(new URL('./phone-child.mjs', import.meta.url));

/** A process takes its time to start where the machine is busy. */
const PATIENCE_MS = 180_000;
/** So long carrier A keeps a call whose server is gone: as long as it may. */
const HOLD_SECONDS = 10;

/** What a server process has told. */
interface Told {
  readonly listening?: true;
  readonly fact?: CallEvent;
  readonly started?: string;
  readonly ended?: CallRecord;
  readonly tool?: string;
  readonly placed?: { callId: string };
}

export interface KilledPhoneOptions {
  readonly agent?: object;
  /** Options of the agent `billing`, to whom the agent hands over a caller who asks for a bill. @default there is none */
  readonly billing?: object;
  readonly serve?: object;
  readonly simulator?: Partial<SimulatorOptions>;
}

export class KilledPhone implements AsyncDisposable {
  readonly simulator: CarrierSimulator;
  readonly dataDir: string;
  /** Of all processes, in order. */
  readonly told: Told[] = [];
  readonly log: string[] = [];
  readonly #settings: string;
  readonly #url: string;
  readonly #listeners: ((fact: CallEvent) => void)[] = [];
  #child: ChildProcess | undefined;

  private constructor(parts: {
    simulator: CarrierSimulator;
    dataDir: string;
    url: string;
    settings: string;
  }) {
    this.simulator = parts.simulator;
    this.dataDir = parts.dataDir;
    this.#url = parts.url;
    this.#settings = parts.settings;
  }

  static async start(id: CarrierId, options: KilledPhoneOptions = {}): Promise<KilledPhone> {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    // A busy machine has no time for the embedded voice: it would leave sentences out.
    const voice = { openVoice: openToneVoice };
    const { simulator } = await startCarrier(id, {
      url,
      webhookHost: PUBLIC_HOST,
      ...voice,
      ...options.simulator,
    });
    const dataDir = await mkdtemp(join(tmpdir(), 'offhook-killed-'));
    const settings = JSON.stringify({
      carrier: { id, options: carrierCredentials(simulator) },
      agent: { systemPrompt: 'You help.', firstMessage: 'Hello, how can I help you?', ...options.agent },
      billing: options.billing,
      speaksInTones: true,
      serve: { port, dataDir, resume: { holdSeconds: HOLD_SECONDS }, ...options.serve },
      number: OWN_NUMBER,
      host: PUBLIC_HOST,
    });
    const phone = new KilledPhone({ simulator, dataDir, url, settings });
    await phone.begin();
    return phone;
  }

  /** Starts a process. Resolves when it listens. */
  async begin(): Promise<void> {
    const child = fork(CHILD, [this.#settings], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    this.#child = child;
    child.on('message', (message) => {
      const told = message as Told;
      this.told.push(told);
      if (told.fact !== undefined) for (const hear of this.#listeners) hear(told.fact);
    });
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (data: Buffer) => void this.log.push(data.toString('utf8')));
    const before = this.told.length;
    await eventually(
      'a server',
      () => this.told.slice(before).find(({ listening }) => listening),
      PATIENCE_MS,
    );
  }

  /** Resolves once what it has told of its calls is on disk, but for what callers are in the middle of. */
  async kept(): Promise<void> {
    const last = new Map<string, number>();
    for (const { fact } of this.told) {
      if (fact === undefined) continue;
      const isPartial =
        fact.type === 'transcript.segment' && !fact.entry.final && fact.entry.role !== 'agent';
      if (fact.type === 'call.ended') last.delete(fact.callId);
      else if (!isPartial) last.set(fact.callId, fact.seq);
    }
    const isKept = async ([callId, seq]: [string, number]) => {
      const state = decodeState(await this.#textOf(callId));
      return (state?.facts.at(-1)?.seq ?? 0) >= seq;
    };
    await eventually(
      'what was told to be on disk',
      async () => ((await Promise.all([...last].map(isKept))).every(Boolean) ? true : undefined),
      PATIENCE_MS,
    );
  }

  #textOf(callId: string): Promise<string> {
    return readFile(join(this.dataDir, 'live', `${callId}.json`), 'utf8').catch(() => '');
  }

  /** Kills the process once what it has told is kept, and starts another one. */
  async replace(): Promise<void> {
    await this.kept();
    await this.kill();
    await this.begin();
  }

  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  /** Places a call by the process that is there. */
  call(options: object): void {
    this.#child?.send({ call: options });
  }

  /** Hands a caller over by the process that is there. */
  transfer(callId: string, to: string): void {
    this.#child?.send({ transfer: [callId, to] });
  }

  async get<T>(path: string): Promise<T | undefined> {
    const response = await this.ask(path).catch(() => undefined);
    return response?.ok === true ? ((await response.json()) as T) : undefined;
  }

  /** A path of the API, with the token of the server. */
  ask(path: string): Promise<Response> {
    const { serve } = JSON.parse(this.#settings) as { serve: { dashboardToken?: string } };
    const headers = serve.dashboardToken && { authorization: `Bearer ${serve.dashboardToken}` };
    return fetch(`${this.#url}/api/dashboard${path}`, headers ? { headers } : {});
  }

  /** Resolves with the first fact of any process, in the moment it comes, of which `isIt` holds. */
  fact(isIt: (fact: CallEvent) => boolean): Promise<CallEvent> {
    const known = this.told.flatMap(({ fact }) => fact ?? []).find(isIt);
    if (known !== undefined) return Promise.resolve(known);
    return new Promise((resolve, reject) => {
      const giveUp = () => reject(new Error(`waited in vain for a fact; the log: ${this.log.join('')}`));
      const timer = setTimeout(giveUp, PATIENCE_MS);
      this.#listeners.push((fact) => {
        if (!isIt(fact)) return;
        clearTimeout(timer);
        resolve(fact);
      });
    });
  }

  /** Resolves when the first tool runs. */
  toolRuns(): Promise<string> {
    return eventually('a tool', () => this.tools[0], PATIENCE_MS);
  }

  /** Resolves with the record of a call that is over. */
  record(callId: string): Promise<CallRecord> {
    return eventually(
      `the end of call ${callId}`,
      async () => {
        const record = await this.get<CallRecord>(`/calls/${callId}`);
        return record?.status === 'completed' ? record : undefined;
      },
      PATIENCE_MS,
    );
  }

  get started(): string[] {
    return this.told.flatMap(({ started }) => started ?? []);
  }

  get tools(): string[] {
    return this.told.flatMap(({ tool }) => tool ?? []);
  }

  get ended(): CallRecord[] {
    return this.told.flatMap(({ ended }) => ended ?? []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await this.simulator.close();
    await rm(this.dataDir, { recursive: true, force: true, maxRetries: 20 });
  }
}
