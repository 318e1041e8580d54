// A whole call over a carrier whose voice mode dies for good at one of its moments, and the vendors of both modes, emulated. Callers
// speak in tones, so whoever listens knows the words that really came.
import { systemClock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import type { SimulatedCarrier } from '../../src/contract/call-record.js';
import type { AgentOptions } from '../../src/index.js';
import type { CallRecord, TranscriptEntry } from '../../src/contract/call-record.js';
import { ChatCompletions } from '../../src/providers/llm/index.js';
import { OpenAIRealtime } from '../../src/providers/realtime/index.js';
import { DeepgramSpeechToText } from '../../src/providers/stt/index.js';
import { ElevenLabsTextToSpeech } from '../../src/providers/tts/index.js';
import {
  type CallReport,
  type Emulator,
  emulateChatCompletions,
  emulateDeepgram,
  emulateElevenLabs,
  emulateOpenAIRealtime,
  openToneVoice,
} from '../../src/testing/index.js';
import { MOMENTS, type Phase } from './call-moments.js';
import { eventually, startCarrierPhone } from './carrier-phone.js';
import { END_CALL } from './vendor-scene.js';

export const PROMPT = 'You answer for a bakery.';
export const GREETING = 'Hello, this is the bakery on the market square.';
export const QUESTION = 'which kinds of bread do you have today?';
export const ANSWER = 'We have rye and white, and there will be more of both of them tomorrow morning.';
export const FAREWELL = 'thank you, that is all.';
export const GOODBYE = 'Thank you for calling us, have a good day and goodbye.';

/** All that is said in a call, whoever says it. */
export const CONVERSATION: readonly string[] = [
  `agent: ${GREETING}`,
  `user: ${QUESTION}`,
  `agent: ${ANSWER}`,
  `user: ${FAREWELL}`,
  `agent: ${GOODBYE}`,
];

/** Who dies: the realtime model, or one of the three stages of a pipeline. The other voice mode goes on. */
export type Victim = 'engine' | 'stt' | 'llm' | 'tts';

export interface ModeChange {
  readonly victim: Victim;
  readonly phase: Phase;
  /** `reset`: the connection is lost; `freeze`: it stays, and nothing more comes of it. Another one is refused either way. */
  readonly how: 'reset' | 'freeze';
  /** The model sends what it says much faster than it is heard, and has sent all of it, wishes included, when it dies. */
  readonly isAhead?: boolean;
}

export interface ChangedCall {
  readonly report: CallReport;
  readonly record: CallRecord;
  /** When the provider died, epoch milliseconds. */
  readonly diedAt: number;
  /** What whoever went on knew of the call when it was last asked: `role: text`. */
  readonly known: readonly string[];
  readonly instructions: string;
  readonly violations: readonly string[];
}

/** So long a caller who hears nothing waits before they speak, where an answer is cut off, or comes behind a filler. */
const PATIENCE_MS = 5000;
const AGENT: AgentOptions = { systemPrompt: PROMPT, firstMessage: GREETING, idle: false };
/** 200 ms of a model's voice: in G.711, which carrier A's line has, or in PCM. */
const CHUNK_BYTES: Readonly<Record<SimulatedCarrier, number>> = { 'carrier-a': 1600, 'carrier-b': 9600 };
const KEY = 'test-key';

export async function playModeChange(id: SimulatedCarrier, change: ModeChange): Promise<ChangedCall> {
  const { victim, phase, how, isAhead = false } = change;
  await using vendors = await emulateVendors(id, { isAhead });
  const { engine, stt, llm, tts } = vendors;
  const realtime = { engine: new OpenAIRealtime({ apiKey: KEY, baseUrl: `${engine.url}/v1` }) };
  const pipeline = {
    stt: new DeepgramSpeechToText({ apiKey: KEY, baseUrl: stt.url }),
    llm: new ChatCompletions({ apiKey: KEY, baseUrl: `${llm.url}/v1` }),
    tts: new ElevenLabsTextToSpeech({ apiKey: KEY, baseUrl: tts.url }),
  };
  const modes: AgentOptions =
    victim === 'engine'
      ? { ...realtime, fallback: { engine: [pipeline] } }
      : { ...pipeline, fallback: { engine: [realtime.engine] } };
  await using phone = await startCarrierPhone(
    id,
    { ...AGENT, ...modes },
    { simulator: { openVoice: openToneVoice } },
  );
  const die = (emulator: Emulator) => {
    emulator.refuseNext({ status: 503, times: 1000 });
    emulator.break(how);
  };
  const quietMs = (...cut: Phase[]) => (cut.includes(phase) ? PATIENCE_MS : 1000);
  let diedAt = systemClock.wallNow();
  if (phase === 'start') die(vendors[victim]);
  const calling = phone.simulator.call({
    script: [
      { type: 'wait-for-agent', quietMs: quietMs('greeting') },
      { type: 'say', text: QUESTION },
      { type: 'wait-for-agent', quietMs: quietMs('listening', 'thinking', 'speaking') },
      { type: 'say', text: FAREWELL },
      { type: 'pause', durationMs: 20_000 },
    ],
    maxDurationMs: 60_000,
  });
  if (phase !== 'start') {
    const isNow = async () => ((await phone.active(1)).every(MOMENTS[phase]) ? true : undefined);
    await eventually(`the moment of a call: ${phase}`, isNow, 30_000);
    await pause(systemClock, intoPhaseMs(change));
    diedAt = systemClock.wallNow();
    die(vendors[victim]);
  }
  const report = await calling;
  const record = await phone.record(report.carrierCallId);
  return {
    report,
    record,
    diedAt,
    ...(victim === 'engine' ? toldToChat(vendors) : toldToRealtime(vendors)),
    violations: [engine, stt, llm, tts].flatMap(({ violations }) => violations),
  };
}

type Vendors = Awaited<ReturnType<typeof emulateVendors>>;

/** A realtime model and the three stages of a pipeline, whose models are of one mind. */
async function emulateVendors(id: SimulatedCarrier, { isAhead }: { isAhead: boolean }) {
  const engine = await emulateOpenAIRealtime({
    chunkBytes: CHUNK_BYTES[id],
    replies: ({ items }) => ({
      ...reply(
        items
          .filter(({ kind, text }) => kind === 'message' && text !== '')
          .map(({ role, text }) => `${role}: ${text}`),
      ),
      firstAudioMs: 600,
      chunkEveryMs: isAhead ? 5 : 180,
    }),
  });
  const stt = await emulateDeepgram();
  const llm = await emulateChatCompletions({
    replies: ({ messages }) => ({
      ...reply(messages.map(({ role, content }) => `${role}: ${content ?? ''}`)),
      firstTokenMs: 600,
      tokenMs: 10,
    }),
  });
  const tts = await emulateElevenLabs({ firstAudioMs: 75, chunkEveryMs: isAhead ? 20 : 180 });
  return {
    engine,
    stt,
    llm,
    tts,
    async [Symbol.asyncDispose]() {
      for (const vendor of [engine, stt, llm, tts]) await vendor.close();
    },
  };
}

/** What a good model says next, who goes on where it was cut off. */
function reply(messages: readonly string[]): { text: string; toolCalls?: typeof END_CALL } {
  const said = messages.findLastIndex((message) => message.startsWith('user: '));
  const question = messages[said]?.slice('user: '.length);
  const heard = messages
    .slice(said + 1)
    .filter((message) => message.startsWith('assistant: '))
    .map((message) => message.slice('assistant: '.length))
    .join(' ');
  const rest = (whole: string) => (whole.startsWith(heard) ? whole.slice(heard.length).trim() : whole);
  if (question === undefined) return { text: rest(GREETING) };
  if (!question.includes(FAREWELL)) return { text: rest(question.includes(QUESTION) ? ANSWER : 'Pardon?') };
  return { text: rest(GOODBYE), toolCalls: END_CALL };
}

type Told = Pick<ChangedCall, 'known' | 'instructions'>;

function toldToChat({ llm }: Vendors): Told {
  const { messages = [] } = llm.exchanges.at(-1)?.body ?? {};
  const [first, ...rest] = messages.filter(({ role }) => role !== 'tool');
  return {
    known: rest.map(({ role, content }) => toLine(role, content ?? '')),
    instructions: first?.content ?? '',
  };
}

function toldToRealtime({ engine }: Vendors): Told {
  const { items = [], session = {} } = engine.connections.at(-1) ?? {};
  const messages = items.filter(({ kind, text }) => kind === 'message' && text !== '');
  return {
    known: messages.map(({ role, text }) => toLine(role, text)),
    instructions: String(session.instructions),
  };
}

const toLine = (role: string, text: string) => `${role === 'assistant' ? 'agent' : role}: ${text}`;

/** From what the record shows of a phase to the middle of it. */
function intoPhaseMs({ phase, victim }: ModeChange): number {
  // The caller is silent for a second, and then in the middle of the question.
  if (phase === 'listening') return 2200;
  // A model's words are shown when they were heard, those of a voice when they are begun.
  return victim === 'tts' ? 1000 : 0;
}

/** `role: text` of each side, what it says in pieces put together. */
export function inOneGo(entries: readonly Pick<TranscriptEntry, 'role' | 'text'>[]): string[] {
  const lines: string[] = [];
  let before: string | undefined;
  for (const { role, text } of entries) {
    if (role === before) lines.push(`${lines.pop()} ${text}`);
    else lines.push(`${role}: ${text}`);
    before = role;
  }
  return lines;
}

/** The longest that nobody was heard before the agent was, or before the call was over, in milliseconds. */
export function longestWaitMs({ agentSpeech, callerSpeech, durationMs }: CallReport): number {
  const spans = [...agentSpeech, ...callerSpeech];
  const waits = [...agentSpeech.map(({ startMs }) => startMs), durationMs ?? 0].map((atMs) => {
    const ends = spans.filter(({ startMs }) => startMs < atMs).map(({ endMs }) => endMs);
    return atMs - Math.max(0, ...ends);
  });
  return Math.max(...waits);
}
