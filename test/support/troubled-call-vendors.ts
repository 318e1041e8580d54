// The vendors of one whole call, emulated for it alone: whatever happens to one of them, another call does not notice.
import type { CallRecord } from '../../src/contract/call-record.js';
import type { AgentOptions } from '../../src/index.js';
import type { EmulatedReply, Emulator } from '../../src/testing/index.js';
import { REALTIME_VENDORS } from './realtime-vendors.js';
import {
  LANGUAGE_MODELS,
  NEXT,
  openVendor,
  type PipelineScene,
  type PipelineStage,
  RECOGNISERS,
  type StageTable,
  stageOf,
  VOICES,
} from './troubled-call-stages.js';

/** Who of a call is in trouble: vendors of the pipeline by the names of their tables, joined by "and", or a realtime model by its own. */
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
  /** Those that get into trouble, at the same moment. */
  readonly troubled: readonly Emulator[];
  readonly emulators: readonly Emulator[];
  /** The first of those has its part of the answer to do now. */
  isThinking(record: CallRecord): boolean;
}

const END_CALL = [{ name: 'end_call', arguments: '{}' }];
const THINKING_MS = 400;
/** A model that writes hardly faster than people listen: it is at work while the agent speaks. */
const TOKEN_MS = 90;
/** By this a model knows that another one has begun its answer. */
const GO_ON = 'Go on where it stops';

export function openVendors(
  { part, fallbacks = [] }: { part: TroubledPart; fallbacks?: readonly PipelineStage[] },
  word: string,
): Promise<CallVendors> {
  const realtime = REALTIME_VENDORS.find(({ name }) => name === part);
  return realtime === undefined ? openPipeline(part, fallbacks) : openRealtime(realtime, word);
}

/**
 * Three stages, each with the vendor that `part` names and else a well-known one. Those of `fallbacks` have one more behind it, which is
 * in trouble, too, as "next tts".
 */
async function openPipeline(part: TroubledPart, fallbacks: readonly PipelineStage[]): Promise<CallVendors> {
  const names = part.split(' and ');
  const scene: PipelineScene = {
    thinkingMs: THINKING_MS,
    replies: (messages) =>
      replyTo(
        names.some((name) => stageOf(name) === 'llm'),
        messages,
      ),
  };
  const open = async <Provider>(stage: PipelineStage, table: StageTable<Provider>) => {
    const first = names.find((name) => name in table) ?? stage;
    const chain = fallbacks.includes(stage) ? [first, NEXT[stage]] : [first];
    return Promise.all(
      chain.map(async (name, place) => ({
        ...(await openVendor(table, name, scene)),
        isTroubled: names.includes(place === 0 ? name : `next ${stage}`),
      })),
    );
  };
  const [stt, llm, tts] = [
    await open('stt', RECOGNISERS),
    await open('llm', LANGUAGE_MODELS),
    await open('tts', VOICES),
  ];
  const all = [...stt, ...llm, ...tts];
  const troubled = all.filter(({ isTroubled }) => isTroubled);
  if (troubled.length < names.length) throw new Error(`not all of ${part} are there`);
  const isAsked = troubled.find((vendor) => vendor.isAsked !== undefined)?.isAsked;
  const [first, next] = [0, 1].map((place) => ({
    stt: stt[place]?.provider,
    llm: llm[place]?.provider,
    tts: tts[place]?.provider,
  }));
  return cast(
    all.map(({ emulator }) => emulator),
    {
      troubled: troubled.map(({ emulator }) => emulator),
      agent: {
        ...first,
        fallback: { stt: listOf(next?.stt), llm: listOf(next?.llm), tts: listOf(next?.tts) },
      },
      isThinking: ({ transcript }) =>
        isAsked?.() ?? transcript.some(({ role, final }) => role === 'user' && final),
    },
  );
}

function listOf<Provider>(provider: Provider | undefined): Provider[] {
  return provider === undefined ? [] : [provider];
}

/** What a language model answers; of an answer that broke off elsewhere the rest. */
function replyTo(
  isSlow: boolean,
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
    tokenMs: isSlow ? TOKEN_MS : 20,
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
    troubled: [played.emulator],
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
