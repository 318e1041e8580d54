import { describe, expect, it } from 'vitest';
import { type ConversationState, restored } from '../../src/conversation/state.js';
import { createAgentTools } from '../../src/engines/tools/agent-tool.js';
import type { ToolContext } from '../../src/engines/tools/tool.js';
import { FakeClock } from '../support/fake-clock.js';
import { CallRig, playing } from './call-rig.js';
import { toldAtStart } from './fallback-rig.js';
import { RealtimeRig } from './realtime-rig.js';

interface Run {
  readonly args: object;
  readonly context: ToolContext;
  readonly resolve: (result: string) => void;
}

/** What one process after the other has run of a tool. */
class Order {
  readonly runs: Run[] = [];

  tools({ idempotent }: { idempotent?: boolean } = { idempotent: true }) {
    const execute = (args: object, context: ToolContext) =>
      new Promise<string>((resolve) => void this.runs.push({ args, context, resolve }));
    const order = { name: 'order', description: 'Orders bread.', execute };
    return createAgentTools([idempotent === undefined ? order : { ...order, idempotent }]);
  }

  get keys(): string[] {
    return this.runs.map(({ context }) => context.idempotencyKey);
  }
}

type Tools = ReturnType<Order['tools']>;

/** A call whose model wants a tool, in one voice mode, from process to process. */
abstract class Caller {
  readonly clock = new FakeClock();

  /** The first process: the model calls `order` with each of `args`, in one answer each where `apart`. */
  abstract begin(tools: Tools, args: readonly object[], how?: { apart: boolean }): Promise<void>;
  abstract next(tools: Tools): Promise<void>;
  /** The model says something without waiting for the tool. */
  abstract goOn(): Promise<void>;
  abstract wait(): Promise<void>;
  /** What the model was told of tools. */
  abstract get told(): string;
}

function stored(state: ConversationState, clock: FakeClock, transcribesCaller: boolean): ConversationState {
  const read: ConversationState = JSON.parse(JSON.stringify(state));
  return restored(read, { at: { now: clock.now(), wall: clock.wallNow() }, transcribesCaller }).state;
}

class PipelineCaller extends Caller {
  #rig: CallRig | undefined;

  async begin(tools: Tools, args: readonly object[], { apart } = { apart: false }) {
    const { clock } = this;
    this.#rig = await new CallRig({ clock, tools }).start();
    const calls = args.map((each, index) => ({
      type: 'tool-call' as const,
      id: `c${index}`,
      name: 'order',
      arguments: each as Record<string, unknown>,
      argumentsText: JSON.stringify(each),
    }));
    for (const answer of apart ? calls.map((call) => [call]) : [calls]) {
      this.rig.model.answer(...answer);
      await this.rig.says('Bread, please.');
      await this.wait();
    }
  }

  async next(tools: Tools) {
    const { clock, rig } = this;
    const state = stored(rig.engine.state, clock, false);
    rig.engine.close();
    const next = new CallRig({ clock, tools, takeover: { state } });
    next.model.answer('Here I am again.');
    next.model.answer('And again.');
    this.#rig = await next.start();
    await this.wait();
  }

  async goOn() {
    this.rig.model.answer('I tell you soon.');
    await this.rig.says('When is it ready?');
    await this.rig.quiet(playing('I tell you soon.') + 100);
  }

  wait = () => this.rig.quiet(500);

  get told() {
    return JSON.stringify(this.rig.model.requests.at(-1)?.messages ?? []);
  }

  private get rig(): CallRig {
    if (this.#rig === undefined) throw new Error('nobody has begun');
    return this.#rig;
  }
}

class RealtimeCaller extends Caller {
  #rig: RealtimeRig | undefined;

  async begin(tools: Tools, args: readonly object[], { apart } = { apart: false }) {
    const { clock } = this;
    this.#rig = new RealtimeRig({ clock, tools }).start();
    const calls = args.map((each, index) => ({ id: `c${index}`, name: 'order', args: each }));
    for (const answer of apart ? calls.map((call) => [call]) : [calls]) {
      this.rig.model.hears('Bread, please.');
      this.rig.model.answers('', answer);
      await this.wait();
    }
  }

  async next(tools: Tools) {
    const { clock, rig } = this;
    const state = stored(rig.engine.state, clock, true);
    rig.engine.close();
    this.#rig = new RealtimeRig({ clock, tools, takeover: { state } }).start();
    await this.wait();
  }

  async goOn() {
    this.rig.model.hears('When is it ready?');
    this.rig.model.answers('I tell you soon.');
    await this.rig.wait(3000);
  }

  wait = () => this.rig.wait(500);

  get told() {
    return JSON.stringify([toldAtStart(this.rig.model), this.rig.model.asked]);
  }

  private get rig(): RealtimeRig {
    if (this.#rig === undefined) throw new Error('nobody has begun');
    return this.#rig;
  }
}

describe.each([
  ['pipeline', () => new PipelineCaller()],
  ['realtime', () => new RealtimeCaller()],
])('a tool that ran when the process of a %s call died', (_, open) => {
  it('is run again under the same key where that does no harm, and its result is given', async () => {
    const [order, caller] = [new Order(), open()];
    await caller.begin(order.tools(), [{ loaves: 2 }]);
    await caller.next(order.tools());
    expect(order.keys).toEqual(['call-1.tool-1', 'call-1.tool-1']);
    expect(order.runs[1]?.args).toEqual({ loaves: 2 });
    expect(caller.told).not.toContain('lost');
    order.runs[1]?.resolve('ordered');
    await caller.wait();
    expect(caller.told).toContain('ordered');
  });

  it('is run again by each process that follows', async () => {
    const [order, caller] = [new Order(), open()];
    await caller.begin(order.tools(), [{ loaves: 2 }]);
    for (let count = 0; count < 3; count += 1) await caller.next(order.tools());
    expect(order.keys).toEqual(Array(4).fill('call-1.tool-1'));
    order.runs[3]?.resolve('ordered');
    await caller.wait();
    await caller.next(order.tools());
    expect(order.runs).toHaveLength(4);
    expect(caller.told).toContain('ordered');
  });

  it('is run again where the model had gone on without it, and told of when it is done', async () => {
    const [order, caller] = [new Order(), open()];
    await caller.begin(order.tools(), [{ loaves: 2 }]);
    await caller.goOn();
    await caller.next(order.tools());
    expect(order.keys).toEqual(['call-1.tool-1', 'call-1.tool-1']);
    order.runs[1]?.resolve('ordered');
    await caller.wait();
    expect(caller.told).toContain('ordered');
  });

  it('keeps its own key beside others', async () => {
    const [order, caller] = [new Order(), open()];
    await caller.begin(order.tools(), [{ loaves: 2 }, { loaves: 3 }]);
    order.runs[0]?.resolve('ordered');
    await caller.wait();
    await caller.next(order.tools());
    expect(order.runs.slice(2)).toMatchObject([
      { args: { loaves: 3 }, context: { idempotencyKey: 'call-1.tool-2' } },
    ]);
  });

  it('is not run once more for a call that had joined it', async () => {
    const [order, caller] = [new Order(), open()];
    await caller.begin(order.tools(), [{ loaves: 2 }, { loaves: 2 }], { apart: true });
    expect(order.keys).toEqual(['call-1.tool-1']);
    await caller.next(order.tools());
    expect(order.keys).toEqual(['call-1.tool-1', 'call-1.tool-1']);
  });

  it('is run again as often as one answer has called it', async () => {
    const [order, caller] = [new Order(), open()];
    await caller.begin(order.tools(), [{ loaves: 2 }, { loaves: 2 }]);
    await caller.next(order.tools());
    expect(order.keys).toEqual(['call-1.tool-1', 'call-1.tool-2', 'call-1.tool-1', 'call-1.tool-2']);
  });

  it.each([
    ['it was not said to do no harm', false, true],
    ['it no longer does no harm', true, false],
  ])('is lost, and may have been done, where %s', async (__, before, after) => {
    const [order, caller] = [new Order(), open()];
    await caller.begin(order.tools({ idempotent: before }), [{ loaves: 2 }]);
    await caller.next(order.tools({ idempotent: after }));
    expect(order.runs).toHaveLength(1);
    expect(caller.told).toMatch(/The result of the tool was lost\. It may have been done/);
  });

  it('is lost where the agent has it no more', async () => {
    const [order, caller] = [new Order(), open()];
    await caller.begin(order.tools(), [{ loaves: 2 }]);
    await caller.next([]);
    expect(caller.told).toMatch(/The result of the tool was lost\. It may have been done/);
  });
});
