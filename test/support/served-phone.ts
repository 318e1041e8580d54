// A server with the local stack, in this process or in one of its own, and what it has told.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { CallEvent } from '../../src/contract/call-event.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import {
  type AgentOptions,
  type Carrier,
  Offhook,
  type RunningServer,
  type ServeOptions,
} from '../../src/index.js';
import type { CarrierSimulator } from '../../src/testing/index.js';
import { carrierCredentials, eventually, OWN_NUMBER, PUBLIC_HOST } from './carrier-phone.js';
import { RecordedLogger } from './recorded-logger.js';

const CHILD = fileURLToPath(new URL('./phone-child.mjs', import.meta.url));

/** Who answers. What is said does not depend on how busy the machine is. */
export const DESK = {
  name: 'desk',
  systemPrompt: 'You help.',
  firstMessage: 'Hello, how can I help you?',
  idle: false as const,
  turnTaking: { fillers: [] },
};

/** What a server has told so far: its own facts, and its callbacks. */
interface Told {
  readonly port: number;
  readonly facts: CallEvent[];
  readonly started: string[];
  readonly ended: CallRecord[];
}

export interface ServedPhone extends Told {
  readonly phone: Offhook;
  readonly server: RunningServer;
  readonly logger: RecordedLogger;
}

/** Options may need agents of the server. */
export type ServedOptions = Partial<ServeOptions> | ((phone: Offhook) => Partial<ServeOptions>);

/** A server in this process. */
export async function servePhone(
  carrier: Carrier,
  port: number,
  { agent = {}, serve }: { agent?: AgentOptions; serve: ServedOptions },
): Promise<ServedPhone> {
  const phone = new Offhook({ carrier, phoneNumber: OWN_NUMBER, webhookUrl: PUBLIC_HOST });
  const logger = new RecordedLogger();
  const [started, ended, facts]: [string[], CallRecord[], CallEvent[]] = [[], [], []];
  const server = await phone.serve({
    agent: phone.agent({ ...DESK, ...agent }),
    port,
    host: '127.0.0.1',
    manageWebhook: false,
    logger,
    drainSeconds: 1,
    onCallStart: ({ callId }) => started.push(callId),
    onCallEnd: (record) => ended.push(record),
    ...(typeof serve === 'function' ? serve(phone) : serve),
  });
  server.events.subscribe((fact) => facts.push(fact));
  return { phone, server, port, logger, facts, started, ended };
}

export interface ForkedPhone extends Told {
  readonly child: ChildProcess;
  readonly log: string[];
  kill(): Promise<void>;
  /** Resolves when it has ended what it served. */
  drain(): Promise<void>;
}

/** A server in a process of its own, which can be killed. Resolves when it listens; rejects with what it said where it ends before. */
export async function forkPhone(
  simulator: CarrierSimulator,
  port: number,
  {
    agent = {},
    serve,
    patienceMs,
    env = {},
  }: { agent?: object; serve: object; patienceMs: number; env?: NodeJS.ProcessEnv },
): Promise<ForkedPhone> {
  const settings = {
    carrier: { id: simulator.carrier, options: carrierCredentials(simulator) },
    agent: { ...DESK, ...agent },
    serve: { port, drainSeconds: 1, ...serve },
    number: OWN_NUMBER,
    host: PUBLIC_HOST,
  };
  const child = fork(CHILD, [JSON.stringify(settings)], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...process.env, ...env },
  });
  const [started, ended, facts, log]: [string[], CallRecord[], CallEvent[], string[]] = [[], [], [], []];
  let [isListening, isDrained] = [false, false];
  child.on(
    'message',
    (told: { listening?: true; drained?: true; fact?: CallEvent; started?: string; ended?: CallRecord }) => {
      if (told.listening) isListening = true;
      if (told.drained) isDrained = true;
      if (told.fact) facts.push(told.fact);
      if (told.started) started.push(told.started);
      if (told.ended) ended.push(told.ended);
    },
  );
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (data: Buffer) => void log.push(data.toString('utf8')));
  const forked: ForkedPhone = {
    child,
    port,
    facts,
    started,
    ended,
    log,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
    async drain() {
      child.send({ drain: true });
      await eventually('the end of a drain', () => (isDrained ? true : undefined), patienceMs);
    },
  };
  try {
    await eventually(
      'a server',
      () => {
        if (!isListening && child.exitCode !== null) throw new Error(`the server ended:\n${log.join('')}`);
        return isListening ? true : undefined;
      },
      patienceMs,
    );
  } catch (error) {
    await forked.kill();
    throw error;
  }
  return forked;
}
