import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { TranscriptEntry } from '../../../src/contract/call-record.js';
import type { ConversationState } from '../../../src/conversation/state.js';
import type { EngineContext, EngineFact } from '../../../src/engines/engine.js';
import { setPhrasesFor } from '../../../src/engines/languages/set-phrases.js';
import { createAgentTools } from '../../../src/engines/tools/agent-tool.js';
import type { ToolContext } from '../../../src/engines/tools/tool.js';
import type { RealtimeContext, RealtimeSession } from '../../../src/providers/realtime-model.js';
import { runs } from '../../support/depth.js';
import { FakeClock } from '../../support/fake-clock.js';
import { sentence } from '../call-schedule.js';
import { toldAtStart } from '../fallback-rig.js';
import { FakeRealtimeModel, RealtimeRig } from '../realtime-rig.js';

const { message, repeat } = setPhrasesFor('en').resumed;

const GREETING = [901, 905, 906].map(sentence).join(' ');

const ms = (max: number) => fc.integer({ min: 0, max });

const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('wait' as const), ms: ms(3000) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('hears' as const),
      text: fc.constantFrom('A table.', undefined),
      isLate: fc.boolean(),
      hasTool: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom('talks' as const, 'key' as const) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('hold' as const), ms: ms(1500) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('dies' as const),
      /** What was said then has mostly been heard. */
      restMs: fc.constantFrom(0, 8000),
      gapMs: ms(5000),
      hasMessage: fc.boolean(),
      isStale: fc.boolean(),
    }),
  },
);

const plan = fc.record({
  actions: fc.array(action, { minLength: 3, maxLength: 12 }),
  toolMs: ms(3000),
  isIdempotent: fc.boolean(),
  interruptible: fc.boolean(),
  transcribesCaller: fc.boolean(),
  /** How long after an answer the model tells how its session can be gone on with; undefined: never. */
  handleAfterMs: fc.option(ms(3000), { nil: undefined }),
});

type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

const words = (text: string) => text.split(' ').filter((word) => /^(alfa|brav|chari|delt)/.test(word));

let resumedSessions = 0;

/** What a service remembers of its sessions, by their handles. */
type Sessions = Map<string, Known>;

/** What the agent said, and how often the caller wanted a table. */
interface Known {
  readonly words: readonly string[];
  readonly tables: number;
}

/** A model whose service keeps sessions. */
class RememberingModel extends FakeRealtimeModel {
  readonly #sessions: Sessions;
  readonly #handleAfterMs: number | undefined;
  #known: Known = { words: [], tables: 0 };
  /** Something was cut off that the session was told of, and it has not answered since. */
  #isCut = false;
  #told = '';

  constructor(sessions: Sessions, handleAfterMs: number | undefined) {
    super();
    this.#sessions = sessions;
    this.#handleAfterMs = handleAfterMs;
  }

  override open(context: RealtimeContext): RealtimeSession {
    const { handle } = context;
    const session = super.open(context);
    this.#known = this.#sessions.get(handle?.handle ?? '') ?? this.heard;
    // Whatever it is asked or told is not in a session of before.
    const changing =
      <Args extends unknown[]>(method: (...args: Args) => void) =>
      (...args: Args) => {
        this.#withdraw();
        method(...args);
      };
    const cutting = <Args extends unknown[]>(method: (...args: Args) => void) =>
      changing((...args: Args) => {
        this.#isCut = true;
        method(...args);
      });
    return {
      ...session,
      say: changing(session.say),
      addText: changing(session.addText),
      respond: changing(session.respond),
      giveResults: changing(session.giveResults),
      cancel: cutting(session.cancel),
      truncate: cutting(session.truncate),
    };
  }

  /** As the engine has it. */
  get heard(): Known {
    const told = toldAtStart(this).join(' ');
    return { words: words(told), tables: told.split('table').length - 1 };
  }

  get known(): Known {
    return this.#known;
  }

  override hears(text?: string): string {
    this.#withdraw();
    return super.hears(text);
  }

  /** The caller has said it, whenever its text comes. */
  remembers(text: string): void {
    const { tables } = this.#known;
    this.#known = { ...this.#known, tables: tables + text.split('table').length - 1 };
  }

  override answers(text: string, calls: readonly { id: string; name: string }[] = []): void {
    this.#withdraw();
    const wasCut = this.#isCut;
    this.#isCut = false;
    super.answers(text, calls);
    const said = wasCut ? this.heard.words : [...this.#known.words, ...words(text)];
    this.#known = { ...this.#known, words: said };
    const { clock } = this.context;
    if (this.#handleAfterMs === undefined) return;
    clock.after(this.#handleAfterMs, () => {
      if (!this.isClosed && !this.#isCut) this.#tell();
    });
  }

  #tell(): void {
    this.#told = `h${this.#sessions.size + 1}`;
    this.#sessions.set(this.#told, this.#known);
    const expiresAt = this.context.clock.wallNow() + 3_600_000;
    this.events.resumable?.({ handle: this.#told, settingsDigest: 'd', expiresAt });
  }

  #withdraw(): void {
    if (this.#told !== '') this.events.resumable?.(undefined);
    this.#told = '';
  }
}

/** A call from process to process, with a model that does what it is asked for, and answers the caller by itself. */
class Call {
  readonly clock = new FakeClock();
  readonly rigs: RealtimeRig[] = [];
  readonly keys: string[] = [];
  readonly models: RememberingModel[] = [];
  readonly #sessions: Sessions = new Map();
  /** What each model was told of the call before it. */
  readonly told: string[] = [];
  readonly #plan: Plan;
  #stored = '';
  #seen = 0;
  #number = 100;
  #wantsTool = false;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.open(undefined);
  }

  get rig(): RealtimeRig {
    const rig = this.rigs.at(-1);
    if (rig === undefined) throw new Error('nobody has the call');
    return rig;
  }

  get facts(): EngineFact[] {
    return this.rigs.flatMap(({ facts }) => facts);
  }

  get transcript(): TranscriptEntry[] {
    const entries = new Map<string, TranscriptEntry>();
    for (const fact of this.facts)
      if (fact.type === 'transcript.segment') entries.set(fact.entry.id, fact.entry);
    return [...entries.values()];
  }

  open(resumed: EngineContext['resumed']): void {
    const { clock } = this;
    const { toolMs, isIdempotent, interruptible, transcribesCaller, handleAfterMs } = this.#plan;
    const execute = async (_: object, { idempotencyKey }: ToolContext) => {
      this.keys.push(idempotencyKey);
      await new Promise<void>((done) => void clock.after(toolMs, done));
      return 'found';
    };
    const look = { name: 'look_up', description: 'Looks it up.', idempotent: isIdempotent, execute };
    const tools = createAgentTools([look]);
    const model = new RememberingModel(this.#sessions, handleAfterMs);
    const rig = new RealtimeRig({ clock, firstMessage: GREETING, interruptible, tools, resumed, model });
    this.models.push(model);
    rig.model.transcribesCaller = transcribesCaller;
    const push = rig.facts.push.bind(rig.facts);
    rig.facts.push = (...facts) => {
      const count = push(...facts);
      this.#stored = JSON.stringify(rig.engine.state);
      return count;
    };
    this.rigs.push(rig);
    this.#seen = 0;
    rig.start();
    this.told.push(toldAtStart(rig.model).join(' '));
    if (model.context.handle !== undefined) resumedSessions += 1;
    expect(model.known.words).toEqual(model.heard.words);
    // The words of the caller may be in no history where nobody waits for them.
    if (transcribesCaller) expect(model.known.tables).toBe(model.heard.tables);
    this.#stored = JSON.stringify(rig.engine.state);
  }

  async dies({ gapMs, hasMessage, isStale }: { gapMs: number; hasMessage: boolean; isStale: boolean }) {
    const { engine, context, facts, ended, pacer } = this.rig;
    const state: ConversationState = JSON.parse(isStale ? this.#stored : JSON.stringify(engine.state));
    context.fact = () => {};
    context.endCall = () => {};
    facts.push = () => facts.length;
    engine.close();
    pacer.close();
    ended.length = 0;
    await this.clock.advanceAsync(gapMs);
    const open = this.transcript.filter(({ final }) => !final);
    this.open({ state, open, message: hasMessage ? message : '', term: this.rigs.length + 1 });
  }

  /** The model does what it was asked for meanwhile. */
  async wait(waitMs: number): Promise<void> {
    for (let at = 0; at <= waitMs && this.rig.ended.length === 0; at += 100) {
      await this.rig.wait(100);
      const { model } = this.rig;
      for (let asked = model.asked[this.#seen]; asked !== undefined; asked = model.asked[this.#seen]) {
        this.#seen += 1;
        if (asked.startsWith('say ')) model.answers(asked.slice(4));
        if (asked === 'respond') this.#answers();
      }
    }
  }

  async hears({ text, isLate, hasTool }: { text?: string | undefined; isLate: boolean; hasTool: boolean }) {
    const { model } = this.rig;
    this.#wantsTool = hasTool;
    const itemId = model.hears(isLate ? undefined : text);
    if (text !== undefined) this.models.at(-1)?.remembers(text);
    await this.wait(200);
    if (this.rig.ended.length > 0) return;
    this.#answers();
    if (isLate && text !== undefined) {
      await this.wait(300);
      model.events.userText({ itemId, text, final: true });
    }
  }

  #answers(): void {
    const { model } = this.rig;
    this.#number += 1;
    const calls = this.#wantsTool ? [{ id: `c${this.#number}`, name: 'look_up' }] : [];
    this.#wantsTool = false;
    model.answers(sentence(this.#number), calls);
  }
}

async function play(plan: Plan): Promise<Call> {
  const call = new Call(plan);
  for (const step of plan.actions) {
    if (call.rig.ended.length > 0) break;
    if (step.type === 'wait') await call.wait(step.ms);
    if (step.type === 'hears') await call.hears(step);
    if (step.type === 'talks') call.rig.model.events.speechStarted();
    if (step.type === 'key') call.rig.engine.pushDtmf('1');
    if (step.type === 'hold') {
      call.rig.engine.hold();
      call.rig.pacer.clear();
      await call.rig.wait(step.ms);
      call.rig.engine.resume('continue');
    }
    if (step.type === 'dies') {
      await call.wait(step.restMs);
      if (call.rig.ended.length === 0) await call.dies(step);
    }
  }
  await call.wait(15_000);
  if (call.rig.ended.length === 0)
    await call.hears({ text: 'Are we still talking?', isLate: false, hasTool: false });
  await call.wait(15_000);
  return call;
}

async function check(plan: Plan): Promise<void> {
  const call = await play(plan);
  call.rig.engine.close();
  call.rig.pacer.close();
  const { facts } = call;
  const started = facts.flatMap((fact) => (fact.type === 'turn.started' ? [fact.turnIndex] : []));
  const turns = facts.flatMap((fact) => (fact.type === 'turn.completed' ? [fact.turn] : []));
  expect(started).toEqual(started.map((_, index) => index));
  expect(turns.map(({ index }) => index)).toEqual(started);
  expect(call.transcript.filter(({ final }) => !final)).toEqual([]);
  const isAnswered = turns.some(
    ({ userText, agentText }) => userText.includes('talking') && agentText !== '',
  );
  expect(isAnswered || call.rig.ended.length > 0).toBe(true);
  const recorded = turns.flatMap(({ agentText }) => words(agentText));
  for (const told of call.told) {
    for (const word of words(told)) expect(recorded).toContain(word);
  }
  for (const key of new Set(call.keys)) {
    const count = call.keys.filter((each) => each === key).length;
    expect(count).toBeLessThanOrEqual(plan.isIdempotent ? call.rigs.length : 1);
  }
  // A model begins anew with what a hold cut off.
  const isHeld = plan.actions.some(({ type }) => type === 'hold');
  const heard = turns.map(({ agentText }) => agentText).join(' ');
  if (!isHeld) {
    expect(heard.split(sentence(901)).length).toBeLessThanOrEqual(2);
    for (const { model } of call.rigs)
      expect(model.asked.filter((asked) => asked === `say ${repeat}`).length).toBeLessThanOrEqual(1);
  }
  await call.clock.advanceAsync(60_000);
  expect(call.clock.pending).toBe(0);
}

it('whenever a process dies: each turn once, a true transcript, no second greeting, no tool twice, and an answer', async () => {
  await fc.assert(fc.asyncProperty(plan, check), {
    numRuns: Number(process.env.SCHEDULES ?? runs(30, 1500)),
    seed: Number(process.env.SEED ?? 1),
  });
  expect(resumedSessions).toBeGreaterThan(0);
}, 3_600_000);
