// Agents of both voice modes that call tools: a table for tests that are the same for both, on both carriers.
import { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import type {
  AgentOptions,
  LanguageModel,
  LanguageModelEvent,
  LanguageModelRequest,
} from '../../src/index.js';
import { OpenAIRealtime } from '../../src/providers/realtime/index.js';
import { type CallerStep, emulateOpenAIRealtime } from '../../src/testing/index.js';
import { rotated } from './rotated.js';

export const QUESTION = 'Where is my order?';

/** Two questions, with time for a tool behind each. */
export const ASKS: readonly CallerStep[] = [
  { type: 'wait-for-agent' },
  { type: 'say', text: QUESTION },
  { type: 'pause', durationMs: 18_000 },
  { type: 'say', text: QUESTION },
  { type: 'pause', durationMs: 8000 },
  { type: 'hang-up' },
];

/** A tool, as a model calls it. */
export interface AskedTool {
  readonly name: string;
  /** As JSON. */
  readonly arguments: string;
}

const ECHO: readonly AskedTool[] = [{ name: 'echo', arguments: '{"text":"17"}' }];
const WAIT = 'One moment.';
const ANSWER = 'That is what I know.';

/** An agent, and what its model was told of its tools, in order. */
export interface AskingMode {
  readonly agent: AgentOptions;
  readonly results: () => readonly string[];
  close(): Promise<void>;
}

/** Calls the tools at each question, and then says that it is done. */
export class AskingModel implements LanguageModel {
  readonly name = 'asking';
  readonly results: string[] = [];
  readonly #calls: readonly AskedTool[];

  constructor(calls = ECHO) {
    this.#calls = calls;
  }

  async *respond({ messages }: LanguageModelRequest): AsyncGenerator<LanguageModelEvent> {
    const told = messages.slice(messages.findLastIndex(({ role }) => role !== 'tool') + 1);
    if (told.length > 0) {
      this.results.push(...told.map(({ content }) => content));
      yield { type: 'text', delta: ANSWER };
      return;
    }
    yield { type: 'text', delta: WAIT };
    for (const [place, { name, arguments: text }] of this.#calls.entries()) {
      const id = `call_${messages.length}_${place}`;
      yield { type: 'tool-call', id, name, arguments: JSON.parse(text), argumentsText: text };
    }
  }
}

export const ASKING_MODES = {
  async pipeline(calls?: readonly AskedTool[]): Promise<AskingMode> {
    const llm = new AskingModel(calls);
    return { agent: { llm }, results: () => llm.results, close: async () => {} };
  },
  async realtime(calls = ECHO): Promise<AskingMode> {
    const asks = { text: WAIT, toolCalls: [...calls] };
    const told = { text: ANSWER };
    const model = await emulateOpenAIRealtime({
      utterances: [QUESTION, QUESTION],
      replies: [asks, told, asks, told],
    });
    const engine = new OpenAIRealtime({ apiKey: 'test-key', baseUrl: `${model.url}/v1` });
    return {
      agent: { engine },
      results: () =>
        model.connections.flatMap(({ items }) =>
          items.flatMap(({ kind, text }) => (kind === 'function_call_output' ? [text] : [])),
        ),
      close: () => model.close(),
    };
  },
};

/** Both carriers, and both voice modes: each with each where everything is played. */
export const ASKING_CASES = rotated(
  SIMULATED_CARRIERS.flatMap((id) => (['pipeline', 'realtime'] as const).map((mode) => ({ id, mode }))),
  [({ id }) => id, ({ mode }) => mode],
);
