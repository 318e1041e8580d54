import fc from 'fast-check';
import { expect, it } from 'vitest';
import { MS_PER_CHAR } from './call-rig.js';
import { type Schedule, ScheduledCall, schedule, sentence } from './call-schedule.js';
import { runs } from '../support/depth.js';

const isNumbered = (text: string) => /^(alfa|brav|chari|delt)/.test(text);
const isFiller = (text: string) => /^(One moment|Let me see)\.$/.test(text);
const words = (text: string) => text.split(' ').filter((word) => word !== '');

/** Words of a text that have been heard to their end after so much of it. */
function wordsWithin(text: string, heardMs: number): number {
  const chars = heardMs / MS_PER_CHAR;
  return [...text.matchAll(/\S+/g)].filter((word) => word.index + word[0].length <= chars + 0.01).length;
}

/** How often each word occurs. */
function tally(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of texts.flatMap(words)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function checkFacts({ rig }: ScheduledCall): void {
  let open: number | undefined;
  let next = 0;
  for (const fact of rig.facts) {
    if (fact.type === 'turn.started') {
      expect([open, fact.turnIndex]).toEqual([undefined, next]);
      open = next;
      next += 1;
    }
    if (fact.type === 'turn.completed') {
      expect(fact.turn.index).toBe(open);
      open = undefined;
    }
  }
  expect(open).toBe(undefined);
  const phases = rig.facts.flatMap((fact) => (fact.type === 'phase.changed' ? [fact.phase] : []));
  expect(phases.filter((phase, index) => phase === phases[index - 1])).toEqual([]);
  const { transcript, turns } = rig;
  expect(transcript.filter(({ final }) => !final)).toEqual([]);
  for (const turn of turns) {
    const said = transcript.find(({ id }) => id === `agent-${turn.index}`)?.text ?? '';
    expect(said).toBe(turn.agentText);
  }
  const tools = transcript.filter(({ role }) => role === 'tool');
  expect(tools).toHaveLength(turns.flatMap(({ toolCalls }) => toolCalls).length);
  expect(rig.ended.length).toBeLessThanOrEqual(1);
}

/** What the ear has heard is whole, one voice at a time, and what transcript and turns say. */
function checkEar(call: ScheduledCall): void {
  const { rig, voice } = call;
  const runs = call.heard();
  const spoken = runs.filter(({ id }) => !isFiller(voice.texts[id - 1] ?? ''));
  expect(new Set(spoken.map(({ id }) => id)).size).toBe(spoken.length);

  const recorded = tally(rig.turns.map(({ agentText }) => agentText));
  const certain = new Map<string, number>();
  const possible = new Map<string, number>();
  const add = (counts: Map<string, number>, word: string) => counts.set(word, (counts.get(word) ?? 0) + 1);
  // The moment of a cut is known to a frame or so: every cut may take the word before it, or give one more.
  let ends = 0;
  for (const { id, ms } of spoken) {
    const text = voice.texts[id - 1] ?? '';
    if (!isNumbered(text)) continue;
    const said = words(text);
    const count = wordsWithin(text, ms);
    for (const word of said.slice(0, Math.max(0, count - 1))) add(certain, word);
    for (const word of said.slice(0, count + 1)) add(possible, word);
    if (count === said.length && !recorded.has(said.at(-1) ?? '')) ends += 1;
  }
  for (const [word, count] of [...recorded].filter(([each]) => isNumbered(each)))
    expect(possible.get(word) ?? 0, `${word} is recorded`).toBeGreaterThanOrEqual(count);
  for (const [word, count] of certain)
    expect(recorded.get(word) ?? 0, `${word} was heard`).toBeGreaterThanOrEqual(count);
  expect(ends, 'ends of sentences that were heard and are not recorded').toBeLessThanOrEqual(
    rig.player.clears + 1,
  );
}

/** What the model is told are words that were heard, and every call of a tool has its result. */
function checkHistory({ rig, taken }: ScheduledCall): void {
  const heard = tally(rig.turns.map(({ agentText }) => agentText));
  const generated = tally(rig.turns.flatMap((turn) => [turn.agentText, turn.agentTextUnheard]));
  for (const number of taken)
    for (const word of words(sentence(number)))
      expect(generated.get(word) ?? 0, `${word} was generated`).toBeGreaterThanOrEqual(1);
  for (const { messages } of rig.model.requests) {
    messages.forEach((message, at) => {
      if (message.role !== 'assistant') return;
      const calls = message.toolCalls ?? [];
      const results = messages.slice(at + 1, at + 1 + calls.length);
      expect(results.map((each) => (each.role === 'tool' ? each.toolCallId : each.role))).toEqual(
        calls.map(({ id }) => id),
      );
      for (const { content } of results) expect(content).not.toBe('');
    });
    if (messages.at(-1)?.role !== 'user') continue;
    const told = tally(messages.flatMap(({ role, content }) => (role === 'assistant' ? [content] : [])));
    for (const [word, count] of told)
      expect(heard.get(word) ?? 0, `${word} is told`).toBeGreaterThanOrEqual(count);
  }
}

async function check(plan: Schedule): Promise<void> {
  const call = new ScheduledCall(plan);
  await call.play();
  checkFacts(call);
  checkEar(call);
  checkHistory(call);
  const { rig } = call;
  const facts = rig.facts.length;
  rig.ears.events.final('Late words.');
  rig.ears.events.failed(new Error('late'));
  rig.engine.pushDtmf('1');
  rig.engine.resume('continue');
  await rig.clock.advanceAsync(60_000);
  expect(rig.facts.slice(facts).filter(({ type }) => type !== 'usage.measured')).toEqual([]);
  expect(rig.clock.pending).toBe(0);
}

it('whatever happens: one voice at a time, a true record, one end of every turn, and nothing after the end', async () => {
  await fc.assert(fc.asyncProperty(schedule, check), { numRuns: runs(40, 100) });
}, 120_000);
