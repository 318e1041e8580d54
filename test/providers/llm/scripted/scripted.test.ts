import { describe, expect, it } from 'vitest';
import { ScriptedLanguageModel } from '../../../../src/providers/llm/index.js';
import type { ChatMessage, LanguageModelEvent } from '../../../../src/providers/language-model.js';
import { FakeClock } from '../../../support/fake-clock.js';

/** What the model says to a conversation in which every caller text was answered by the model itself. */
async function talk(...texts: string[]): Promise<{ text: string; endCall: boolean }[]> {
  const clock = new FakeClock();
  const model = new ScriptedLanguageModel({ clock });
  const messages: ChatMessage[] = [{ role: 'system', content: 'You are a front desk.' }];
  const answers: { text: string; endCall: boolean }[] = [];
  for (const content of texts) {
    messages.push({ role: 'user', content });
    const answer = { text: '', endCall: false };
    const reading = (async () => {
      const signal = new AbortController().signal;
      for await (const event of model.respond({ callId: 'c', messages, signal })) {
        if (event.type === 'text') answer.text += event.delta;
        if (event.type === 'end-call') answer.endCall = true;
      }
    })();
    await clock.advanceAsync(60_000);
    await reading;
    messages.push({ role: 'assistant', content: answer.text });
    answers.push(answer);
  }
  return answers;
}

describe('ScriptedLanguageModel', () => {
  it.each([
    ['Hello there', /^Hello! How can I help/],
    ['When are you open?', /Monday to Friday/],
    ['Say: the sky is blue', /^You said: The sky is blue\.$/],
    ['please repeat after me, one fish', /^You said: One fish\.$/],
    ['Count to five', /^One, two, three, four, five\. That is all\.$/],
    ['can you count to 3 please', /^One, two, three\./],
    ['Count to a million', /^One\./],
    ['Tell me a long story', /^.{600,}$/],
    ['Wait', /listening/],
    ['[speech]', /no speech recognition/],
    ['Who are you?', /demonstration agent/],
    ['Purple elephants', /^I heard: Purple elephants\. What else/],
    ['', /Are you still there/],
  ])('answers "%s"', async (said, pattern) => {
    const [answer] = await talk(said);
    expect(answer?.text).toMatch(pattern);
    expect(answer?.endCall).toBe(false);
  });

  it.each(['Goodbye', 'ok bye', "that's all", 'Thank you, good bye!'])(
    'ends the call after "%s"',
    async (said) => {
      expect((await talk(said))[0]).toEqual({ text: 'Thank you for calling. Goodbye!', endCall: true });
    },
  );

  it('fills the slots of a booking, whatever comes first', async () => {
    expect(
      (await talk('I would like an appointment', 'hm', 'Tuesday', 'later', 'at half past three')).map(
        (a) => a.text,
      ),
    ).toEqual([
      'Gladly. Which day suits you?',
      'I did not catch the day. Which day suits you?',
      'Tuesday is fine. What time would you like to come?',
      'Tuesday is fine. What time would you like to come?',
      'Your appointment is booked for Tuesday at half past three. Is there anything else I can do for you?',
    ]);
    expect((await talk('Book a table for tomorrow at 7 pm')).at(-1)?.text).toMatch(/for Tomorrow at 7 pm/);
    expect((await talk('An appointment please', 'Goodbye')).at(-1)?.endCall).toBe(true);
  });

  it('streams word by word at its rate, and stops at once', async () => {
    const clock = new FakeClock();
    const model = new ScriptedLanguageModel({ clock, firstWordMs: 100, wordsPerSecond: 10 });
    const abort = new AbortController();
    const events: [number, LanguageModelEvent][] = [];
    let over = false;
    void (async () => {
      const messages = [{ role: 'user', content: 'Count to ten' }] as const;
      for await (const event of model.respond({ callId: 'c', messages, signal: abort.signal }))
        events.push([clock.now(), event]);
      over = true;
    })();
    await clock.advanceAsync(99);
    expect(events).toEqual([]);
    await clock.advanceAsync(201);
    expect(events).toEqual([
      [100, { type: 'text', delta: 'One,' }],
      [200, { type: 'text', delta: ' two,' }],
      [300, { type: 'text', delta: ' three,' }],
    ]);
    abort.abort();
    await clock.advanceAsync(0);
    expect(over).toBe(true);
    expect(events).toHaveLength(3);
    expect(clock.pending).toBe(0);
  });
});
