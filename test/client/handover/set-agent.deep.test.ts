// A call that comes back from the process that took it over: it gets the agent that is there now.
import { expect, it } from 'vitest';
import { SIMULATED_CARRIERS } from '../../../src/contract/call-record.js';
import type { LanguageModel, LanguageModelEvent, Offhook, RunningServer } from '../../../src/index.js';
import { eventually } from '../../support/carrier-phone.js';
import { Deploy } from '../../support/deploy.js';
import type { ServedPhone } from '../../support/served-phone.js';

class SayingModel implements LanguageModel {
  readonly name = 'saying';
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  async *respond(): AsyncGenerator<LanguageModelEvent> {
    yield { type: 'text', delta: this.#text };
  }
}

interface Way {
  readonly how: string;
  readonly name: string | undefined;
  set(server: RunningServer, phone: Offhook): void;
}

const night = {
  llm: new SayingModel('This is the night.'),
  turnTaking: { fillers: [] },
  idle: false as const,
};
const WAYS: readonly Way[] = [
  {
    how: 'in the place of one without a name',
    name: undefined,
    set: (server, phone) => server.setAgent(phone.agent(night)),
  },
  { how: 'by name', name: 'desk', set: (server, phone) => server.setAgent('desk', phone.agent(night)) },
];
const CELLS = SIMULATED_CARRIERS.flatMap((id) => WAYS.map((way) => ({ id, ...way })));

const agentTexts = ({ facts }: Pick<ServedPhone, 'facts'>) =>
  facts.flatMap((fact) => (fact.type === 'turn.completed' ? [fact.turn.agentText] : []));

it.each(CELLS)(
  'a call that comes back goes on with the agent that was set meanwhile $how, on $id',
  { timeout: 120_000 },
  async ({ id, name, set }) => {
    await using deploy = await Deploy.on(id);
    const old = await deploy.serve({ name, llm: new SayingModel('This is the day.') });
    deploy.proxy.switchTo(old.port);
    const isBack = new AbortController();
    const calling = deploy.simulator.call({
      script: [
        { type: 'wait-for-agent' },
        { type: 'say', text: 'Who is there?' },
        { type: 'wait-for-agent' },
        { type: 'wait-until', signal: isBack.signal, timeoutMs: 60_000 },
        { type: 'say', text: 'And who is there now?' },
        { type: 'wait-for-agent' },
        { type: 'hang-up' },
      ],
    });
    const says = (text: string) =>
      eventually(`"${text}"`, () => agentTexts(old).find((said) => said.includes(text)), 40_000);
    await says('This is the day.');
    // A call keeps its agent while it is here.
    set(old.server, old.phone);
    const next = await deploy.fork(name === undefined ? { name } : {});
    deploy.proxy.switchTo(next.port);
    await eventually(
      'the call there',
      () => next.facts.find(({ type }) => type === 'incident.noted'),
      40_000,
    );
    deploy.proxy.switchTo(old.port);
    await next.kill();
    await says('I am back');
    isBack.abort();
    await says('This is the night.');
    expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
    const record = await eventually('the end', () => old.ended[0]);
    expect(record).toMatchObject({ endReason: 'caller-hangup', term: 3, error: null });
    expect(agentTexts(old).filter((text) => text.includes('the day'))).toHaveLength(1);
  },
);

it.each(SIMULATED_CARRIERS)(
  'a call goes on with the agent of its name that was set before it came, on %s',
  { timeout: 120_000 },
  async (id) => {
    await using deploy = await Deploy.on(id);
    const long = Array(30).fill('Please listen to all of our offers.').join(' ');
    const old = await deploy.serve({ firstMessage: long });
    deploy.proxy.switchTo(old.port);
    const isMoved = new AbortController();
    const calling = deploy.simulator.call({
      script: [
        { type: 'wait-until', signal: isMoved.signal, timeoutMs: 50_000 },
        { type: 'say', text: 'What time is it?' },
        { type: 'wait-for-agent', quietMs: 500 },
        { type: 'hang-up' },
      ],
    });
    await eventually('the greeting', () => old.facts.find(({ type }) => type === 'turn.started'));
    const next = await deploy.serve();
    const noon = { llm: new SayingModel('It is noon.'), interruptible: true };
    next.server.setAgent('desk', next.phone.agent(noon));
    deploy.proxy.switchTo(next.port);
    // An agent that speaks is left its time.
    await eventually('the call there', () => next.facts.find(({ type }) => type === 'call.status'), 40_000);
    isMoved.abort();
    await calling;
    const record = await eventually('the end', () => next.ended[0]);
    expect(record).toMatchObject({ agent: 'desk', term: 2, error: null });
    expect(record.turns.at(-1)?.agentText).toBe('It is noon.');
    await old.server.closed;
  },
);
