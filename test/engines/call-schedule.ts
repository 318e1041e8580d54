// A whole call by chance: providers with plans of their own, a caller who does anything at any time, and what a listener at the
// caller's ear can say about it afterwards.
import fc from 'fast-check';
import type { ToolContext } from '../../src/engines/tools/tool.js';
import { createAgentTools } from '../../src/engines/tools/agent-tool.js';
import type { LanguageModelEvent, LanguageModelRequest } from '../../src/providers/language-model.js';
import type { EngineContext } from '../../src/engines/engine.js';
import { CallRig, FakeVoice, MS_PER_CHAR, type RigOptions } from './call-rig.js';

const WORDS = ['alfa', 'brav', 'chari', 'delt'];

/**
 * A sentence that is said once only: all its words carry its number, in letters. It has as many syllables as its length at
 * `MS_PER_CHAR` lets expect: what is heard of a sentence that is not yet synthesized is estimated by them.
 */
export function sentence(number: number): string {
  const code = [...String(number)].map((digit) => 'bcdfghjklm'[Number(digit)]).join('');
  return `${WORDS.map((word) => `${word}${code}`).join(' ')}.`;
}

const ms = (max: number) => fc.integer({ min: 0, max });
const rarely = fc.integer({ min: 0, max: 11 }).map((value) => value === 0);

const answerPlan = fc.record({
  firstMs: ms(2500),
  gapMs: ms(600),
  sentences: ms(3),
  tool: fc.constantFrom('none', 'none', 'look_up', 'send_dtmf', 'nobody', 'end_call'),
  trouble: fc.constantFrom(...new Array(16).fill('none'), 'throws', 'hangs', 'garbage'),
});

const voicePlan = fc.record({
  firstMs: ms(700),
  gapMs: ms(60),
  chunk: fc.integer({ min: 201, max: 9000 }),
  trouble: fc.constantFrom(...new Array(20).fill('none'), 'throws', 'hangs', 'silent'),
});

const action = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant('quiet' as const), ms: ms(2500) }) },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('voiced' as const), ms: ms(1200) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constantFrom('partial' as const, 'final' as const),
      text: fc.constantFrom('', 'yes', 'mm-hm', 'stop', 'what about Sunday', 'I would like a table.', 'and'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('says' as const), text: fc.constant('A table.') }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom('sound' as const, 'end-of-turn' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('key' as const), key: fc.constantFrom('1', '2', '#') }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constant('hold' as const),
      ms: ms(1500),
      how: fc.constantFrom('continue' as const, 'listen' as const, { news: 'The line is busy.' }),
    }),
  },
);

export const schedule = fc.record({
  answers: fc.array(answerPlan, { maxLength: 8 }),
  voices: fc.array(voicePlan, { maxLength: 8 }),
  tools: fc.array(fc.record({ ms: ms(3000), fails: rarely }), { maxLength: 4 }),
  actions: fc.array(action, { minLength: 3, maxLength: 14 }),
  guardrail: fc.constantFrom('none', 'none', 'slow', 'drops'),
  losesMarks: rarely,
  interruptible: fc.boolean(),
  hasIdle: fc.boolean(),
});

export type Schedule = typeof schedule extends fc.Arbitrary<infer T> ? T : never;

/** Every synthesis has a sample of its own. */
class TracedVoice extends FakeVoice {
  readonly texts: string[] = [];
  readonly #plans: Schedule['voices'];
  readonly #wait: (ms: number) => Promise<void>;

  constructor(plans: Schedule['voices'], wait: (ms: number) => Promise<void>) {
    super();
    this.#plans = plans;
    this.#wait = wait;
  }

  override open() {
    const { texts } = this;
    const plans = this.#plans;
    const wait = this.#wait;
    return {
      async *synthesize(text: string) {
        const id = texts.push(text);
        const { firstMs, gapMs, chunk, trouble } = plans[id % Math.max(1, plans.length)] ?? {
          firstMs: 0,
          gapMs: 0,
          chunk: 4000,
          trouble: 'none',
        };
        if (firstMs > 0) await wait(firstMs);
        if (trouble === 'silent') return;
        for (let left = text.length * MS_PER_CHAR * 16; left > 0; left -= chunk) {
          yield new Int16Array(Math.min(left, chunk)).fill(id);
          if (gapMs > 0) await wait(gapMs);
          if (trouble === 'throws') throw new Error('broken');
          if (trouble === 'hangs') await new Promise(() => {});
        }
      },
      close() {},
    };
  }
}

export interface ScheduledCallOptions extends Pick<RigOptions, 'firstMessage'> {
  /** The tool may be run again. @default false */
  readonly isIdempotent?: boolean;
}

export class ScheduledCall {
  /** The one that has the call. */
  rig: CallRig;
  readonly voice: TracedVoice;
  /** The keys of the tools that were run, in order. */
  readonly toolKeys: string[] = [];
  /** Numbers of the sentences that the engine has certainly taken. */
  readonly taken = new Set<number>();
  readonly #schedule: Schedule;
  readonly #agent: RigOptions;
  #number = 100;
  #requests = 0;

  constructor(
    plan: Schedule,
    { firstMessage = sentence(901), isIdempotent = false }: ScheduledCallOptions = {},
  ) {
    this.#schedule = plan;
    const wait = (delay: number) => new Promise<void>((done) => void this.rig.clock.after(delay, done));
    this.voice = new TracedVoice(plan.voices, wait);
    let runs = 0;
    const guardrails = {
      none: [],
      slow: [() => wait(150).then(() => true)],
      drops: [(text: string) => !/alfa\w*[bh]\b/.test(text)],
    }[plan.guardrail as 'none' | 'slow' | 'drops'];
    this.#agent = {
      voice: this.voice,
      firstMessage,
      interruptible: plan.interruptible,
      guardrails,
      turnTaking: { fillers: ['One moment.', 'Let me see.'] },
      ...(plan.hasIdle
        ? { idle: { afterMs: 4000, prompts: [sentence(902), sentence(903)], goodbye: sentence(904) } }
        : {}),
      tools: createAgentTools([
        {
          name: 'look_up',
          description: 'Looks it up.',
          idempotent: isIdempotent,
          execute: async (_: object, { idempotencyKey }: ToolContext) => {
            this.toolKeys.push(idempotencyKey);
            const { ms: delay, fails } = plan.tools[runs++] ?? { ms: 0, fails: false };
            await wait(delay);
            if (fails) throw new Error('broken');
            return 'found';
          },
        },
      ]),
    };
    this.rig = this.#open({});
  }

  /** Another process has the call from now on. `opened`: before it begins. */
  async goOn(resumed: EngineContext['resumed'], opened: (rig: CallRig) => void): Promise<void> {
    const { clock } = this.rig;
    this.rig = this.#open({ clock, resumed });
    opened(this.rig);
    await this.rig.start();
  }

  #open(options: RigOptions): CallRig {
    const rig = new CallRig({ ...this.#agent, ...options });
    if (this.#schedule.losesMarks) rig.pacer.markEchoed = () => false;
    rig.model.respond = (request) => {
      rig.model.requests.push(structuredClone({ ...request, signal: undefined }) as never);
      this.#requests += 1;
      return this.#answer(request, this.#requests - 1);
    };
    return rig;
  }

  async *#answer(request: LanguageModelRequest, index: number): AsyncGenerator<LanguageModelEvent> {
    const wait = (delay: number) => new Promise<void>((done) => void this.rig.clock.after(delay, done));
    const plan = this.#schedule.answers[index] ?? {
      firstMs: 100,
      gapMs: 0,
      sentences: 1,
      tool: 'none',
      trouble: 'none',
    };
    await wait(plan.firstMs);
    if (plan.trouble === 'throws') throw new Error('broken');
    if (plan.trouble === 'hangs') await new Promise(() => {});
    if (plan.trouble === 'garbage')
      for (const garbage of [null, 7, {}, { type: 'text' }, { type: 'tool-call' }, { type: 'nonsense' }])
        yield garbage as never;
    for (let count = 0; count < plan.sentences; count += 1) {
      this.#number += 1;
      const number = this.#number;
      // Whatever a stopped model still gives is lost, and that is right.
      this.rig.clock.after(1, () => {
        if (!request.signal.aborted) this.taken.add(number);
      });
      yield { type: 'text', delta: `${sentence(number)} ` };
      await wait(plan.gapMs);
    }
    if (plan.tool === 'none') return;
    const args = plan.tool === 'send_dtmf' ? { digits: '1' } : {};
    const argumentsText = JSON.stringify(args);
    yield { type: 'tool-call', id: `call_${index}`, name: plan.tool, arguments: args, argumentsText };
  }

  /** Plays the schedule, and then hangs up. `before`: what happens before a step. */
  async play(before?: (step: number) => Promise<void>): Promise<void> {
    await this.rig.start();
    for (const [index, step] of this.#schedule.actions.entries()) {
      await before?.(index);
      const { rig } = this;
      if (rig.ended.length > 0) break;
      if (step.type === 'quiet') await rig.quiet(step.ms);
      if (step.type === 'voiced') await rig.voiced(step.ms);
      if (step.type === 'partial') rig.ears.events.partial(step.text);
      if (step.type === 'final') rig.ears.events.final(step.text);
      if (step.type === 'says') await rig.says(step.text);
      if (step.type === 'sound') rig.ears.events.speechStarted?.(0);
      if (step.type === 'end-of-turn') rig.ears.events.turnEnded?.();
      if (step.type === 'key') rig.engine.pushDtmf(step.key);
      if (step.type === 'hold') {
        rig.engine.hold();
        rig.pacer.clear();
        await rig.clock.advanceAsync(step.ms);
        rig.engine.resume(step.how);
      }
      await rig.quiet(20);
    }
    await before?.(this.#schedule.actions.length);
    const { rig } = this;
    if (rig.ended.length > 0) await rig.quiet(8000);
    rig.engine.close();
    rig.pacer.close();
  }

  /** What the ear has heard: which synthesis, and for how long, in order. Silence is left out. */
  heard({ player } = this.rig): { id: number; ms: number }[] {
    const bytes = player.heard();
    const samples = new Int16Array(Uint8Array.from(bytes).buffer);
    const runs: { id: number; ms: number }[] = [];
    for (const id of samples) {
      if (id === 0) continue;
      const last = runs.at(-1);
      if (last?.id === id) last.ms += 1 / 16;
      else runs.push({ id, ms: 1 / 16 });
    }
    return runs;
  }
}
