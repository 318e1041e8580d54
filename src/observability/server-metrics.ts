// All that a server measures of itself, as Prometheus reads it.
import type { Clock } from '../base/clock.js';
import type { LoadJudge } from '../base/load-judge.js';
import type { Meters } from '../base/meters.js';
import type { CallRecord, ProviderStage } from '../contract/call-record.js';
import type { EventBus } from '../events/bus.js';
import { CallMetrics } from './call-metrics.js';
import { ClusterMetrics, type ClusterStanding } from './cluster-metrics.js';
import { EventLoopWatch } from './event-loop-watch.js';
import { Counter, Gauge, Histogram, type Metric } from './metric.js';

const LATE_SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1] as const;

export interface ServerMetricsParts {
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly load: LoadJudge;
  /** Calls that are up on this server. */
  callsUp(): number;
  /** True once new calls are refused because the server is about to stop. */
  isDraining(): boolean;
  /** Undefined for a server that is alone. @default alone */
  readonly cluster?: (() => ClusterStanding) | undefined;
}

/** Hears facts and measurements until it is closed. */
export class ServerMetrics implements Meters {
  readonly #frames = new Histogram({
    name: 'offhook_frame_lateness_seconds',
    help: 'How long after its time a 20 ms frame of the agent left for the carrier.',
    buckets: LATE_SECONDS,
  });
  readonly #lag = new Histogram({
    name: 'offhook_event_loop_lag_seconds',
    help: 'How long after its time the event loop ran a timer, asked ten times a second, and four times while no call is up.',
    buckets: LATE_SECONDS,
  });
  readonly #providerErrors = new Counter({
    name: 'offhook_provider_errors_total',
    help: 'Failures of providers that a call had to live with, by stage and error code.',
    labels: ['stage', 'code'],
  });
  readonly #refusals = new Counter({
    name: 'offhook_webhooks_refused_total',
    help: 'Webhooks that were turned away because of their signature.',
    labels: ['carrier', 'code'],
  });
  readonly #dropped = new Counter({
    name: 'offhook_inbound_audio_dropped_seconds_total',
    help: 'Audio of callers that was dropped because it came faster than real time.',
  });
  readonly #calls: CallMetrics;
  /** Undefined for a server that is alone. */
  readonly cluster: ClusterMetrics | undefined;
  readonly #metrics: readonly Metric[];
  readonly #watch: EventLoopWatch;
  readonly #unsubscribe: () => void;
  #queuedMs = 0;

  readonly #load: LoadJudge;

  constructor({ bus, clock, load, callsUp, isDraining, cluster }: ServerMetricsParts) {
    this.cluster = cluster && new ClusterMetrics(cluster);
    this.#calls = new CallMetrics(clock);
    this.#load = load;
    const late = (lateMs: number, dueMs: number, busyShare: number) => {
      this.#lag.observe(lateMs / 1000);
      load.lagged(lateMs, dueMs, busyShare);
    };
    this.#watch = new EventLoopWatch({ clock, callsUp, late });
    this.#unsubscribe = bus.subscribe((event) => this.#calls.hear(event));
    const calls = new Gauge({
      name: 'offhook_server_calls',
      help: 'Calls that are up on this server. In a cluster, offhook_calls_active tells of those of all servers.',
      read: callsUp,
    });
    const queue = new Gauge({
      name: 'offhook_outbound_queue_seconds',
      help: 'Audio of the agents that waits for its time, over all calls.',
      read: () => this.#queuedMs / 1000,
    });
    const overload = new Gauge({
      name: 'offhook_overloaded',
      help: '1 while new calls are refused because the process does not keep up, else 0.',
      read: () => Number(load.isOverloaded),
    });
    const draining = new Gauge({
      name: 'offhook_draining',
      help: '1 once new calls are refused because the server is about to stop, else 0.',
      read: () => Number(isDraining()),
    });
    this.#metrics = [
      calls,
      ...this.#calls.metrics,
      this.#frames,
      queue,
      this.#lag,
      overload,
      draining,
      this.#providerErrors,
      this.#refusals,
      this.#dropped,
      ...(this.cluster?.metrics ?? []),
      ...processMetrics(clock),
    ];
  }

  frameSent(lateMs: number): void {
    this.#frames.observe(lateMs / 1000);
    this.#load.frameSent(lateMs);
  }

  queued(deltaMs: number): void {
    this.#queuedMs += deltaMs;
  }

  audioDropped(audioMs: number): void {
    this.#dropped.add(audioMs / 1000, {});
  }

  providerFailed(stage: ProviderStage, code: string): void {
    this.#providerErrors.add(1, { stage, code });
  }

  webhookRefused(carrier: string, code: string): void {
    this.#refusals.add(1, { carrier, code });
  }

  /** Every metric in the text exposition format. */
  text(): string {
    return this.#metrics.map((metric) => metric.text()).join('');
  }

  /** Knows a call that another process had. To be told before its first fact here. The function that it returns takes that back. */
  adopt(record: CallRecord): () => void {
    return this.#calls.adopt(record);
  }

  /** Another process has the call. */
  leave(callId: string): void {
    this.#calls.leave(callId);
  }

  /** Hears nothing more. Idempotent. */
  close(): void {
    this.#unsubscribe();
    this.#watch.close();
  }
}

/** Under the names that Prometheus's own clients use. */
function processMetrics(clock: Clock): Metric[] {
  const startedAt = clock.wallNow() / 1000 - process.uptime();
  return [
    new Gauge({
      name: 'process_cpu_seconds_total',
      help: 'Processor time of this process, its threads and the kernel on its behalf.',
      type: 'counter',
      read: () => {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1e6;
      },
    }),
    new Gauge({
      name: 'process_resident_memory_bytes',
      help: 'Memory of this process.',
      read: () => process.memoryUsage.rss(),
    }),
    new Gauge({
      name: 'nodejs_heap_size_used_bytes',
      help: 'Memory that JavaScript objects take.',
      read: () => process.memoryUsage().heapUsed,
    }),
    new Gauge({
      name: 'process_start_time_seconds',
      help: 'When this process started, as seconds of the epoch.',
      read: () => startedAt,
    }),
  ];
}
