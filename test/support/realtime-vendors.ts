// The realtime models, each with the emulator of its vendor: a table for tests that are the same for all of them.
import { ALAW_8K, type AudioFormat, MULAW_8K, PCM_16K, PCM_24K } from '../../src/audio/format.js';
import type { CarrierId } from '../../src/contract/call-record.js';
import { ElevenLabsAgents, GeminiLive, OpenAIRealtime } from '../../src/providers/realtime/index.js';
import type { RealtimeFormats, RealtimeModel } from '../../src/providers/realtime-model.js';
import {
  type ElevenLabsAgentsConnection,
  type EmulatedItem,
  type EmulateOpenAIRealtimeOptions,
  type Emulator,
  emulateElevenLabsAgents,
  emulateGeminiLive,
  emulateOpenAIRealtime,
} from '../../src/testing/index.js';

/** What will be heard, and what the model answers. */
export type RealtimeScript = Pick<EmulateOpenAIRealtimeOptions, 'utterances' | 'replies'>;

/** What the vendor made of one connection. */
export interface VendorConnection {
  readonly formats: RealtimeFormats;
  /** Texts of the conversation as the vendor has it, in order, those of a connection before included. */
  readonly texts: readonly string[];
  /** Results of tools, as texts. */
  readonly results: readonly string[];
  /** How much of an answer the vendor was told to keep; undefined when it was told nothing. */
  readonly keptMs: number | undefined;
}

/** One vendor on loopback with a model that is connected to it. */
export interface PlayedVendor {
  readonly engine: RealtimeModel;
  readonly emulator: Emulator;
  readonly connections: readonly VendorConnection[];
  /** Tells every connection that it will be closed; undefined for a vendor that never does. */
  readonly goAway: (() => void) | undefined;
}

export interface RealtimeVendor {
  /** `provider.engine` of records. */
  readonly name: string;
  /** It can be told to forget what was not heard. */
  readonly truncates: boolean;
  /** A connection that is dead is found while nobody speaks. */
  readonly pings: boolean;
  /** What is paid for. */
  readonly billedBy: 'tokens' | 'time';
  /** It tells that it will close a connection. */
  readonly saysGoodbye: boolean;
  /** What a call's record has of the caller's text, in seconds; 0 where nobody bills it. */
  readonly sttSeconds: number;
  /** What is exchanged with it on a line of this carrier. */
  readonly format: (carrier: CarrierId) => RealtimeFormats;
  readonly play: (script: RealtimeScript) => Promise<PlayedVendor>;
}

const OPENAI_FORMATS: readonly [string, AudioFormat][] = [
  ['{"type":"audio/pcmu"}', MULAW_8K],
  ['{"type":"audio/pcma"}', ALAW_8K],
  ['{"type":"audio/pcm","rate":24000}', PCM_24K],
];

function both(format: AudioFormat): RealtimeFormats {
  return { input: format, output: format };
}

function toTexts(items: readonly EmulatedItem[]): Pick<VendorConnection, 'texts' | 'results'> {
  return {
    texts: items.map(({ text }) => text),
    results: items.flatMap(({ kind, text }) => (kind === 'function_call_output' ? [text] : [])),
  };
}

const openai: RealtimeVendor = {
  name: 'openai/gpt-realtime-2.1-mini',
  truncates: true,
  pings: true,
  billedBy: 'tokens',
  saysGoodbye: false,
  sttSeconds: 1,
  format: (carrier) => both(carrier === 'carrier-a' ? MULAW_8K : PCM_24K),
  async play(script) {
    const emulator = await emulateOpenAIRealtime(script);
    const format = (value: unknown) => {
      const found = OPENAI_FORMATS.find(([text]) => text === JSON.stringify(value))?.[1];
      if (found === undefined) throw new Error(`no such format: ${JSON.stringify(value)}`);
      return found;
    };
    return {
      emulator,
      goAway: undefined,
      engine: new OpenAIRealtime({ apiKey: 'test-key', baseUrl: `${emulator.url}/v1` }),
      get connections() {
        return emulator.connections.map(
          (connection): VendorConnection => ({
            // A connection has none before it was told its settings.
            get formats() {
              const { input, output } = connection.session.audio as Record<
                'input' | 'output',
                { format: unknown }
              >;
              return { input: format(input.format), output: format(output.format) };
            },
            ...toTexts(connection.items),
            keptMs: connection.items.find(({ isTruncated }) => isTruncated)?.audioMs,
          }),
        );
      },
    };
  },
};

/** What was said before, as the agent is told it by its prompt or beside it, without who said it. */
function linesOf({ initiation, context }: ElevenLabsAgentsConnection): string[] {
  const told = [JSON.stringify(initiation).replaceAll('\\n', '\n'), ...context].join('\n');
  const lines = told.slice(told.indexOf('The conversation so far')).split('\n');
  return lines.flatMap((line) => /^(?:Caller|You): ([^"]*)/.exec(line)?.slice(1, 2) ?? []);
}

/** What else the agent was told to know. */
function notesOf({ context }: ElevenLabsAgentsConnection): string[] {
  return context.filter((text) => !text.startsWith('The conversation so far'));
}

const elevenlabs: RealtimeVendor = {
  name: 'elevenlabs/agents',
  truncates: false,
  pings: true,
  billedBy: 'time',
  saysGoodbye: false,
  sttSeconds: 0,
  // Of every carrier: formats are settings of the agent.
  format: () => both(MULAW_8K),
  async play(script) {
    const emulator = await emulateElevenLabsAgents({ ...script, isPrivate: true });
    const settings = { agentId: 'agent-1', apiKey: 'test-key', pricePerMinute: 0.1 };
    return {
      emulator,
      goAway: undefined,
      engine: new ElevenLabsAgents({ ...settings, baseUrl: emulator.url }),
      get connections() {
        return emulator.connections.map((connection): VendorConnection => {
          const { items } = connection;
          return {
            formats: both(MULAW_8K),
            texts: [...linesOf(connection), ...notesOf(connection), ...items.map(({ text }) => text)],
            results: items.flatMap(({ kind, text }) => (kind === 'function_call_output' ? [text] : [])),
            keptMs: undefined,
          };
        });
      },
    };
  },
};

/** What audio costs is not in the list. */
const GEMINI_PRICE = {
  inputPerMillionTokens: 1,
  outputPerMillionTokens: 2,
  audioInputPerMillionTokens: 3,
  audioOutputPerMillionTokens: 4,
};

const gemini: RealtimeVendor = {
  name: 'google/gemini-3.8-live',
  truncates: false,
  pings: false,
  billedBy: 'tokens',
  saysGoodbye: true,
  sttSeconds: 0,
  format: () => ({ input: PCM_16K, output: PCM_24K }),
  async play(script) {
    const emulator = await emulateGeminiLive(script);
    return {
      emulator,
      goAway: () => emulator.goAway(),
      engine: new GeminiLive({ apiKey: 'test-key', baseUrl: emulator.url, price: GEMINI_PRICE }),
      get connections() {
        return emulator.connections.map(
          ({ items }): VendorConnection => ({
            // The emulator complains of any other.
            formats: { input: PCM_16K, output: PCM_24K },
            ...toTexts(items),
            keptMs: undefined,
          }),
        );
      },
    };
  },
};

export const REALTIME_VENDORS: readonly RealtimeVendor[] = [openai, gemini, elevenlabs];
