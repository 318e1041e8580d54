// A caller's voice for recognizers, and a listener that keeps what they tell.
import type {
  SpeechToText,
  SpeechToTextContext,
  SpeechToTextEvents,
  SpeechToTextSession,
} from '../../../src/providers/speech-to-text.js';
import { makeEmulatedSpeech } from '../../../src/testing/emulators/emulated-speech.js';
import { closedAfterTest } from '../../support/closed-after-test.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';
import { FakeVendor } from '../fake-vendor-socket.js';

const FRAME_SAMPLES = 320;

/** Partials as `~text`, everything else in a short form. */
export class Listener implements Required<SpeechToTextEvents> {
  readonly told: string[] = [];
  readonly gaps: number[] = [];
  seconds = 0;
  troubles = 0;
  /** How long connections had given nothing when that was found. */
  silentMs = 0;
  missedAnswers = 0;
  settledMs = 0;
  partial(text: string): void {
    this.told.push(`~${text}`);
  }
  final(text: string): void {
    this.told.push(text);
  }
  failed(error: Error): void {
    this.told.push(`failed: ${error.message}`);
  }
  speechStarted(atMs: number): void {
    this.told.push(`> ${Math.round(atMs)}`);
  }
  turnEnded(): void {
    this.told.push('|');
  }
  usage({ seconds }: { seconds: number }): void {
    this.seconds += seconds;
  }
  reconnected({ gapMs, lostMs }: { gapMs: number; lostMs: number }): void {
    this.gaps.push(gapMs);
    this.told.push(`back ${lostMs}`);
  }
  troubled(_: Error, { agoMs } = { agoMs: 0 }): void {
    this.troubles += 1;
    this.silentMs += agoMs;
  }
  unanswered(): void {
    this.missedAnswers += 1;
  }
  settled(untilMs: number): void {
    this.settledMs = untilMs;
  }
  withdrawn(): void {
    this.told.push('(taken back)');
  }
  replaced({ from, to }: { from: string; to: string }): void {
    this.told.push(`${from} -> ${to}`);
  }

  /** Finals that are not empty. */
  get finals(): string[] {
    return this.told.filter((line) => line !== '' && !/^(~|>|\||back|failed)/.test(line));
  }
}

/** Opens it until the test is over. */
export function listenWith(
  provider: SpeechToText,
  { clock = new FakeClock(), language }: { clock?: FakeClock; language?: string } = {},
) {
  const logger = new RecordedLogger();
  const events = new Listener();
  const session = closedAfterTest(provider.open({ clock, logger, language, events }));
  return { clock, logger, events, told: events.told, session };
}

/** What a session over a socket is made of, where the test is the vendor. */
export function fakeWire(
  vendorName: string,
  { keptMs, isLast }: Pick<SpeechToTextContext, 'keptMs' | 'isLast'> = {},
) {
  const clock = new FakeClock();
  const vendor = new FakeVendor();
  const logger = new RecordedLogger();
  const events = new Listener();
  const names = { vendor: vendorName, keyVariables: [`${vendorName.toUpperCase()}_API_KEY`] };
  return {
    scene: { clock, vendor, logger, events, told: events.told },
    context: { clock, logger, language: undefined, keptMs, isLast, events },
    wire: { target: { url: new URL('ws://vendor'), headers: {}, names }, open: vendor.open },
  };
}

export function speak(session: SpeechToTextSession, durationMs: number): void {
  const pcm = makeEmulatedSpeech({ durationMs, sampleRateHz: 16_000 });
  for (let at = 0; at < pcm.length; at += FRAME_SAMPLES) session.pushAudio(pcm.slice(at, at + FRAME_SAMPLES));
}

export function pause(session: SpeechToTextSession, durationMs: number): void {
  for (let at = 0; at < durationMs; at += 20) session.pushAudio(new Int16Array(FRAME_SAMPLES));
}
