// The vendors of one whole call, emulated for it alone: whatever happens to one of them, another call does not notice.
import type { CallRecord } from '../../src/contract/call-record.js';
import type { AgentOptions } from '../../src/index.js';
import { AnthropicMessages, ChatCompletions } from '../../src/providers/llm/index.js';
import {
  AssemblyAISpeechToText,
  DeepgramSpeechToText,
  OpenAITranscription,
} from '../../src/providers/stt/index.js';
import { CartesiaTextToSpeech, ElevenLabsTextToSpeech } from '../../src/providers/tts/index.js';
import {
  type EmulatedReply,
  type Emulator,
  emulateAnthropic,
  emulateAssemblyAI,
  emulateCartesia,
  emulateChatCompletions,
  emulateDeepgram,
  emulateElevenLabs,
  emulateOpenAITranscription,
} from '../../src/testing/index.js';

import { REALTIME_VENDORS } from './realtime-vendors.js';

/** Stages of the pipeline, and a recogniser that takes whole recordings. */
export const PIPELINE_PARTS = ['stt', 'http-stt', 'llm', 'tts'] as const;
/** Who of a call is in trouble: one of those, or a realtime model by its name. */
export type TroubledPart = string;

export const GREETING = 'Hello, this is the bakery.';
export const FAREWELL = 'That is all.';
export const GOODBYE = 'Thank you for calling us. Have a good day and goodbye.';
export const questionOf = (word: string): string => `Tell me about ${word} please.`;
export const answerTo = (word: string): string =>
  `We have plenty of ${word} today. They came in from the farm this morning.`;

/** The vendors of one call, and an agent that works with them. */
export interface CallVendors extends AsyncDisposable {
  readonly agent: AgentOptions;
  readonly troubled: Emulator;
  readonly emulators: readonly Emulator[];
  /** The one that is to be in trouble has its part of the answer to do now. */
  isThinking(record: CallRecord): boolean;
}

const KEY = 'test-key';
const END_CALL = [{ name: 'end_call', arguments: '{}' }];
const THINKING_MS = 400;
/** A model that writes hardly faster than people listen: it is at work while the agent speaks. */
const TOKEN_MS = 90;
const VOICE_PACE = { firstAudioMs: 60, chunkEveryMs: 60 };
/** By this a model knows that another one has begun its answer. */
const GO_ON = 'Go on where it stops';

export function openVendors(part: TroubledPart, word: string): Promise<CallVendors> {
  const realtime = REALTIME_VENDORS.find(({ name }) => name === part);
  return realtime === undefined ? openPipeline(part) : openRealtime(realtime, word);
}

async function openPipeline(part: TroubledPart): Promise<CallVendors> {
  const http =
    part === 'http-stt' ? await emulateOpenAITranscription({ firstWordMs: THINKING_MS }) : undefined;
  const ears = http ?? (await emulateDeepgram());
  const mind = await emulateChatCompletions({ replies: ({ messages }) => replyTo(part, messages) });
  const voice = await emulateElevenLabs(VOICE_PACE);
  const stages: Readonly<Record<string, Emulator>> = { stt: ears, 'http-stt': ears, llm: mind, tts: voice };
  const troubled = stages[part];
  if (troubled === undefined) throw new Error(`there is no part ${part}`);
  const baseUrl = ears.url;
  return cast([ears, mind, voice], {
    troubled,
    agent: {
      stt:
        http === undefined
          ? new DeepgramSpeechToText({ apiKey: KEY, baseUrl })
          : new OpenAITranscription({ apiKey: KEY, baseUrl: `${baseUrl}/v1`, model: 'whisper-1' }),
      llm: new ChatCompletions({ apiKey: KEY, baseUrl: `${mind.url}/v1` }),
      tts: new ElevenLabsTextToSpeech({ apiKey: KEY, baseUrl: voice.url }),
    },
    isThinking({ transcript }) {
      if (http !== undefined) return http.exchanges.length > 0;
      if (part === 'llm') return mind.exchanges.length > 0;
      return transcript.some(({ role, final }) => role === 'user' && final);
    },
  });
}

/** The same with a second vendor behind each. */
export async function openWithFallbacks(part: TroubledPart): Promise<CallVendors> {
  const first = await openPipeline(part);
  const ears = await emulateAssemblyAI();
  const mind = await emulateAnthropic({ replies: ({ messages }) => replyTo(part, messages) });
  const voice = await emulateCartesia(VOICE_PACE);
  return cast([...first.emulators, ears, mind, voice], {
    ...first,
    agent: {
      ...first.agent,
      fallback: {
        stt: [new AssemblyAISpeechToText({ apiKey: KEY, baseUrl: ears.url })],
        llm: [new AnthropicMessages({ apiKey: KEY, baseUrl: mind.url })],
        tts: [new CartesiaTextToSpeech({ apiKey: KEY, baseUrl: voice.url, voiceId: 'v1' })],
      },
    },
  });
}

/** What a language model answers; of an answer that broke off elsewhere the rest. */
function replyTo(
  part: TroubledPart,
  messages: readonly { readonly role: string; readonly content?: unknown }[],
): EmulatedReply {
  const texts = (wanted: string) =>
    messages.flatMap(({ role, content }) => (role === wanted ? [textOf(content)] : []));
  const said = texts('user').filter((text) => !text.includes(GO_ON));
  const isLast = /that is all/i.test(said.at(-1) ?? '');
  const whole = isLast ? GOODBYE : answerTo(wordIn(said));
  const isRest = JSON.stringify(messages).includes(GO_ON);
  return {
    firstTokenMs: THINKING_MS,
    tokenMs: part === 'llm' ? TOKEN_MS : 20,
    text: isRest ? whole.slice((texts('assistant').at(-1) ?? '').trimEnd().length).trim() : whole,
    ...(isLast ? { toolCalls: END_CALL } : {}),
  };
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map(({ text = '' }) => String(text)).join(' ') : '';
}

/** The word that was heard, wherever it was. */
function wordIn(texts: readonly string[]): string {
  return /about (\w+)/.exec(texts.join(' '))?.[1] ?? 'nothing';
}

async function openRealtime(vendor: (typeof REALTIME_VENDORS)[number], word: string): Promise<CallVendors> {
  const question = questionOf(word);
  const knows = (text: string) => played.connections.some(({ texts }) => texts.includes(text));
  const played = await vendor.play({
    // What a connection has understood, the caller does not say to the next one.
    utterances: () => (knows(question) ? [FAREWELL] : [question, FAREWELL]),
    replies: ({ heard }) =>
      heard === FAREWELL || knows(FAREWELL)
        ? { text: GOODBYE, toolCalls: END_CALL, firstAudioMs: THINKING_MS }
        : { text: answerTo(word), firstAudioMs: THINKING_MS },
  });
  return cast([played.emulator], {
    troubled: played.emulator,
    agent: { engine: played.engine },
    isThinking: () => knows(question),
  });
}

function cast(
  emulators: readonly Emulator[],
  { agent, ...rest }: Pick<CallVendors, 'agent' | 'troubled' | 'isThinking'>,
): CallVendors {
  return {
    ...rest,
    agent: { systemPrompt: 'You help.', firstMessage: GREETING, ...agent },
    emulators,
    async [Symbol.asyncDispose]() {
      for (const emulator of emulators) await emulator.close();
    },
  };
}
