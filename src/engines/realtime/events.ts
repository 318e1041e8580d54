// Events of a realtime model on their way into a call: only while the call wants them, and whatever they cause stays in it.
import type { ModelToolCall } from '../../providers/language-model.js';
import type { RealtimeEvents } from '../../providers/realtime-model.js';

export interface RealtimeGate {
  /** The call goes on. */
  readonly isLive: () => boolean;
  /** Somebody listens. */
  readonly isListening: () => boolean;
  /** What an event causes has failed. */
  readonly failed: (error: unknown) => void;
  /** More has come than a call can have use for. */
  readonly tooMuch: () => void;
  /** Tells the model that these calls are not made. Each needs a result. */
  readonly refuse: (calls: readonly ModelToolCall[]) => void;
}

/** A model that calls more than this at once has lost its way. */
const MAX_CALLS = 64;

/** What a caller says in one breath is shorter. */
const MAX_CHARS = 8000;

/** Events that the call itself has to do with; the formats are the line's. */
export type CallEvents = Required<Omit<RealtimeEvents, 'formatsChanged'>>;

/** `usage` comes after the end of the call, too, and `failed` is the other's to judge. */
export function guardEvents(events: CallEvents, gate: RealtimeGate): RealtimeEvents {
  const guarded =
    <Event>(isOpen: () => boolean, handler: (event: Event) => void) =>
    (event: Event) => {
      if (!isOpen()) return;
      try {
        handler(event);
      } catch (error) {
        gate.failed(error);
      }
    };
  const live = <Event>(handler: (event: Event) => void) => guarded(gate.isLive, handler);
  const heard = <Event>(handler: (event: Event) => void) => guarded(gate.isListening, handler);
  return {
    ready: live(events.ready),
    speechStarted: heard<void>(events.speechStarted),
    interrupted: heard<void>(events.interrupted),
    speechEnded: heard(events.speechEnded),
    userText: live((said) => {
      if (said.text.length > MAX_CHARS) gate.tooMuch();
      events.userText({ ...said, text: said.text.slice(0, MAX_CHARS) });
    }),
    responseStarted: live(events.responseStarted),
    audio: heard(events.audio),
    text: heard(events.text),
    heardText: live(events.heardText),
    responseEnded: live((end) => {
      const { toolCalls } = end;
      if (toolCalls.length > MAX_CALLS) {
        gate.tooMuch();
        gate.refuse(toolCalls.slice(MAX_CALLS));
      }
      events.responseEnded({ ...end, toolCalls: toolCalls.slice(0, MAX_CALLS) });
    }),
    usage: events.usage,
    resumable: live(events.resumable),
    lost: live(events.lost),
    reconnected: live(events.reconnected),
    failed: events.failed,
  };
}
