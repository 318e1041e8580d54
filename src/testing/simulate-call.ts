// Calls a phone server once, as a carrier would, and reports what was heard. For more than one call there are the simulators.
import type { Clock } from '../base/clock.js';
import type { CallerStep, OpenVoice } from './caller-script.js';
import { Exchange } from './carrier-a/exchange.js';
import { createId } from './carrier-a/ids.js';
import type { CallReport } from './report.js';

export interface SimulateCallOptions {
  /** Address of the server, for example `http://127.0.0.1:8000`. Its host is dialled, for the webhook and for the stream. */
  url: string;
  /** @default 'carrier-a' */
  carrier?: 'carrier-a';
  /** Public host of the server, as the carrier knows it; part of what is signed. @default the host of `url` */
  webhookHost?: string | undefined;
  /** Signs webhooks and upgrade. Nothing is signed without it. */
  authToken?: string | undefined;
  /** @default a random id */
  accountSid?: string | undefined;
  /** Who calls. Also `anonymous` and other words that carriers use. @default '+15005550020' */
  from?: string | undefined;
  /** The called number. @default '+15005550010' */
  to?: string | undefined;
  /** What the caller does. */
  script: readonly CallerStep[];
  /** Speaks the `say` steps. @default the embedded voice */
  openVoice?: OpenVoice;
  /** The caller hangs up after this time, 1,000 to 3,600,000. @default 120000 */
  maxDurationMs?: number | undefined;
  /** Path of a stereo WAV file to write: the caller left, the agent right as it was really played, 8 kHz. */
  recordTo?: string | undefined;
  /** Post the number's status callback after the call. @default true */
  statusCallback?: boolean | undefined;
  /** Calls the simulation off: the call ends at once, and the report says so. */
  signal?: AbortSignal;
  /** @default the real clock */
  clock?: Clock;
}

const DEFAULT_TO = '+15005550010';

/**
 * Makes one call and resolves with its report when it is over, also when the server refuses it. Speech is synthesised
 * before the bell rings.
 * @throws ConfigError for options that cannot work, ProviderError when the caller's voice fails.
 */
export async function simulateCall(options: SimulateCallOptions): Promise<CallReport> {
  const { accountSid, authToken, to = DEFAULT_TO, from, script, maxDurationMs, recordTo, signal } = options;
  const exchange = new Exchange({
    url: options.url,
    accountSid: accountSid ?? createId('AC'),
    authToken,
    // The end of a call to a listed number is not reported until somebody asks for it.
    ...(options.statusCallback === false ? { phoneNumbers: [to] } : {}),
    ...(options.webhookHost === undefined ? {} : { webhookHost: options.webhookHost }),
    ...(options.openVoice === undefined ? {} : { openVoice: options.openVoice }),
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  });
  // Neither the clock's timers nor the voice's thread keep a process alive; a call that is being made must.
  const keptAlive = setInterval(() => {}, 60_000);
  try {
    return await exchange.call({
      to,
      script,
      ...(from === undefined ? {} : { from }),
      ...(maxDurationMs === undefined ? {} : { maxDurationMs }),
      ...(recordTo === undefined ? {} : { recordTo }),
      ...(signal === undefined ? {} : { signal }),
    });
  } finally {
    clearInterval(keptAlive);
    exchange.close();
  }
}
