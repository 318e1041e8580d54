// What a simulated call and its disturbances may be told, by name: what is misspelt would be passed over.
import { checkOptions } from '../base/option-checks.js';
import type { CarrierBDisturbances } from './carrier-b/options.js';
import type { Disturbances, InboundCall } from './simulator.js';

const CALL: Readonly<Record<keyof InboundCall, true>> = {
  from: true,
  to: true,
  script: true,
  maxDurationMs: true,
  recordTo: true,
  line: true,
  transferTo: true,
  signal: true,
};

const DISTURBANCES: Readonly<Record<keyof Disturbances, true>> = {
  duplicates: true,
  shuffle: true,
  clockSkewSeconds: true,
  restFailures: true,
  lostAnswers: true,
  restDelayMs: true,
  streamDelayMs: true,
  retryPauseMs: true,
};

/** Those of carrier B alone. */
const CARRIER_B_DISTURBANCES: Readonly<
  Record<Exclude<keyof CarrierBDisturbances, keyof Disturbances>, true>
> = {
  webhookDelayMs: true,
  unknownEvents: true,
  unaskedRecordings: true,
  optionalFields: true,
  flatEnvelopes: true,
  prefixedStreamEvents: true,
  shuffledChunks: true,
  repeatedChunks: true,
  oddPayloads: true,
  errorFrames: true,
  failedStreams: true,
  closedBeforeStart: true,
};

/** @throws ConfigError */
export function checkInboundCall(call: InboundCall): void {
  checkOptions(call, { known: Object.keys(CALL) }, 'call()');
}

/** @throws ConfigError */
export function checkDisturbances(disturbances: Disturbances): void {
  check(disturbances, Object.keys(DISTURBANCES));
}

/** @throws ConfigError */
export function checkCarrierBDisturbances(disturbances: CarrierBDisturbances): void {
  check(disturbances, [...Object.keys(DISTURBANCES), ...Object.keys(CARRIER_B_DISTURBANCES)]);
}

function check(disturbances: object, known: readonly string[]): void {
  checkOptions(disturbances, { known }, 'disturbances');
}
