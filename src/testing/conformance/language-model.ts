// What every language model must do, as a list of named checks that any test runner can run.
import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { ProviderError } from '../../base/errors.js';
import type {
  ChatMessage,
  LanguageModel,
  LanguageModelEvent,
  ModelToolCall,
  ToolDefinition,
} from '../../providers/language-model.js';
import { type ProviderCheck, type ProviderSetup, providerCheck, until, wait } from './provider-check.js';

/** A reply that a check wants the model to give. */
export interface WantedReply {
  readonly text: string;
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  /** Time between two words, so that there is a middle in which something can happen. */
  readonly wordMs?: number;
}

export interface LanguageModelSetup extends ProviderSetup {
  readonly provider: LanguageModel;
  /** Replies that were stopped before their end, as the other side sees them; left out where there is no other side. */
  readonly stoppedReplies?: () => number;
  /** Ends the stream of every reply in good order where it is, as a proxy does whose server has gone. Left out where there is none. */
  readonly endStreams?: () => void;
}

export interface LanguageModelSuiteOptions {
  /** False for a model that says what it likes: what a reply says is then not looked at, and tools are not tried. @default true */
  readonly saysWhatIsWanted?: boolean;
}

const MESSAGES: readonly ChatMessage[] = [
  { role: 'system', content: 'You answer the telephone.' },
  { role: 'user', content: 'Tell me a long story, please.' },
];
const TOOL: ToolDefinition = {
  name: 'find_slot',
  description: 'Free appointments on a day',
  parameters: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
};
const LONG_TEXT = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');

/** The checks for a language model. `create` is told the replies that are wanted, in order. */
export function testLanguageModel(
  create: (replies: readonly WantedReply[]) => LanguageModelSetup | Promise<LanguageModelSetup>,
  { saysWhatIsWanted = true }: LanguageModelSuiteOptions = {},
): ProviderCheck[] {
  const check = (
    name: string,
    replies: readonly WantedReply[],
    body: (setup: LanguageModelSetup) => Promise<void>,
  ) => providerCheck(name, () => create(replies), body);
  const checks = [
    check('streams a reply', [{ text: 'Good day. How are you?' }], async ({ provider }) => {
      const { events } = await read(provider);
      ok(textOf(events).trim() !== '', 'There was no text.');
      if (saysWhatIsWanted) equal(textOf(events), 'Good day. How are you?');
      const end = events.findIndex(({ type }) => type === 'end');
      if (end !== -1) deepEqual(events.slice(end), [{ type: 'end', reason: 'complete' }]);
    }),
    check('tells usage at most once, and numbers that can be', [{ text: 'Yes.' }], async ({ provider }) => {
      const { events } = await read(provider);
      const told = events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []));
      ok(told.length <= 1);
      for (const { inputTokens, cachedTokens, outputTokens } of told) {
        ok(inputTokens >= 0 && outputTokens >= 0 && cachedTokens >= 0 && cachedTokens <= inputTokens);
      }
    }),
    check(
      'ends soon after an abort, without another word',
      [{ text: LONG_TEXT, wordMs: 20 }],
      async (setup) => {
        const abort = new AbortController();
        const reading = start(setup.provider, { signal: abort.signal });
        await until('first word', () => textOf(reading.events) !== '');
        abort.abort();
        const said = textOf(reading.events);
        await until('end after the abort', () => reading.over);
        equal(textOf(reading.events), said);
        const { stoppedReplies } = setup;
        if (stoppedReplies !== undefined) await until('stop at the other side', () => stoppedReplies() === 1);
      },
    ),
    check('says nothing when it was aborted before', [{ text: 'Never heard.' }], async ({ provider }) => {
      const { events } = await read(provider, { signal: AbortSignal.abort() });
      equal(textOf(events), '');
    }),
    check(
      'keeps replies apart that run at the same time',
      [{ text: 'One.' }, { text: 'One.' }],
      async (setup) => {
        const [one, other] = [start(setup.provider), start(setup.provider)];
        await until('two replies', () => one.over && other.over);
        equal(textOf(one.events), textOf(other.events));
      },
    ),
    check('leaves the conversation as it was', [{ text: 'Yes.' }], async ({ provider }) => {
      const messages = MESSAGES.map((message) => Object.freeze({ ...message }));
      await read(provider, { messages: Object.freeze(messages) });
    }),
    check(
      'says that it broke when it broke in the middle',
      [{ text: LONG_TEXT, wordMs: 20 }],
      ({ provider, breakConnections }) => breaksOff(provider, breakConnections),
    ),
    check(
      'says that it broke when its stream ended in the middle',
      [{ text: LONG_TEXT, wordMs: 20 }],
      ({ provider, endStreams }) => breaksOff(provider, endStreams),
    ),
  ];
  if (!saysWhatIsWanted) return checks;
  const call = { id: 'call-1', name: 'find_slot', arguments: '{"day": "Friday"}' };
  return [
    ...checks,
    check(
      'calls a tool and goes on with its result',
      [{ text: '', toolCalls: [call] }, { text: 'At ten.' }],
      async ({ provider }) => {
        const { events } = await read(provider, { tools: [TOOL] });
        const toolCalls = events.flatMap((event) => (event.type === 'tool-call' ? [toCall(event)] : []));
        deepEqual(toolCalls, [
          { id: 'call-1', name: 'find_slot', arguments: { day: 'Friday' }, argumentsText: call.arguments },
        ]);
        deepEqual(events.at(-1), { type: 'end', reason: 'tool-calls' });
        const messages: ChatMessage[] = [
          ...MESSAGES,
          { role: 'assistant', content: '', toolCalls },
          { role: 'tool', toolCallId: 'call-1', content: '{"slots":["10:00"]}' },
        ];
        equal(textOf((await read(provider, { messages, tools: [TOOL] })).events), 'At ten.');
      },
    ),
    check(
      'hands on arguments that cannot be read, and goes on after them',
      [{ text: '', toolCalls: [{ ...call, arguments: '{"day":' }] }, { text: 'Which day?' }],
      async ({ provider }) => {
        const { events } = await read(provider, { tools: [TOOL] });
        const toolCalls = events.flatMap((event) => (event.type === 'tool-call' ? [toCall(event)] : []));
        const [malformed] = toolCalls;
        deepEqual([malformed?.arguments, malformed?.argumentsText], [null, '{"day":']);
        const messages: ChatMessage[] = [
          ...MESSAGES,
          { role: 'assistant', content: '', toolCalls },
          { role: 'tool', toolCallId: malformed?.id ?? '', content: '{"error":"no JSON"}' },
        ];
        equal(textOf((await read(provider, { messages, tools: [TOOL] })).events), 'Which day?');
      },
    ),
  ];
}

interface Reading {
  readonly events: LanguageModelEvent[];
  over: boolean;
  error: unknown;
}

interface Ask {
  readonly messages?: readonly ChatMessage[];
  readonly tools?: readonly ToolDefinition[];
  readonly signal?: AbortSignal;
}

function start(provider: LanguageModel, ask: Ask = {}): Reading {
  const { messages = MESSAGES, signal = new AbortController().signal, ...rest } = ask;
  const reading: Reading = { events: [], over: false, error: undefined };
  void (async () => {
    try {
      for await (const event of provider.respond({ callId: 'call', messages, signal, ...rest }))
        reading.events.push(event);
    } catch (error) {
      reading.error = error;
    }
    reading.over = true;
  })();
  return reading;
}

/** A reply that `trouble` hits in the middle fails, and the same may work again. */
async function breaksOff(provider: LanguageModel, trouble: (() => void) | undefined): Promise<void> {
  if (trouble === undefined) return;
  const reading = start(provider);
  await until('first word', () => textOf(reading.events) !== '');
  trouble();
  await until('failure', () => reading.over);
  await rejects(
    async () => {
      throw reading.error;
    },
    (error) => error instanceof ProviderError && error.retryable,
  );
}

/** A whole reply. @throws what the model throws. */
async function read(provider: LanguageModel, ask: Ask = {}): Promise<Reading> {
  const reading = start(provider, ask);
  await until('end of the reply', () => reading.over);
  if (reading.error !== undefined) throw reading.error;
  const { length } = reading.events;
  await wait(20);
  equal(reading.events.length, length);
  return reading;
}

function textOf(events: readonly LanguageModelEvent[]): string {
  return events.map((event) => (event.type === 'text' ? event.delta : '')).join('');
}

function toCall({ id, name, arguments: parsed, argumentsText }: ModelToolCall): ModelToolCall {
  return { id, name, arguments: parsed, argumentsText };
}
