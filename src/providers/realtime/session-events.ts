// What a session tells its engine: nothing behind its end, and the end once. What the engine does not take is the end as well.
import type { RealtimeContext, RealtimeEvents } from '../realtime-model.js';
import { notTaken } from '../wire/not-taken.js';

const NAMES: Readonly<Record<Exclude<keyof RealtimeEvents, 'failed'>, true>> = {
  ready: true,
  formatsChanged: true,
  speechStarted: true,
  interrupted: true,
  speechEnded: true,
  userText: true,
  responseStarted: true,
  audio: true,
  text: true,
  heardText: true,
  responseEnded: true,
  usage: true,
  resumable: true,
  lost: true,
  reconnected: true,
};

export interface SessionEnd {
  readonly isClosed: () => boolean;
  readonly close: () => void;
  /** The session fails, which may be after its end. @default nothing is to be done */
  readonly failing?: () => void;
}

/** The events of `context` for a session to tell. `failed` closes it first. */
export function createSessionEvents(context: RealtimeContext, end: SessionEnd): Required<RealtimeEvents> {
  const { events } = context;
  const failed = (error: Error) => {
    end.failing?.();
    if (end.isClosed()) return;
    end.close();
    events.failed(error);
  };
  const guarded = Object.keys(NAMES).map((name) => {
    const handler: ((event: never) => void) | undefined = events[name as keyof typeof NAMES];
    const tell = (event: never) => {
      if (end.isClosed()) return;
      try {
        handler?.call(events, event);
      } catch (error) {
        failed(notTaken(context, error));
      }
    };
    return [name, tell];
  });
  return { ...Object.fromEntries(guarded), failed };
}
