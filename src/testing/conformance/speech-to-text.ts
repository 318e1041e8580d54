// What every recognizer must do, as a list of named checks that any test runner can run.
import { deepEqual, equal, ok } from 'node:assert/strict';
import { systemClock } from '../../base/clock.js';
import { silentLogger } from '../../base/log.js';
import type { SpeechToText, SpeechToTextSession } from '../../providers/speech-to-text.js';
import { makeEmulatedSpeech } from '../emulators/emulated-speech.js';
import { type ProviderCheck, type ProviderSetup, providerCheck, until, wait } from './provider-check.js';

export interface SpeechToTextSetup extends ProviderSetup {
  readonly provider: SpeechToText;
  /** Its usage is the time for which a session is open, not the audio. @default false */
  readonly countsOpenTime?: boolean;
  /** Called before the sound of a text is played into a session, for recognizers that learn the words beside it. */
  readonly announce?: (session: SpeechToTextSession, text: string) => void;
}

const FRAME_SAMPLES = 320;
const SPEECH_MS = 700;
const PAUSE_MS = 600;

/**
 * The checks for a recognizer. `create` is told what will be said, in order, so that an emulator can understand it; two sessions of
 * one setup do not speak at the same time.
 */
export function testSpeechToText(
  create: (texts: readonly string[]) => SpeechToTextSetup | Promise<SpeechToTextSetup>,
): ProviderCheck[] {
  const texts = ['Good morning to you.', 'I would like a table.'];
  const [first = '', second = ''] = texts;
  const check = (name: string, body: (setup: SpeechToTextSetup) => Promise<void>) =>
    providerCheck(name, () => create(texts), body);
  return [
    check('gives what was said as final text, in order, from the first frame on', async (setup) => {
      const ear = new Ear(setup);
      for (const text of texts) {
        ear.hear(text);
        await until(`final text "${text}"`, () => ear.finals.at(-1) === text);
      }
      deepEqual(ear.finals, texts);
      ok(!ear.told.at(-1)?.startsWith('partial'), 'A partial came after the final of its utterance.');
      ear.close();
    }),
    check('gives the open text when the utterance is finished', async (setup) => {
      const ear = new Ear(setup);
      ear.hear(first, { pauseMs: 100 });
      ear.session.finishUtterance();
      await until('final text', () => ear.finals.join(' ') === first);
      ear.close();
    }),
    check('hears no words in silence', async (setup) => {
      const ear = new Ear(setup);
      ear.silence(1500);
      ear.session.finishUtterance();
      await wait(500);
      deepEqual(ear.finals, []);
      ear.close();
    }),
    check('keeps sessions apart', async (setup) => {
      const [one, other] = [new Ear(setup), new Ear(setup)];
      other.silence(1000);
      one.hear(first);
      await until('final text', () => one.finals.length === 1);
      other.hear(second);
      await until('final text', () => other.finals.length === 1);
      deepEqual([one.finals, other.finals], [[first], [second]]);
      one.close();
      other.close();
    }),
    check('says nothing after close, and closes more than once', async (setup) => {
      const ear = new Ear(setup);
      ear.hear(first, { pauseMs: 0 });
      ear.close();
      const before = ear.told.length;
      ear.close();
      ear.session.finishUtterance();
      ear.silence(500);
      await wait(300);
      equal(ear.told.length, before);
    }),
    check('counts the audio that it was given, if it counts at all', async (setup) => {
      const ear = new Ear(setup);
      ear.hear(first);
      await until('final text', () => ear.finals.length === 1);
      ear.close();
      if (ear.seconds === undefined) return;
      ok(ear.seconds * 1000 >= SPEECH_MS, `It counted ${ear.seconds} s.`);
      if (setup.countsOpenTime === true) return;
      ok(ear.seconds * 1000 <= SPEECH_MS + PAUSE_MS + 1, `It counted ${ear.seconds} s.`);
    }),
    check('goes on after a lost connection', async (setup) => {
      if (setup.breakConnections === undefined) return;
      const ear = new Ear(setup);
      ear.hear(first);
      await until('final text', () => ear.finals.length === 1);
      setup.breakConnections();
      ear.hear(second);
      await until('final text after it', () => ear.finals.length === 2);
      deepEqual(ear.finals, texts);
      ok(!ear.told.some((line) => line.startsWith('failed')));
      ear.close();
    }),
  ];
}

/** A session, what it told, and a mouth to speak into it. */
class Ear {
  readonly session: SpeechToTextSession;
  readonly told: string[] = [];
  readonly finals: string[] = [];
  seconds: number | undefined;
  readonly #setup: SpeechToTextSetup;

  constructor(setup: SpeechToTextSetup) {
    this.#setup = setup;
    this.session = setup.provider.open({
      clock: systemClock,
      logger: silentLogger,
      language: 'en',
      events: {
        partial: (text) => void this.told.push(`partial ${text}`),
        final: (text) => {
          this.told.push(`final ${text}`);
          if (text !== '') this.finals.push(text);
        },
        failed: (error) => void this.told.push(`failed ${error.message}`),
        turnEnded: () => void this.told.push('turn ended'),
        usage: ({ seconds }) => {
          this.seconds = (this.seconds ?? 0) + seconds;
        },
      },
    });
  }

  hear(text: string, { pauseMs = PAUSE_MS } = {}): void {
    this.#setup.announce?.(this.session, text);
    this.#push(makeEmulatedSpeech({ durationMs: SPEECH_MS, sampleRateHz: 16_000 }));
    this.silence(pauseMs);
  }

  silence(durationMs: number): void {
    this.#push(new Int16Array(durationMs * 16));
  }

  close(): void {
    this.session.close();
  }

  /** One buffer for all frames, wiped as soon as the method has returned: who needs it longer must have copied it. */
  #push(pcm: Int16Array): void {
    const frame = new Int16Array(FRAME_SAMPLES);
    for (let at = 0; at + FRAME_SAMPLES <= pcm.length; at += FRAME_SAMPLES) {
      frame.set(pcm.subarray(at, at + FRAME_SAMPLES));
      this.session.pushAudio(frame);
      frame.fill(0);
    }
  }
}
