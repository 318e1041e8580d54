// What becomes of a call while the application decides on it, and after.
import { describe, expect, it } from 'vitest';
import type { CallChoice, ChooseCall } from '../../../src/calls/choice/call-choice.js';
import type { CallAnswer } from '../../../src/carriers/carrier.js';
import { decodeState } from '../../../src/calls/resume/call-state.js';
import { readStreamToken } from '../../../src/calls/streams/stream-token.js';
import type { EngineRecipe } from '../../../src/engines/engine.js';
import { type BenchOptions, CallBench, startText, type Steering } from '../../support/call-bench.js';
import { FakeEngine } from '../../support/call-fakes.js';

interface Question {
  readonly callId: string;
  readonly signal: AbortSignal;
  decide(choice: CallChoice): void;
}

/** A bench whose calls are decided by the test. */
class ChoosingBench extends CallBench {
  readonly questions: Question[];

  constructor(steering: Steering, options: BenchOptions = {}) {
    const questions: Question[] = [];
    const choose: ChooseCall = ({ callId }, { signal }) =>
      new Promise((decide) => {
        questions.push({ callId, signal, decide });
      });
    super({ steering, prepares: true, ...options, choose });
    this.questions = questions;
  }

  /** What the carrier is told in the reply. */
  rings(callId = 'call-1'): Promise<CallAnswer> {
    return this.ring(callId) as unknown as Promise<CallAnswer>;
  }

  agentNamed(agentName: string): CallChoice & { type: 'agent' } {
    const recipe: EngineRecipe = {
      ...this.recipe,
      agentName,
      prepare: (context) => this.prepare(context),
      create: (context) => {
        const engine = new FakeEngine(context, { takesText: false });
        this.engines.push(engine);
        return engine;
      },
    };
    return { type: 'agent', agent: { recipe, texts: { variables: { who: 'Ada' } } } };
  }

  /** The call is answered, and its stream comes. */
  async comesUp(callId = 'call-1'): Promise<void> {
    await this.pass();
    if (this.carrier.commands !== undefined) {
      const carrierCallId = `carrier-${callId}`;
      this.status('active', { carrierCallId });
    }
    this.connect(callId);
  }

  decide(index: number, choice: CallChoice): Promise<void> {
    this.questions[index]?.decide(choice);
    return this.pass();
  }
}

describe('a call that is decided on, where replies steer', () => {
  it('is told nothing before the choice, holds a place, and is prepared after', async () => {
    const bench = new ChoosingBench('replies');
    const answer = bench.rings();
    await bench.pass(1000);
    expect(bench.preparations).toEqual([]);
    expect([bench.desk.takenPlaces, bench.desk.expectedCount, bench.desk.liveCount]).toEqual([1, 1, 0]);
    expect(bench.desk.isChoosing('call-1')).toBe(true);
    await bench.decide(0, bench.agentNamed('billing'));
    expect(await answer).toMatchObject({ type: 'stream' });
    expect(bench.preparations).toHaveLength(1);
    expect(bench.desk.isChoosing('call-1')).toBe(false);
    bench.connect();
    expect(bench.record()).toMatchObject({ agent: 'billing', status: 'active' });
  });

  it('is asked about once, however often its webhook comes', async () => {
    const bench = new ChoosingBench('replies');
    const answers = [bench.rings(), bench.rings()];
    await bench.decide(0, bench.agentNamed('billing'));
    const [first, second] = await Promise.all(answers);
    expect(second).toEqual(first);
    // One more, after the choice, is invited for the same agent.
    expect(bench.ring()).toMatchObject({ type: 'stream' });
    bench.connect();
    expect(bench.questions).toHaveLength(1);
    expect(bench.record()).toMatchObject({ agent: 'billing' });
  });

  it('says a text in the reply, and ends when the carrier has said it', async () => {
    const bench = new ChoosingBench('replies');
    const answer = bench.rings();
    await bench.decide(0, { type: 'say', announcement: { text: 'We are closed.', language: 'en' } });
    expect(await answer).toEqual({ type: 'say', text: 'We are closed.', language: 'en' });
    expect(bench.record()).toMatchObject({ status: 'active', agent: null });
    bench.report({ type: 'status', status: 'completed', outcome: 'answered', sequence: 1 });
    expect(bench.record()).toMatchObject({ endReason: 'agent-hangup', outcome: 'answered' });
    expect(bench.record().transcript).toMatchObject([{ text: 'We are closed.', final: true }]);
  });

  it('ends a said call that no report ends', async () => {
    const bench = new ChoosingBench('replies');
    void bench.rings();
    await bench.decide(0, { type: 'say', announcement: { text: 'We are closed.', language: undefined } });
    bench.rest.over = true;
    await bench.pass(4000);
    expect(bench.record()).toMatchObject({ status: 'completed', endReason: 'agent-hangup' });
  });

  it('is connected to a number in the reply, and comes back to the server’s agent', async () => {
    const bench = new ChoosingBench('replies');
    const answer = bench.rings();
    await bench.decide(0, { type: 'transfer', to: '+15550199' });
    expect(await answer).toEqual({
      type: 'transfer',
      callId: 'call-1',
      to: '+15550199',
      callerId: '+15550100',
      webhookBaseUrl: 'https://voice.example/webhooks/carrier-a',
      ringTimeoutSeconds: 30,
    });
    expect(bench.report({ type: 'transfer', result: 'no-answer' })).toMatchObject({ type: 'stream' });
    bench.connect();
    expect(bench.record()).toMatchObject({
      agent: null,
      transfer: { result: 'no-answer' },
      status: 'active',
    });
    expect(bench.engines).toHaveLength(1);
  });
});

describe('a call that was decided on', () => {
  it('tells its agent in the stream token, so that another process gives it to that agent', async () => {
    const key = new Uint8Array(32).fill(7);
    const bench = new ChoosingBench('replies', { key });
    const answer = bench.rings();
    const billing = bench.agentNamed('billing');
    await bench.decide(0, billing);
    const { url } = (await answer) as Extract<CallAnswer, { type: 'stream' }>;
    const token = new URL(url).pathname.split('/').at(-1) ?? '';
    const facts = readStreamToken(key, token, bench.clock.wallNow());
    expect(facts).toMatchObject({ callId: 'call-1', agent: 'billing' });

    const known = (name: string) => (name === 'billing' ? billing.agent?.recipe : undefined);
    const other = new CallBench({ key, recipeNamed: known });
    other.admit(facts).receiver.receiveText(startText());
    expect(other.record()).toMatchObject({ agent: 'billing', status: 'active' });

    const stranger = new CallBench({ key, recipeNamed: known });
    stranger.admit({ ...facts, agent: 'unknown' }).receiver.receiveText(startText());
    expect(stranger.record()).toMatchObject({ agent: null, status: 'active' });
  });

  it('is kept with its texts, for a process that takes it up', async () => {
    const kept = new Map<string, string>();
    const bench = new ChoosingBench('replies', { key: new Uint8Array(32).fill(7) });
    bench.desk.keep({
      write: async (callId, text) => void kept.set(callId, text),
      remove: async (callId) => void kept.delete(callId),
    });
    void bench.ring();
    await bench.decide(0, bench.agentNamed('billing'));
    bench.connect();
    await bench.pass(1000);
    const state = decodeState(kept.get('call-1') ?? '');
    expect(state).toMatchObject({ callId: 'call-1', texts: { variables: { who: 'Ada' } } });
  });
});

describe('a call that is decided on, where commands steer', () => {
  it('is acknowledged at once and answered once the choice is known', async () => {
    const bench = new ChoosingBench('commands');
    expect(bench.ring()).toBeUndefined();
    await bench.pass(1000);
    expect([bench.rest.requests, bench.preparations]).toEqual([[], []]);
    await bench.decide(0, bench.agentNamed('billing'));
    await bench.pass();
    expect(bench.rest.requests).toEqual(['answer carrier-call-1']);
    expect(bench.preparations).toHaveLength(1);
    expect(bench.record()).toMatchObject({ agent: 'billing', status: 'ringing' });
  });

  it('is handed over once it is answered, and goes to the server’s agent where that is refused', async () => {
    const bench = new ChoosingBench('commands');
    bench.rest.failures.transfer = new Error('no');
    bench.ring();
    await bench.decide(0, { type: 'transfer', to: '+15550199' });
    await bench.pass();
    expect(bench.rest.requests).toEqual(['answer carrier-call-1']);
    bench.report({ type: 'status', status: 'active', outcome: null, sequence: null });
    await bench.pass();
    await bench.pass(5000);
    expect(bench.rest.requests.map((line) => line.split(' ')[0])).toEqual([
      'answer',
      'transfer',
      'startStream',
    ]);
    bench.connect();
    expect(bench.record()).toMatchObject({ status: 'active', agent: null });
  });
});

describe.each(['replies', 'commands'] as const)('a call that is decided on, %s', (steering) => {
  it('goes to the server’s agent where that is chosen', async () => {
    const bench = new ChoosingBench(steering);
    void bench.ring();
    await bench.decide(0, { type: 'agent', agent: undefined });
    await bench.comesUp();
    expect(bench.record()).toMatchObject({ agent: null, status: 'active' });
  });

  it.each(['busy', 'rejected'] as const)('is turned away as %s', async (reason) => {
    const bench = new ChoosingBench(steering);
    const answer = bench.rings();
    await bench.decide(0, { type: 'reject', reason });
    await bench.pass();
    if (steering === 'commands') expect(bench.rest.requests).toEqual([`reject carrier-call-1 ${reason}`]);
    else expect(await answer).toEqual({ type: reason === 'busy' ? 'busy' : 'reject' });
    const outcome = reason === 'busy' ? 'busy' : 'canceled';
    expect(bench.record()).toMatchObject({ endReason: 'rejected', outcome });
    expect(bench.desk.takenPlaces).toBe(0);
  });

  it('is over when the caller leaves, and a choice that comes later changes nothing', async () => {
    const bench = new ChoosingBench(steering);
    const answer = bench.rings();
    bench.report({ type: 'status', status: 'completed', outcome: 'canceled', sequence: 1 });
    expect(bench.questions[0]?.signal.aborted).toBe(true);
    expect(bench.record()).toMatchObject({ endReason: 'caller-hangup', outcome: 'canceled' });
    await bench.decide(0, bench.agentNamed('billing'));
    if (steering === 'replies') expect(await answer).toEqual({ type: 'hang-up' });
    expect(bench.ring()).toEqual({ type: 'hang-up' });
    expect([bench.engines, bench.preparations, bench.desk.takenPlaces]).toEqual([[], [], 0]);
    expect(bench.questions).toHaveLength(1);
  });

  it('is turned away when the server stops', async () => {
    const bench = new ChoosingBench(steering);
    const answer = bench.rings();
    await bench.desk.shutDown(1000);
    await bench.pass();
    expect(bench.questions[0]?.signal.aborted).toBe(true);
    expect(bench.record()).toMatchObject({ endReason: 'server-shutdown', outcome: 'canceled' });
    if (steering === 'commands') expect(bench.rest.requests).toEqual(['reject carrier-call-1 rejected']);
    else expect(await answer).toEqual({ type: 'hang-up' });
  });

  it('goes on while the server drains', async () => {
    const bench = new ChoosingBench(steering);
    void bench.ring();
    bench.desk.drain();
    await bench.decide(0, bench.agentNamed('billing'));
    await bench.comesUp();
    expect(bench.record()).toMatchObject({ agent: 'billing', status: 'active' });
  });

  it('belongs to a stream that another process has invited, and nobody waits for the choice any more', async () => {
    const bench = new ChoosingBench(steering);
    const answer = bench.rings();
    bench.connect();
    expect(bench.questions[0]?.signal.aborted).toBe(true);
    await bench.decide(0, bench.agentNamed('billing'));
    if (steering === 'replies') expect(await answer).toMatchObject({ type: 'stream' });
    expect(bench.record()).toMatchObject({ agent: null, status: 'active' });
    expect([bench.engines.length, bench.desk.liveCount]).toEqual([1, 1]);
  });

  it('is one of two hundred, decided in any order, and no other one', async () => {
    const bench = new ChoosingBench(steering, { prepares: true });
    const ids = Array.from({ length: 200 }, (_, index) => `call-${index}`);
    for (const id of ids) void bench.ring(id);
    expect(bench.desk.takenPlaces).toBe(200);
    for (const [index, id] of [...ids.entries()].reverse())
      bench.questions[index]?.decide(bench.agentNamed(`agent-of-${id}`));
    await bench.pass();
    for (const id of ids) await bench.comesUp(id);
    for (const id of ids) expect(bench.record(id)).toMatchObject({ agent: `agent-of-${id}` });
  });
});
