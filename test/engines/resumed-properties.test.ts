import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { TranscriptEntry } from '../../src/contract/call-record.js';
import type { ConversationState } from '../../src/conversation/state.js';
import type { EngineFact } from '../../src/engines/engine.js';
import { setPhrasesFor } from '../../src/engines/languages/set-phrases.js';
import { runs } from '../support/depth.js';
import { type CallRig, MS_PER_CHAR } from './call-rig.js';
import { ScheduledCall, schedule, sentence } from './call-schedule.js';

const { message } = setPhrasesFor('en').resumed;

const GREETING = [sentence(901), sentence(905), sentence(906)];

/** A process dies, and another one goes on a while later. */
const death = fc.record({
  /** Before which of the steps, and how long behind the one before it. */
  step: fc.integer({ min: 0, max: 14 }),
  afterMs: fc.integer({ min: 0, max: 2500 }),
  gapMs: fc.integer({ min: 0, max: 5000 }),
  /** What was stored is what was so at the last moment at which a process stores it, or now. */
  isStale: fc.boolean(),
  hasMessage: fc.boolean(),
});

type Death = typeof death extends fc.Arbitrary<infer T> ? T : never;

const plan = fc.record({
  schedule,
  deaths: fc.array(death, { minLength: 1, maxLength: 2 }),
  isIdempotent: fc.boolean(),
});

type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

/** A fact behind which the state is stored. The agent's entry grows by what is known to have been heard, sentence by sentence. */
function isMoment(fact: EngineFact): boolean {
  if (fact.type === 'transcript.segment') return fact.entry.final || fact.entry.role === 'agent';
  return fact.type === 'phase.changed' || fact.type === 'turn.started' || fact.type === 'turn.completed';
}

/** One process of a call, as far as others know of it. */
class Process {
  readonly rig: CallRig;
  #stored: string;

  constructor(rig: CallRig) {
    this.rig = rig;
    this.#stored = JSON.stringify(rig.engine.state);
    const push = rig.facts.push.bind(rig.facts);
    rig.facts.push = (...facts) => {
      const count = push(...facts);
      if (facts.some(isMoment)) this.#store();
      return count;
    };
    const { engine } = rig;
    const markPlayed = engine.markPlayed.bind(engine);
    engine.markPlayed = (name) => {
      markPlayed(name);
      this.#store();
    };
  }

  /** What is left of it. */
  die({ isStale }: Pick<Death, 'isStale'>): ConversationState {
    if (!isStale) this.#store();
    const state: ConversationState = JSON.parse(this.#stored);
    const { context, engine, facts, pacer, player, ended } = this.rig;
    context.fact = () => {};
    context.endCall = () => {};
    facts.push = () => facts.length;
    engine.close();
    pacer.close();
    // The line is gone with what was on its way.
    const heard = player.heard();
    player.heard = () => heard;
    ended.length = 0;
    return state;
  }

  #store(): void {
    this.#stored = JSON.stringify(this.rig.engine.state);
  }
}

/** What the record of a call has that is not final. */
function openIn(processes: readonly Process[]): TranscriptEntry[] {
  const entries = new Map<string, TranscriptEntry>();
  for (const fact of processes.flatMap(({ rig }) => rig.facts))
    if (fact.type === 'transcript.segment') entries.set(fact.entry.id, fact.entry);
  return [...entries.values()].filter(({ final }) => !final);
}

interface Played {
  readonly call: ScheduledCall;
  readonly processes: readonly CallRig[];
  readonly facts: readonly EngineFact[];
  /** A caller who has spoken at the end was answered, or the call was over. */
  readonly isAnswered: boolean;
}

async function play({ schedule, deaths, isIdempotent }: Plan): Promise<Played> {
  const call = new ScheduledCall(schedule, { firstMessage: GREETING.join(' '), isIdempotent });
  const processes = [new Process(call.rig)];
  let isAnswered = false;
  await call.play(async (step) => {
    for (const death of deaths) {
      if (death.step % (schedule.actions.length + 1) !== step || call.rig.ended.length > 0) continue;
      await call.rig.quiet(death.afterMs);
      if (call.rig.ended.length > 0) continue;
      const { clock } = call.rig;
      const state = processes.at(-1)?.die(death);
      if (state === undefined) continue;
      await clock.advanceAsync(death.gapMs);
      const term = processes.length + 1;
      const resumed = { state, open: openIn(processes), message: death.hasMessage ? message : '', term };
      await call.goOn(resumed, (rig) => {
        processes.push(new Process(rig));
      });
    }
    if (step < schedule.actions.length) return;
    await call.rig.quiet(8000);
    await call.rig.says('Are we still talking?');
    const { ended, model } = call.rig;
    // A voice may be slower than what it says.
    for (let waitedMs = 0; !isAnswered && waitedMs < 90_000; waitedMs += 3000) {
      await call.rig.quiet(3000);
      isAnswered = ended.length > 0 || JSON.stringify(model.requests).includes('still talking');
    }
  });
  isAnswered ||= call.rig.ended.length > 0;
  const rigs = processes.map(({ rig }) => rig);
  return { call, processes: rigs, facts: rigs.flatMap(({ facts }) => facts), isAnswered };
}

const words = (text: string) => text.split(' ').filter((word) => /^(alfa|brav|chari|delt)/.test(word));

function tally(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of texts.flatMap(words)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Each turn begins once and is stated once, and nothing is left open. */
function checkTurns({ facts }: Played): void {
  const started = facts.flatMap((fact) => (fact.type === 'turn.started' ? [fact.turnIndex] : []));
  const completed = facts.flatMap((fact) => (fact.type === 'turn.completed' ? [fact.turn.index] : []));
  expect(started).toEqual(started.map((_, index) => index));
  expect(completed).toEqual(started);
}

/** What was final in the transcript of one process stays so in the next, and all is final in the end. */
function checkTranscript({ processes }: Played): void {
  const entries = new Map<string, TranscriptEntry>();
  for (const { facts } of processes) {
    const before = new Map(entries);
    for (const fact of facts) {
      if (fact.type !== 'transcript.segment') continue;
      const { entry } = fact;
      const known = before.get(entry.id);
      if (known?.final === true && known.role !== 'tool')
        expect([entry.role, entry.text]).toEqual([known.role, known.text]);
      entries.set(entry.id, entry);
    }
  }
  expect([...entries.values()].filter(({ final }) => !final)).toEqual([]);
}

/** A model is told nothing that was not heard, nor of the words between two processes. */
function checkHistory({ call, processes, facts }: Played): void {
  const turns = facts.flatMap((fact) => (fact.type === 'turn.completed' ? [fact.turn] : []));
  const recorded = tally(turns.map(({ agentText }) => agentText));
  const heard = new Map<string, number>();
  for (const rig of processes)
    for (const { id, ms } of call.heard(rig)) {
      const text = call.voice.texts[id - 1] ?? '';
      const said = [...text.matchAll(/\S+/g)].filter((word) => word.index <= ms / MS_PER_CHAR + 1);
      for (const [word] of said) heard.set(word, (heard.get(word) ?? 0) + 1);
    }
  for (const [word, count] of recorded)
    expect(heard.get(word) ?? 0, `${word} is recorded`).toBeGreaterThanOrEqual(count);
  for (const { model } of processes)
    for (const { messages } of model.requests) {
      expect(JSON.stringify(messages)).not.toContain(message.split('.')[0]);
      // Who is in the middle of an answer is told what they said themselves.
      if (messages.at(-1)?.role !== 'user') continue;
      const told = tally(messages.flatMap(({ role, content }) => (role === 'assistant' ? [content] : [])));
      for (const [word, count] of told)
        expect(recorded.get(word) ?? 0, `${word} is told`).toBeGreaterThanOrEqual(count);
    }
}

/** Of the greeting nothing is said again but the sentence that was cut off. */
function checkGreeting({ call, processes }: Played, { schedule }: Plan): void {
  if (schedule.losesMarks) return;
  const sentencesOf = (rig: CallRig) =>
    call.heard(rig).flatMap(({ id, ms }) => {
      const text = call.voice.texts[id - 1] ?? '';
      // What is taken for said is so a moment after it is heard.
      const isHeard = (each: string) => text.includes(each) && ms > text.indexOf(each) * MS_PER_CHAR + 300;
      return GREETING.flatMap((each, place) => (isHeard(each) ? [place] : []));
    });
  const done: number[] = [];
  for (const rig of processes) {
    const said = sentencesOf(rig);
    for (const place of said) expect(done).not.toContain(place);
    // A greeting may begin anew in one process as well.
    done.push(...said.filter((place) => place !== said.at(-1)));
  }
}

/** No tool is run twice, but those that may be: once by each process. */
function checkTools({ call, processes }: Played, { isIdempotent }: Plan): void {
  const counts = new Map<string, number>();
  for (const key of call.toolKeys) counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const [key, count] of counts)
    expect(count, key).toBeLessThanOrEqual(isIdempotent ? processes.length : 1);
}

async function check(plan: Plan): Promise<void> {
  const played = await play(plan);
  checkTurns(played);
  checkTranscript(played);
  checkHistory(played);
  checkGreeting(played, plan);
  checkTools(played, plan);
  expect(played.isAnswered).toBe(true);
  await played.call.rig.clock.advanceAsync(60_000);
  expect(played.call.rig.clock.pending).toBe(0);
}

it('whenever a process dies: each turn once, a true transcript, no second greeting, no tool twice, and an answer', async () => {
  // Ten thousand take a quarter of an hour: SCHEDULES=10000.
  const numRuns = Number(process.env.SCHEDULES ?? runs(30, 400));
  await fc.assert(fc.asyncProperty(plan, check), { numRuns, seed: Number(process.env.SEED ?? 1) });
}, 3_600_000);
