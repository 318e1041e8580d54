import { expect } from 'vitest';
import type {
  ChatMessage,
  LanguageModel,
  LanguageModelEvent,
  ModelToolCall,
  ToolDefinition,
} from '../../src/providers/language-model.js';
import type { FakeClock } from './fake-clock.js';
import { passUntil } from './pass-until.js';
import { soon } from './soon.js';

export const HELLO: readonly ChatMessage[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Hello' },
];

export const TOOL: ToolDefinition = {
  name: 'find_slot',
  description: 'Free appointments on a day',
  parameters: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
};

export interface Ask {
  messages?: readonly ChatMessage[];
  tools?: readonly ToolDefinition[];
  signal?: AbortSignal;
}

/** A reply that is read in the background. */
export interface ReplyReading {
  readonly events: LanguageModelEvent[];
  over: boolean;
  error: unknown;
}

export function readReply(model: LanguageModel, ask: Ask = {}): ReplyReading {
  const { messages = HELLO, tools, signal = new AbortController().signal } = ask;
  const reading: ReplyReading = { events: [], over: false, error: undefined };
  void (async () => {
    try {
      for await (const event of model.respond({ callId: 'c', messages, signal, tools }))
        reading.events.push(event);
    } catch (error) {
      reading.error = error;
    }
    reading.over = true;
  })();
  return reading;
}

/** Waits for the end, the clock going on meanwhile when there is one. */
export async function finished(
  reading: ReplyReading,
  { clock, stepMs = 20 }: { clock?: FakeClock; stepMs?: number } = {},
): Promise<ReplyReading> {
  const isOver = () => expect(reading.over).toBe(true);
  await (clock === undefined ? soon(isOver) : passUntil(clock, stepMs, isOver));
  return reading;
}

export const textOf = ({ events }: ReplyReading) =>
  events.map((event) => (event.type === 'text' ? event.delta : '')).join('');

export const callsOf = ({ events }: ReplyReading): ModelToolCall[] =>
  events.flatMap((event) => {
    if (event.type !== 'tool-call') return [];
    const { type: _, ...call } = event;
    return [call];
  });
