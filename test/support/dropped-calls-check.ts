// One group of whole calls with drops for each voice mode, over one carrier: every call goes on to its goodbye, and none hears of another.
import { describe, expect, it } from 'vitest';
import type { CarrierId } from '../../src/index.js';
import { ChatCompletions } from '../../src/providers/llm/index.js';
import { OpenAIRealtime } from '../../src/providers/realtime/index.js';
import { DeepgramSpeechToText } from '../../src/providers/stt/index.js';
import { ElevenLabsTextToSpeech } from '../../src/providers/tts/index.js';
import {
  type Emulator,
  emulateChatCompletions,
  emulateDeepgram,
  emulateElevenLabs,
  emulateOpenAIRealtime,
  openToneVoice,
} from '../../src/testing/index.js';
import { startCarrierPhone } from './carrier-phone.js';
import {
  answerTo,
  type DroppedCall,
  FAREWELL,
  GOODBYE,
  GREETING,
  type PlayedCall,
  playDrops,
  questionOf,
  wordIn,
} from './dropped-calls.js';
import { PHASES, type Phase } from './vendor-call.js';
import { END_CALL, LONGEST_WAIT_MS } from './vendor-scene.js';

const KEY = 'test-key';
const WORDS = 'apples berries cherries dates figs grapes kiwis lemons melons nuts olives plums'.split(' ');
const WELL = 'quinces';
const SERVE = { serve: { maxStreamsPerIp: 50 }, simulator: { openVoice: openToneVoice } };

const isFarewell = (text: string) => /that is all/i.test(text);

/** Calls in real time: a shared machine that stands still makes waits that nobody can mend. */
const REAL_TIME = { retry: 2, timeout: 120_000 };

export function describeDrops(id: CarrierId): void {
  describe(
    `${id}: a vendor drops in each phase of a call, beside calls in which none does`,
    REAL_TIME,
    () => {
      it('pipeline', async () => {
        await using ears = await emulateDeepgram();
        const cuts = new Set(modelWords());
        await using mind = await emulateChatCompletions({
          replies: ({ messages }) => {
            const said = messages.flatMap(({ role, content }) => (role === 'user' ? [String(content)] : []));
            const word = wordIn(said.map((text) => text.toLowerCase().replace('tell', 'Tell')));
            const isLast = isFarewell(said.at(-1) ?? '');
            // The first answer is cut off before its first word: it is asked for once more.
            const cutAfter = cuts.delete(word) ? { cutAfter: 0 } : {};
            const reply = isLast ? { text: GOODBYE, toolCalls: END_CALL } : { text: answerTo(word) };
            return { ...reply, ...cutAfter, firstTokenMs: 300, tokenMs: 20 };
          },
        });
        await using voice = await emulateElevenLabs({ firstAudioMs: 60, chunkEveryMs: 60 });
        await using phone = await startCarrierPhone(
          id,
          {
            firstMessage: GREETING,
            stt: new DeepgramSpeechToText({ apiKey: KEY, baseUrl: ears.url }),
            llm: new ChatCompletions({ apiKey: KEY, baseUrl: `${mind.url}/v1` }),
            tts: new ElevenLabsTextToSpeech({ apiKey: KEY, baseUrl: voice.url }),
          },
          SERVE,
        );
        const calls: DroppedCall[] = PHASES.flatMap((phase, index) => [
          dropping(ears, phase, WORDS[index]),
          dropping(voice, phase, WORDS[index + PHASES.length]),
        ]);
        const well = { phase: 'goodbye', opened: () => ears.requests.length } as const;
        const unbroken = [WELL, ...modelWords()].map((word) => ({ ...well, word }));
        for (const played of await playDrops(phone, [...unbroken, ...calls])) check(played);
        expect([...ears.violations, ...voice.violations, ...mind.violations]).toEqual([]);
      });

      it('realtime', async () => {
        const words = [WELL, ...WORDS.slice(0, PHASES.length)];
        const phases: (Phase | undefined)[] = [undefined, ...PHASES];
        // In the order in which calls begin: those that drop early come last.
        const order = [0, 3, 4, 5, 6, 1, 2];
        const scripts = order.map((index) => {
          const phase = phases[index];
          const question = questionOf(words[index] ?? '');
          const isHeard = phase === 'thinking' || phase === 'speaking' || phase === 'goodbye';
          return { first: [question, FAREWELL], again: isHeard ? [FAREWELL] : [question, FAREWELL] };
        });
        const again: string[][] = [];
        await using emulator = await emulateOpenAIRealtime({
          utterances: () => again.shift() ?? scripts.shift()?.first ?? [],
          replies: ({ heard, items }) => {
            const said = [...items.filter(({ role }) => role === 'user').map(({ text }) => text), heard];
            if (isFarewell(heard) || isFarewell(said.filter((text) => text !== '').at(-1) ?? ''))
              return { text: GOODBYE, toolCalls: END_CALL, firstAudioMs: 300 };
            return { text: answerTo(wordIn(said)), firstAudioMs: 300 };
          },
        });
        const engine = new OpenAIRealtime({ apiKey: KEY, baseUrl: `${emulator.url}/v1` });
        await using phone = await startCarrierPhone(id, { firstMessage: GREETING, engine }, SERVE);
        const known = new Map(order.map((index, at) => [index, scripts[at]?.again ?? []]));
        const calls = words.map((word, index): DroppedCall => {
          const phase = phases[index];
          const opened = () => emulator.requests.length;
          if (phase === undefined) return { word, phase: 'goodbye', opened };
          const drop = (socket: number) => {
            again.push(known.get(index) ?? []);
            emulator.break('reset', { socket });
          };
          return { word, phase, opened, drop };
        });
        for (const played of await playDrops(phone, calls)) check(played);
        expect(emulator.violations).toEqual([]);
      });
    },
  );
}

/** Callers whose answer the language model breaks off. */
function modelWords(): readonly string[] {
  return ['radishes', 'sultanas'];
}

function dropping(emulator: Emulator, phase: Phase, word = ''): DroppedCall {
  return {
    word,
    phase,
    opened: () => emulator.requests.length,
    drop: (socket) => emulator.break('reset', { socket }),
  };
}

function check({ call, report, record }: PlayedCall): void {
  const { word, phase, drop } = call;
  const told = `${word}, ${drop === undefined ? 'unbroken' : phase}`;
  expect(record, told).toMatchObject({ endReason: 'agent-hangup', error: null });
  expect(report.protocolErrors, told).toEqual([]);
  const texts = record.transcript.map(({ text }) => text).join(' ');
  const others = [WELL, ...WORDS, ...modelWords()].filter((other) => other !== word && texts.includes(other));
  expect(others, told).toEqual([]);
  for (const { responseMs } of report.turns) expect(responseMs ?? 0, told).toBeLessThan(LONGEST_WAIT_MS);
  if (drop !== undefined) return;
  expect(record.turns.map(({ agentText }) => agentText)).toEqual([GREETING, answerTo(word), GOODBYE]);
}
