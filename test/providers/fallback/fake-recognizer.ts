// Recognizers of a chain that do as they are told, and a caller who speaks to them.
import { ProviderError } from '../../../src/base/errors.js';
import { silentLogger } from '../../../src/base/log.js';
import { Circuits } from '../../../src/providers/circuits.js';
import { SpeechToTextChain } from '../../../src/providers/fallback/speech-to-text-chain.js';
import type { Patience } from '../../../src/providers/patience.js';
import type {
  SpeechToText,
  SpeechToTextContext,
  SpeechToTextEvents,
  SpeechToTextSession,
} from '../../../src/providers/speech-to-text.js';
import { FakeClock } from '../../support/fake-clock.js';

export const DOWN = new ProviderError('The key is wrong.', { status: 401, retryable: false });

/** Samples of a frame are this and its number: every frame is loud, and can be told apart. */
const LOUD = 1000;

/** Keeps the numbers of the frames that it hears. Silence is 0. */
export class FakeRecognizer implements SpeechToText {
  readonly name: string;
  readonly ownsTurnTaking: boolean;
  readonly writesAfterwards: boolean;
  heard: number[] = [];
  asked = 0;
  opened = 0;
  closed = 0;
  openError: Error | undefined;
  onFinish: (() => void) | undefined;
  onAudio: (() => unknown) | undefined;
  context: SpeechToTextContext | undefined;

  constructor(name: string, { ownsTurnTaking = false, writesAfterwards = false } = {}) {
    this.name = name;
    this.ownsTurnTaking = ownsTurnTaking;
    this.writesAfterwards = writesAfterwards;
  }

  get events(): SpeechToTextEvents {
    if (this.context === undefined) throw new Error(`${this.name} was not opened`);
    return this.context.events;
  }

  open(context: SpeechToTextContext): SpeechToTextSession {
    if (this.openError !== undefined) throw this.openError;
    this.opened += 1;
    this.context = context;
    return {
      pushAudio: (frame) => {
        this.heard.push(Math.max(0, (frame[0] ?? 0) - LOUD));
        return this.onAudio?.() as undefined;
      },
      finishUtterance: () => {
        this.asked += 1;
        this.onFinish?.();
      },
      close: () => {
        this.closed += 1;
        context.events.usage?.({ seconds: this.heard.length / 50 });
      },
    };
  }
}

export function setUp(
  members: readonly FakeRecognizer[] = [new FakeRecognizer('v/1'), new FakeRecognizer('v/2')],
) {
  const clock = new FakeClock();
  const circuits = new Circuits(clock);
  const [first, ...others] = members;
  if (first === undefined) throw new Error('a chain has members');
  const chain = new SpeechToTextChain({ members: [first, ...others], circuits, clock });
  const told: string[] = [];
  const open = (patience?: Patience, isLast?: () => boolean) =>
    chain.open({
      clock,
      patience,
      isLast,
      logger: silentLogger,
      language: 'en',
      events: {
        partial: (text) => void told.push(`~${text}`),
        final: (text) => void told.push(text),
        withdrawn: () => void told.push('(taken back)'),
        failed: (error) => void told.push(`failed: ${error.message}`),
        speechStarted: (atMs) => void told.push(`> ${atMs}`),
        turnEnded: () => void told.push('|'),
        usage: ({ seconds, payee }) => void told.push(`${payee?.name} is paid ${seconds}`),
        reconnected: ({ provider, gapMs }) => void told.push(`${provider} is back after ${gapMs}`),
        replaced: ({ from, to, gapMs }) => void told.push(`${from} -> ${to} after ${gapMs}`),
      },
    });
  let frame = 0;
  /** The caller speaks, in real time. */
  const speak = (session: SpeechToTextSession, ms: number) => {
    for (let at = 0; at < ms; at += 20) {
      clock.advance(20);
      frame += 1;
      session.pushAudio(new Int16Array(320).fill(LOUD + frame));
    }
  };
  const beSilent = (session: SpeechToTextSession, ms: number) => {
    for (let at = 0; at < ms; at += 20) {
      clock.advance(20);
      session.pushAudio(new Int16Array(320));
    }
  };
  return { clock, circuits, members, chain, told, open, speak, beSilent };
}

export const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

export function pair(options: { ownsTurnTaking?: boolean } = {}): [FakeRecognizer, FakeRecognizer] {
  return [new FakeRecognizer('v/1', options), new FakeRecognizer('v/2', options)];
}
