// The call that a realtime model is opened for, and what the model tells of it, one line for each event.
import { MULAW_8K } from '../../../src/audio/format.js';
import type {
  RealtimeContext,
  RealtimeEvents,
  RealtimeModel,
  RealtimeUsage,
} from '../../../src/providers/realtime-model.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';

type Note = (line: string) => void;

export interface RecordedCallOptions extends Partial<Omit<RealtimeContext, 'events'>> {
  /** What is noted otherwise than here. */
  readonly events?: (note: Note) => Partial<RealtimeEvents>;
  /** Runs in the middle of an event. */
  readonly on?: Note;
}

export function recordCall({ events, on, ...about }: RecordedCallOptions = {}) {
  const clock = new FakeClock();
  const logger = new RecordedLogger();
  const told: string[] = [];
  /** What was used as far as it is guessed. */
  const guesses: RealtimeUsage[] = [];
  const failures: Error[] = [];
  const note: Note = (line) => {
    told.push(line);
    on?.(line);
  };
  const noted: RealtimeEvents = {
    ready: () => note('ready'),
    speechStarted: () => note('speech'),
    interrupted: () => note('interrupted'),
    speechEnded: ({ itemId, agoMs }) => note(`spoke ${itemId} ${agoMs}`),
    userText: ({ itemId, text, final }) => note(`${final ? '' : '~'}${itemId}: ${text}`),
    responseStarted: (id) => note(`start ${id}`),
    audio: ({ itemId, audio }) => note(`audio ${itemId} ${audio.length}`),
    text: ({ itemId, delta }) => note(`text ${itemId} ${delta}`),
    responseEnded: ({ responseId, reason, toolCalls }) =>
      note(['end', responseId, reason, ...toolCalls.map(({ id }) => id)].join(' ')),
    usage: (usage) => {
      if (usage.kind === 'response' && usage.isGuess === true) guesses.push(usage);
      else note(`usage ${JSON.stringify(usage)}`);
    },
    lost: () => note('lost'),
    reconnected: ({ gapMs, isPlanned, hearsAgain }) =>
      note(
        `${isPlanned === true ? 'renewed' : 'reconnected'} ${gapMs}${hearsAgain === true ? ' again' : ''}`,
      ),
    failed: (error) => {
      failures.push(error);
      note(`failed ${error.message}`);
    },
    ...events?.(note),
  };
  const context: RealtimeContext = {
    callId: 'call',
    clock,
    logger,
    language: undefined,
    instructions: 'You bake.',
    tools: [],
    formats: { input: MULAW_8K, output: MULAW_8K },
    interruptible: true,
    history: () => [],
    ...about,
    events: noted,
  };
  return { clock, logger, told, guesses, failures, context };
}

/** Opens a session and closes it when it is ready. Rejects with what it failed with. */
export function tryOut(model: RealtimeModel, about: RecordedCallOptions = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    const ready = () => {
      session.close();
      resolve();
    };
    const session = model.open(recordCall({ ...about, events: () => ({ ready, failed: reject }) }).context);
  });
}
