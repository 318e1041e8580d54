// A call whose agent has handed the caller over, in the next process and in the one after that.
import { expect, it } from 'vitest';
import { SIMULATED_CARRIERS } from '../../../src/contract/call-record.js';
import type { LanguageModel, LanguageModelEvent, LanguageModelRequest } from '../../../src/index.js';
import { eventually } from '../../support/carrier-phone.js';
import { Deploy } from '../../support/deploy.js';

const when = 'questions about bills';

/** Hands over at once, or says who it is each time. */
class TalkingModel implements LanguageModel {
  readonly name: string;
  readonly requests: LanguageModelRequest[] = [];
  readonly #to: string | undefined;

  constructor(name: string, to?: string) {
    this.name = name;
    this.#to = to;
  }

  async *respond(request: LanguageModelRequest): AsyncGenerator<LanguageModelEvent> {
    this.requests.push(request);
    if (this.#to === undefined) {
      yield { type: 'text', delta: `This is ${this.name}.` };
      return;
    }
    const args = { to: this.#to, summary: 'It is about a bill.' };
    yield {
      type: 'tool-call',
      id: 'call_1',
      name: 'hand_off',
      arguments: args,
      argumentsText: JSON.stringify(args),
    };
  }
}

it.each(SIMULATED_CARRIERS)(
  'the second agent goes on with a call in the next process, on %s',
  { timeout: 120_000 },
  async (id) => {
    await using deploy = await Deploy.on(id);
    const serve = async () => {
      const [llm, next] = [new TalkingModel('desk', 'bills'), new TalkingModel('billing')];
      const server = await deploy.serve({ llm, handoffs: { bills: { agent: 'billing', when } } }, (phone) => {
        phone.agent({ name: 'billing', llm: next, idle: false });
        return {};
      });
      return { ...server, llm, next };
    };
    const old = await serve();
    deploy.proxy.switchTo(old.port);
    const isMoved = new AbortController();
    const calling = deploy.simulator.call({
      script: [
        { type: 'wait-for-agent' },
        { type: 'say', text: 'I have a question about my bill.' },
        { type: 'wait-until', signal: isMoved.signal, timeoutMs: 50_000 },
        { type: 'say', text: 'What time is it?' },
        { type: 'wait-for-agent' },
        { type: 'hang-up' },
      ],
    });
    await eventually('the answer of billing', () =>
      old.facts.find((fact) => fact.type === 'turn.completed' && fact.turn.agent === 'billing'),
    );
    const between = await serve();
    await deploy.moved(old, between);
    const last = await serve();
    await deploy.moved(between, last);
    isMoved.abort();
    await calling;
    const record = await eventually('the end', () => last.ended[0]);
    expect(record).toMatchObject({ agent: 'billing', term: 3, endReason: 'caller-hangup', error: null });
    expect(record.handoffs).toMatchObject([{ from: 'desk', to: 'billing' }]);
    expect(record.turns.map(({ agent }) => agent)).toEqual(['desk', 'desk', 'billing', 'billing']);
    expect(record.transcript.at(-1)?.text).toBe('This is billing.');
    expect([between, last].flatMap(({ llm }) => llm.requests)).toEqual([]);
    // What was stored, not what the transcript has: that has no summary.
    expect(last.next.requests[0]?.messages.map(({ content }) => content).join()).toContain(
      'It is about a bill.',
    );
  },
);
