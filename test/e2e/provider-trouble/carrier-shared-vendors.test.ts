// Calls that share their vendors, with a drop of one call's connection: every call goes on to its goodbye, and none hears of another.
import { describe, expect, it } from 'vitest';
import type { CarrierId } from '../../../src/index.js';
import { ChatCompletions } from '../../../src/providers/llm/index.js';
import { OpenAIRealtime } from '../../../src/providers/realtime/index.js';
import { DeepgramSpeechToText } from '../../../src/providers/stt/index.js';
import { ElevenLabsTextToSpeech } from '../../../src/providers/tts/index.js';
import {
  type Emulator,
  emulateChatCompletions,
  emulateDeepgram,
  emulateElevenLabs,
  emulateOpenAIRealtime,
  openToneVoice,
} from '../../../src/testing/index.js';
import { PHASES, type Phase } from '../../support/call-moments.js';
import { startCarrierPhone } from '../../support/carrier-phone.js';
import {
  answerTo,
  type DroppedCall,
  FAREWELL,
  GOODBYE,
  GREETING,
  isEarly,
  type PlayedCall,
  playDrops,
  questionOf,
  wordIn,
} from '../../support/dropped-calls.js';
import { rotated } from '../../support/rotated.js';
import { CARRIERS } from '../../support/troubled-call-groups.js';
import { END_CALL, LONGEST_WAIT_MS } from '../../support/vendor-scene.js';

const KEY = 'test-key';
const WORDS = 'apples berries cherries dates figs grapes kiwis lemons melons nuts olives plums'.split(' ');
const WELL = 'quinces';
const SERVE = { serve: { maxStreamsPerIp: 50 }, simulator: { openVoice: openToneVoice } };

const isFarewell = (text: string) => /that is all/i.test(text);

/** Whose connection is dropped. */
type Victim = 'ears' | 'voice' | 'engine';

interface Drop {
  readonly id: CarrierId;
  readonly victim: Victim;
  readonly phase: Phase;
}

const VICTIMS: readonly Victim[] = ['ears', 'voice', 'engine'];
/** On each carrier everybody is dropped, and in every phase somebody is. */
const CHOSEN = rotated(
  CARRIERS.flatMap((id) => VICTIMS.flatMap((victim) => PHASES.map((phase): Drop => ({ id, victim, phase })))),
  [({ id, victim }) => `${id}, ${victim}`, ({ id, phase }) => `${id}, ${phase}`],
);

/** Callers whose answer the language model breaks off. */
const CUT_SHORT = ['radishes', 'sultanas'];

/** No limit of the calls: a busy machine needs long for so many. */
const SIDE_BY_SIDE = { timeout: 400_000 };

describe.each(CARRIERS)('%s: a vendor drops one call beside calls that it does not', SIDE_BY_SIDE, (id) => {
  const dropsOf = (...victims: readonly Victim[]) =>
    CHOSEN.filter((drop) => drop.id === id && victims.includes(drop.victim));

  it('pipeline', async () => {
    await using ears = await emulateDeepgram();
    const cuts = new Set(CUT_SHORT);
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
    const calls = dropsOf('ears', 'voice').map(({ victim, phase }, index) =>
      dropping(victim === 'ears' ? ears : voice, phase, WORDS[index]),
    );
    const well = { phase: 'goodbye', opened: () => ears.requests.length } as const;
    const unbroken = [WELL, ...CUT_SHORT].map((word) => ({ ...well, word }));
    for (const played of await playDrops(phone, [...unbroken, ...calls])) check(played);
    expect([...ears.violations, ...voice.violations, ...mind.violations]).toEqual([]);
  });

  it('realtime', async () => {
    const drops = dropsOf('engine').map(({ phase }) => phase);
    // In the order in which calls begin: those that drop early come last.
    const phases = [undefined, ...drops.filter((phase) => !isEarly(phase)), ...drops.filter(isEarly)];
    const scripted = phases.map((phase, index) => {
      const word = phase === undefined ? WELL : (WORDS[index] ?? '');
      const question = questionOf(word);
      const isHeard = phase === 'thinking' || phase === 'speaking' || phase === 'goodbye';
      return { word, phase, first: [question, FAREWELL], again: isHeard ? [FAREWELL] : [question, FAREWELL] };
    });
    const firsts = scripted.map(({ first }) => first);
    const again: string[][] = [];
    await using emulator = await emulateOpenAIRealtime({
      utterances: () => again.shift() ?? firsts.shift() ?? [],
      replies: ({ heard, items }) => {
        const said = [...items.filter(({ role }) => role === 'user').map(({ text }) => text), heard];
        if (isFarewell(heard) || isFarewell(said.filter((text) => text !== '').at(-1) ?? ''))
          return { text: GOODBYE, toolCalls: END_CALL, firstAudioMs: 300 };
        return { text: answerTo(wordIn(said)), firstAudioMs: 300 };
      },
    });
    const engine = new OpenAIRealtime({ apiKey: KEY, baseUrl: `${emulator.url}/v1` });
    await using phone = await startCarrierPhone(id, { firstMessage: GREETING, engine }, SERVE);
    const calls = scripted.map((each): DroppedCall => {
      const { word, phase } = each;
      const opened = () => emulator.requests.length;
      if (phase === undefined) return { word, phase: 'goodbye', opened };
      const drop = (socket: number) => {
        again.push(each.again);
        emulator.break('reset', { socket });
      };
      return { word, phase, opened, drop };
    });
    for (const played of await playDrops(phone, calls)) check(played);
    expect(emulator.violations).toEqual([]);
  });
});

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
  const others = [WELL, ...WORDS, ...CUT_SHORT].filter((other) => other !== word && texts.includes(other));
  expect(others, told).toEqual([]);
  for (const { responseMs } of report.turns) expect(responseMs ?? 0, told).toBeLessThan(LONGEST_WAIT_MS);
  if (drop !== undefined) return;
  expect(record.turns.map(({ agentText }) => agentText)).toEqual([GREETING, answerTo(word), GOODBYE]);
  if (word !== WELL) return;
  expect(record.incidents).toEqual([]);
  const said = record.turns.map(({ userText }) => userText.toLowerCase());
  expect(said).toEqual(['', questionOf(word).toLowerCase(), FAREWELL.toLowerCase()]);
}
