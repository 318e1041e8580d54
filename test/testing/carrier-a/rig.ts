// Carrier A and a fake phone server on a clock that a test moves: simulated seconds pass in real milliseconds.
import {
  startCarrierASimulator,
  type CarrierASimulatorOptions,
} from '../../../src/testing/carrier-a/simulator.js';
import { FakeClock } from '../../support/fake-clock.js';
import { untilQuiet } from '../../support/virtual/quiet.js';
import { type FakeServerOptions, type Received, startFakeServer } from '../fake-phone-server.js';

export const ACCOUNT = `AC${'1'.repeat(32)}`;
export const TOKEN = 'secret';
export const HOST = 'voice.example';
export const OWN = '+15005550010';
export const OTHER = '+15005550020';

const STEP_MS = 20;
const MAX_STEPS = 20_000;

/** What a REST request was answered with. */
export interface Answered {
  status: number;
  body: Record<string, unknown>;
}

export async function startRig(
  options: { server?: FakeServerOptions; simulator?: Partial<CarrierASimulatorOptions> } = {},
) {
  const clock = new FakeClock();
  const server = await startFakeServer(options.server);
  const simulator = await startCarrierASimulator({
    url: server.url,
    webhookHost: HOST,
    accountSid: ACCOUNT,
    authToken: TOKEN,
    clock,
    ...options.simulator,
  });

  /** Lets time pass until something is true. Every step lets what is under way between sockets arrive. */
  const passUntil = async (isTrue: () => boolean): Promise<void> => {
    for (let step = 0; !isTrue(); step += 1) {
      if (step > MAX_STEPS) throw new Error('it did not come true');
      clock.advance(STEP_MS);
      await untilQuiet();
    }
  };
  const pass = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false;
    const mark = () => {
      isOver = true;
    };
    work.then(mark, mark);
    await passUntil(() => isOver);
    return work;
  };

  const ask = async (
    path: string,
    form?: Record<string, string | readonly string[]>,
    options: { method?: string; authorization?: string } = {},
  ): Promise<Answered> => {
    const fields = Object.entries(form ?? {}).flatMap(([name, value]) =>
      (typeof value === 'string' ? [value] : value).map((each): [string, string] => [name, each]),
    );
    const basic = `Basic ${Buffer.from(`${ACCOUNT}:${TOKEN}`).toString('base64')}`;
    const response = await fetch(`${simulator.url}/2010-04-01/Accounts/${ACCOUNT}/${path}`, {
      method: options.method ?? (form === undefined ? 'GET' : 'POST'),
      headers: { authorization: options.authorization ?? basic },
      ...(form === undefined ? {} : { body: new URLSearchParams(fields) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
  };

  return {
    clock,
    server,
    simulator,
    passUntil,
    pass,
    ask,
    /** Places a call that reports everything, and resolves with its leg. */
    async dial(form: Record<string, string | readonly string[]> = {}) {
      const answered = await ask('Calls.json', { ...dialForm(), ...form });
      if (answered.status !== 201) throw new Error(`refused: ${JSON.stringify(answered.body)}`);
      const leg = simulator.legs.at(-1);
      if (leg === undefined) throw new Error('there is no leg');
      return leg;
    },
    /** Webhooks of one route. */
    posts: (route: string): Received[] =>
      server.webhooks.filter(({ path }) => path.split('?')[0] === `/webhooks/carrier-a/${route}`),
    async close() {
      await simulator.close();
      await server.close();
    },
  };
}

export type Rig = Awaited<ReturnType<typeof startRig>>;

/** What a phone server asks for. */
export function dialForm(): Record<string, string | readonly string[]> {
  const base = `https://${HOST}/webhooks/carrier-a`;
  return {
    To: OTHER,
    From: OWN,
    Url: `${base}/voice?callId=c1`,
    Method: 'POST',
    StatusCallback: `${base}/status?callId=c1`,
    StatusCallbackEvent: ['initiated', 'ringing', 'answered', 'completed'],
    Timeout: '25',
  };
}

/** Name and value of what a webhook reports, in order of arrival. */
export function valuesOf(posts: readonly Received[], ...names: string[]): (string | null)[][] {
  return posts.map(({ form }) => names.map((name) => form.get(name)));
}
