// The suites must notice what is wrong: providers with one fault each, and the check that has to fail.
import { systemClock } from '../../../src/base/clock.js';
import { pause } from '../../../src/base/pause.js';
import { describe, expect, it } from 'vitest';
import { ScriptedLanguageModel } from '../../../src/providers/llm/index.js';
import type { LanguageModel } from '../../../src/providers/language-model.js';
import type { SpeechToText } from '../../../src/providers/speech-to-text.js';
import { SimulatedSpeechToText } from '../../../src/providers/stt/index.js';
import type { SpokenPiece, SynthesisEvents, TextToSpeech } from '../../../src/providers/text-to-speech.js';
import {
  type ProviderCheck,
  testLanguageModel,
  testSpeechToText,
  testTextToSpeech,
} from '../../../src/testing/index.js';

async function expectCaught(checks: readonly ProviderCheck[], name: RegExp): Promise<void> {
  const check = checks.find((each) => name.test(each.name));
  if (check === undefined) throw new Error('There is no such check.');
  await expect(check.run()).rejects.toThrow();
}

describe('testSpeechToText', () => {
  const checks = (provider: SpeechToText) =>
    testSpeechToText(() => ({
      provider,
      announce: (session, text) => session.pushSpokenText?.({ id: text, text, final: true }),
      close() {},
    }));

  it('catches a recognizer that speaks after close', async () => {
    const chatty: SpeechToText = {
      name: 'chatty',
      open: ({ events }) => ({
        pushAudio() {},
        finishUtterance() {},
        close: () => void systemClock.after(10, () => events.final('late')),
      }),
    };
    await expectCaught(checks(chatty), /nothing after close/);
  });

  it('catches words where there were none', async () => {
    const simulated = new SimulatedSpeechToText();
    const hallucinating: SpeechToText = {
      name: 'hallucinating',
      open(context) {
        const session = simulated.open(context);
        return {
          ...session,
          close() {},
          pushAudio() {},
          finishUtterance: () => context.events.final('Thanks.'),
        };
      },
    };
    await expectCaught(checks(hallucinating), /no words in silence/);
  });
});

describe('testLanguageModel', () => {
  const checks = (provider: LanguageModel) =>
    testLanguageModel(() => ({ provider, close() {} }), { saysWhatIsWanted: false });

  it('catches a model that takes a stream that ended too early for an answer', async () => {
    let isEnded = false;
    const credulous: LanguageModel = {
      name: 'credulous',
      async *respond() {
        for (let count = 0; count < 20 && !isEnded; count += 1) {
          yield { type: 'text', delta: 'on ' };
          await pause(systemClock, 5);
        }
      },
    };
    const endStreams = () => {
      isEnded = true;
    };
    const suite = testLanguageModel(() => ({ provider: credulous, endStreams, close() {} }));
    await expectCaught(suite, /its stream ended in the middle/);
  });

  it('catches a model that goes on after an abort', async () => {
    const deaf: LanguageModel = {
      name: 'deaf',
      async *respond() {
        for (let count = 0; count < 20; count += 1) {
          yield { type: 'text', delta: 'on ' };
          await pause(systemClock, 5);
        }
      },
    };
    await expectCaught(checks(deaf), /after an abort/);
    await expectCaught(checks(deaf), /aborted before/);
  });

  it('catches a model that does not go on with what its tool gave', async () => {
    const forgetful: LanguageModel = {
      name: 'forgetful',
      async *respond({ messages }) {
        const hasResult = messages.some(({ role }) => role === 'tool');
        if (hasResult) yield { type: 'text', delta: 'Which day?' };
        else {
          const day = { day: 'Friday' };
          yield {
            type: 'tool-call',
            id: 'call-1',
            name: 'find_slot',
            arguments: day,
            argumentsText: '{"day": "Friday"}',
          };
        }
        yield { type: 'end', reason: hasResult ? 'complete' : 'tool-calls' };
      },
    };
    const suite = testLanguageModel(() => ({ provider: forgetful, close() {} }));
    await expectCaught(suite, /goes on with its result/);
  });

  it('catches a model that changes the conversation', async () => {
    const scripted = new ScriptedLanguageModel({ firstWordMs: 0, wordsPerSecond: 1000 });
    const greedy: LanguageModel = {
      name: 'greedy',
      respond(request) {
        (request.messages as unknown[]).pop();
        return scripted.respond(request);
      },
    };
    await expectCaught(checks(greedy), /leaves the conversation/);
  });
});

describe('testTextToSpeech', () => {
  const tone = (length: number) => Int16Array.from({ length }, (_, index) => (index % 80) * 100);
  const voice = (
    synthesize: (text: string, signal: AbortSignal, events?: SynthesisEvents) => AsyncGenerator<Int16Array>,
  ): TextToSpeech => ({
    name: 'voice',
    open: () => ({ synthesize, close() {} }),
  });
  const checks = (provider: TextToSpeech) => testTextToSpeech(() => ({ provider, close() {} }));

  it('catches a voice whose cut-off sentence comes out in the next one', async () => {
    const left: Int16Array[] = [];
    const leaking = voice(async function* (text, signal) {
      left.push(...text.split('').map(() => tone(960)));
      while (left.length > 0 && !signal.aborted) {
        yield left.shift() ?? tone(1);
        await pause(systemClock, 1);
      }
    });
    await expectCaught(checks(leaking), /after an abort/);
  });

  it('catches a voice that hands out its own memory', async () => {
    const shared = tone(16_000);
    const sharing = voice(async function* (text) {
      if (text.trim() !== '') yield shared;
    });
    await expectCaught(checks(sharing), /receiver/);
  });

  it('catches a voice that speaks blanks', async () => {
    const eager = voice(async function* () {
      yield tone(960);
    });
    await expectCaught(checks(eager), /nothing to say/);
  });

  it.each<[string, (text: string) => SpokenPiece[]]>([
    [
      'places in another text',
      ({ length }) => [{ start: length - 1, end: length + 1, startMs: 0, endMs: 900 }],
    ],
    ['times behind the audio', () => [{ start: 2, end: 6, startMs: 0, endMs: 1500 }]],
    [
      'times that start again',
      () => [
        { start: 2, end: 6, startMs: 500, endMs: 900 },
        { start: 7, end: 9, startMs: 0, endMs: 900 },
      ],
    ],
    ['times of the beginning alone', () => [{ start: 2, end: 6, startMs: 0, endMs: 10 }]],
  ])('catches a voice that tells %s', async (_, pieces) => {
    const wrong = voice(async function* (text, _signal, events) {
      events?.timed?.(pieces(text));
      yield tone(16_000);
    });
    await expectCaught(checks(wrong), /tells times/);
  });
});
