// A realtime model that does with what it is asked for whatever it likes: calls tools in the place of words or behind them, or gives nothing.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createAgentTools } from '../../../src/engines/tools/agent-tool.js';
import { runs } from '../../support/depth.js';
import { sentence } from '../call-schedule.js';
import { FakeRealtimeModel, RealtimeRig } from '../realtime-rig.js';

const GREETING = sentence(901);

const ms = (max: number) => fc.integer({ min: 0, max });

const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('wait' as const), ms: ms(4000) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constantFrom('hears' as const, 'coughs' as const) }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('asks' as const), interrupts: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('key' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('hold' as const),
      ms: ms(1500),
      how: fc.constantFrom('continue' as const, 'listen' as const, { news: 'The line is busy.' }),
    }),
  },
);

/** What the model makes of something that it is asked for. Behind the last one: what it should. */
const response = fc.record({
  hasSound: fc.boolean(),
  tool: fc.constantFrom('look_up', 'look_up', 'look_up', undefined, undefined, 'end_call'),
  toolMs: fc.constantFrom(0, 300, 2500, 7000),
});

const plan = fc.record({
  actions: fc.array(action, { minLength: 3, maxLength: 12 }),
  responses: fc.array(response, { minLength: 2, maxLength: 10 }),
  interruptible: fc.boolean(),
  /** It tells that the caller interrupts it also where it says nothing. */
  tellsInterruptions: fc.boolean(),
  canFill: fc.boolean(),
  hasIdle: fc.boolean(),
});

type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

class Call {
  readonly rig: RealtimeRig;
  readonly asked: string[] = [];
  readonly #responses: Plan['responses'][number][];
  readonly #tellsInterruptions: boolean;
  #seen = 0;
  #number = 100;
  #toolMs = 0;

  constructor({ responses, interruptible, tellsInterruptions, canFill, hasIdle }: Plan) {
    this.#responses = [...responses];
    this.#tellsInterruptions = interruptible && tellsInterruptions;
    const execute = async () => {
      await new Promise<void>((done) => void this.rig.clock.after(this.#toolMs, () => done()));
      return 'found';
    };
    const tools = createAgentTools([{ name: 'look_up', description: 'Looks it up.', execute }]);
    const model = new FakeRealtimeModel();
    model.canFill = canFill;
    const idle = hasIdle ? { afterMs: 6000, prompts: [sentence(902)], goodbye: sentence(903) } : undefined;
    this.rig = new RealtimeRig({ firstMessage: GREETING, interruptible, tools, model, idle }).start();
  }

  get isOver(): boolean {
    return this.rig.ended.length > 0;
  }

  /** The model does what it was asked for meanwhile. */
  async wait(waitMs: number): Promise<void> {
    for (let at = 0; at <= waitMs && !this.isOver; at += 100) {
      await this.rig.wait(100);
      this.#catchUp();
    }
  }

  /** From now on the model does what it should. */
  behaves(): void {
    this.#responses.length = 0;
  }

  asks(interrupts: boolean): void {
    const text = sentence(500 + this.asked.length);
    if (this.rig.engine.request({ id: text, text, interrupts })) this.asked.push(text);
  }

  async hears({ hasWords = true } = {}): Promise<void> {
    const { events } = this.rig.model;
    this.#number += 1;
    const itemId = `u${this.#number}`;
    events.speechStarted();
    if (this.#tellsInterruptions) events.interrupted();
    events.speechEnded({ itemId, agoMs: 500 });
    events.userText({ itemId, text: hasWords ? 'A table.' : '', final: true });
    await this.wait(200);
    this.#catchUp();
    if (!this.isOver && hasWords) this.#answers();
  }

  #catchUp(): void {
    const { asked } = this.rig.model;
    // What was asked for before it is not given any more.
    this.#seen = Math.max(this.#seen, asked.lastIndexOf('cancel'));
    while (this.#seen < asked.length && !this.isOver) {
      const [order = '', ...text] = (asked[this.#seen] ?? '').split(' ');
      this.#seen += 1;
      if (order === 'say') this.#responds(text.join(' '));
      else if (order === 'fill') this.rig.model.answers(text.join(' '));
      else if (order === 'respond') this.#answers();
    }
  }

  #answers(): void {
    this.#number += 1;
    this.#responds(sentence(this.#number));
  }

  #responds(text: string): void {
    const { hasSound = true, tool, toolMs = 0 } = this.#responses.shift() ?? {};
    this.#toolMs = toolMs;
    this.#number += 1;
    const calls = tool === undefined ? [] : [{ id: `c${this.#number}`, name: tool }];
    this.rig.model.answers(hasSound ? text : '', calls);
  }
}

async function check(plan: Plan): Promise<void> {
  const call = new Call(plan);
  const { rig } = call;
  for (const step of plan.actions) {
    if (call.isOver) break;
    if (step.type === 'wait') await call.wait(step.ms);
    else if (step.type === 'hears') await call.hears();
    else if (step.type === 'coughs') await call.hears({ hasWords: false });
    else if (step.type === 'asks') call.asks(step.interrupts);
    else if (step.type === 'key') rig.engine.pushDtmf('1');
    else if (step.type === 'hold') {
      rig.engine.hold();
      rig.pacer.clear();
      await rig.wait(step.ms);
      rig.engine.resume(step.how);
    }
  }
  call.behaves();
  await call.wait(60_000);
  const { phase } = rig.engine.state.floor.floor;
  if (!call.isOver && !plan.hasIdle) expect(phase).toBe('listening');
  // A cough may have taken the floor: who has coughed says what they want.
  await call.hears();
  await call.wait(40_000);
  const outcomes = new Map(rig.outcomes.map((each) => each.split(/ (?=\w+$)/) as [string, string]));
  expect(outcomes.size).toBe(rig.outcomes.length);
  if (!call.isOver) expect([...outcomes.keys()].toSorted()).toEqual(call.asked.toSorted());
  const said = rig.turns.map(({ agentText }) => agentText).join(' ');
  // An answer that a model gives by itself while it was to say something else passes for that.
  const isTold = plan.interruptible && plan.tellsInterruptions;
  const isClear = isTold || plan.actions.every(({ type }) => type !== 'hears');
  for (const [text, outcome] of outcomes) if (isClear && outcome === 'heard') expect(said).toContain(text);
  if (!call.isOver) {
    const before = rig.turns.length;
    await call.hears();
    await call.wait(8000);
    expect(rig.turns.slice(before).some(({ agentText }) => agentText !== '')).toBe(true);
  }
  rig.engine.close();
  rig.pacer.close();
  await rig.clock.advanceAsync(60_000);
  expect(rig.clock.pending).toBe(0);
}

it('whatever a realtime model does: each request is told of once and truly, and the caller is answered', async () => {
  await fc.assert(fc.asyncProperty(plan, check), { numRuns: runs(60, 2000) });
}, 600_000);
