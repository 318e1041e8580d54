// Facts on the bus -> callbacks of the application. Whatever a callback does, no call and no other callback feels it.
import { type Logger, logThrown } from '../../base/log.js';
import type {
  CallDirection,
  CallLatency,
  CallProviders,
  CallRecord,
  CarrierId,
  Cost,
  TranscriptRole,
  Turn,
  VoiceMode,
} from '../../contract/call-record.js';
import type { EventBus } from '../../events/bus.js';
import { opensCall, reduceCall } from '../../events/reduce.js';

/** What every callback is told of its call. */
export interface CallPayload {
  callId: string;
  carrierCallId: string | null;
  carrier: CarrierId;
  direction: CallDirection;
  caller: string;
  callee: string;
  /** Name of the agent; null if it has none. */
  agent: string | null;
}

/** A call has connected. Times are epoch milliseconds. */
export interface CallStartPayload extends CallPayload {
  startedAt: number;
  mode: VoiceMode | null;
  provider: CallProviders;
}

/** A piece of the transcript that will not change, unless the same `id` comes again. */
export interface TranscriptPayload extends CallPayload {
  id: string;
  turnIndex: number;
  role: TranscriptRole;
  text: string;
  at: number;
  /** The agent was cut off here; `text` is what the caller heard. */
  interrupted: boolean;
}

/** A turn is over. `latency` and `cost` are those of the call so far. */
export interface MetricsPayload extends CallPayload {
  turn: Turn;
  latency: CallLatency;
  cost: Cost;
}

/** A call is over: its record. */
export interface CallEndPayload extends CallRecord {
  /** Set if an earlier process died before its `onCallEnd` for this call returned: it may have done all of its work, some, or none. */
  redelivered?: true;
}

/** What an application may hear of its calls. May return a promise: nobody waits for it. */
export interface CallCallbacks {
  onCallStart?: ((data: CallStartPayload) => unknown) | undefined;
  onCallEnd?: ((data: CallEndPayload) => unknown) | undefined;
  onTranscript?: ((data: TranscriptPayload) => unknown) | undefined;
  onMetrics?: ((data: MetricsPayload) => unknown) | undefined;
}

/** Callbacks at work. */
export interface AttachedCallbacks {
  /** Knows a call that began before, whose end is still to come. The function that it returns takes that back. */
  adopt(record: CallRecord): () => void;
  /** Another process has the call, and tells of its end. */
  leave(callId: string): void;
  /** Runs `onCallEnd` for a call that was over before, and whose process died meanwhile. */
  redeliver(record: CallRecord): void;
  /** Resolves when no `onCallEnd` is running. May never, if one of them never returns. */
  settled(): Promise<void>;
  /** Idempotent. */
  close(): void;
}

export interface CallbackOptions {
  readonly callbacks: CallCallbacks;
  readonly logger: Logger;
  /** Hears of each call that ended that its `onCallEnd` is not running any more. Never rejects. */
  readonly endTold?: ((callId: string) => Promise<void>) | undefined;
}

/** Runs `callbacks` on the facts of `bus`. Payloads are copies: the application may keep and change them. */
export function attachCallbacks(bus: EventBus, options: CallbackOptions): AttachedCallbacks {
  const { callbacks, logger, endTold = async () => {} } = options;
  const records = new Map<string, CallRecord>();
  const endings = new Set<Promise<void>>();

  const run = <T extends { callId: string }>(
    name: keyof CallCallbacks,
    callback: ((data: T) => unknown) | undefined,
    data: T,
  ) => {
    if (callback === undefined) return Promise.resolve();
    const copy = structuredClone(data);
    return (async () => callback(copy))().then(
      () => {},
      (thrown: unknown) =>
        logThrown(
          { logger, level: 'error', thrown },
          { callId: data.callId, callback: name },
          'callback failed',
        ),
    );
  };

  const tellEnd = (record: CallEndPayload) => {
    const running = run('onCallEnd', callbacks.onCallEnd, record).then(() => endTold(record.callId));
    endings.add(running);
    void running.then(() => endings.delete(running));
  };

  const unsubscribe = bus.subscribe((event) => {
    const before = records.get(event.callId);
    if (before === undefined && event.type === 'call.ended') void endTold(event.callId);
    if (before === undefined && !opensCall(event)) return;
    const record = reduceCall(before, event);
    records.set(event.callId, record);
    if (event.type === 'call.started') void run('onCallStart', callbacks.onCallStart, startPayload(record));
    if (event.type === 'turn.completed') {
      const { latency, cost } = record;
      void run('onMetrics', callbacks.onMetrics, { ...party(record), turn: event.turn, latency, cost });
    }
    if (event.type === 'transcript.segment' && event.entry.final && event.entry.text !== '') {
      const { final: _final, interrupted = false, ...entry } = event.entry;
      void run('onTranscript', callbacks.onTranscript, { ...party(record), ...entry, interrupted });
    }
    if (event.type === 'call.ended') {
      records.delete(event.callId);
      tellEnd(record);
    }
  });

  return {
    adopt(record) {
      records.set(record.callId, record);
      return () => void records.delete(record.callId);
    },
    leave(callId) {
      records.delete(callId);
    },
    redeliver(record) {
      tellEnd({ ...record, redelivered: true });
    },
    async settled() {
      while (endings.size > 0) await Promise.all(endings);
    },
    close: unsubscribe,
  };
}

function party(record: CallRecord): CallPayload {
  const { callId, carrierCallId, carrier, direction, caller, callee, agent } = record;
  return { callId, carrierCallId, carrier, direction, caller, callee, agent };
}

function startPayload(record: CallRecord): CallStartPayload {
  const { startedAt, mode, provider } = record;
  return { ...party(record), startedAt, mode, provider };
}
