// A caller's voice for recognisers, and a listener that keeps what they tell.
import type { SpeechToTextEvents, SpeechToTextSession } from '../../../src/providers/speech-to-text.js';
import { makeEmulatedSpeech } from '../../../src/testing/emulators/emulated-speech.js';

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

export function speak(session: SpeechToTextSession, durationMs: number): void {
  const pcm = makeEmulatedSpeech({ durationMs, sampleRateHz: 16_000 });
  for (let at = 0; at < pcm.length; at += FRAME_SAMPLES) session.pushAudio(pcm.slice(at, at + FRAME_SAMPLES));
}

export function pause(session: SpeechToTextSession, durationMs: number): void {
  for (let at = 0; at < durationMs; at += 20) session.pushAudio(new Int16Array(FRAME_SAMPLES));
}
