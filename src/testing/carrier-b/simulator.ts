// Carrier B on loopback, whole: its REST API, its webhooks, its legs and their streams.
import { randomUUID } from 'node:crypto';
import { systemClock } from '../../base/clock.js';
import { isE164 } from '../../base/e164.js';
import { ConfigError } from '../../base/errors.js';
import { checkNames, requireObject, requireText } from '../../base/option-checks.js';
import { checkCarrierBDisturbances, checkInboundCall } from '../call-checks.js';
import { SILENT_CALLEE } from '../callee.js';
import { prepareScript } from '../caller-script.js';
import { openEmbeddedVoice } from '../caller-voice.js';
import { requireSecret } from '../credentials.js';
import { checkLine } from '../line-conditions.js';
import type { CallReport } from '../report.js';
import type { CarrierSimulator, InboundCall } from '../simulator.js';
import { requireWritable } from '../writable.js';
import { createSharedAbort } from '../../base/shared-abort.js';
import { Account } from './account.js';
import { ENDS } from './events.js';
import type { Exchange } from './exchange.js';
import { callIn } from './inbound-call.js';
import type { CarrierBLeg } from './leg-contract.js';
import type { CarrierBDisturbances, CarrierBSimulatorOptions } from './options.js';
import { prepareCallee, type PreparedCallee } from './prepared-callee.js';
import { startRestServer } from './rest-server.js';
import { createCarrierBSigner } from './signing.js';
import { Switchboard } from './switchboard.js';
import { WebhookSender, type CarrierBWebhook } from './webhook-sender.js';

const WEBHOOK_PATH = '/webhooks/carrier-b/voice';
/** Source: default of the application setting `webhook_timeout_secs`. */
const WEBHOOK_TIMEOUT_MS = 2000;
const RETRY_DELAYS_MS = [200, 400, 800, 1600, 3200];
const FIRST_COMMAND_SECS = 30;
const START = 'startCarrierBSimulator()';
const OPTION_NAMES = [
  'url',
  'webhookHost',
  'port',
  'openVoice',
  'clock',
  'apiKey',
  'connectionId',
  'privateKeySeed',
  'phoneNumbers',
  'application',
  'callees',
  'disturbances',
  'grant',
  'l16ByteOrder',
  'l16SampleRateHz',
  'digits',
  'machineDetection',
  'earlySocket',
  'secondStream',
  'bridgedLegs',
  'webhookTimeoutMs',
  'webhookRetryDelaysMs',
] as const satisfies readonly (keyof CarrierBSimulatorOptions)[];

/** Carrier B on loopback. */
export interface CarrierBSimulator extends CarrierSimulator {
  readonly carrier: 'carrier-b';
  /** With which its webhooks are verified: 32 bytes in base64. */
  readonly publicKey: string;
  readonly legs: readonly CarrierBLeg[];
  readonly webhooks: readonly CarrierBWebhook[];
  /** What the phone server did wrong that belongs to no leg. */
  readonly violations: readonly string[];
  disturb(disturbances: CarrierBDisturbances): void;
}

function readTarget(options: CarrierBSimulatorOptions): { target: URL; host: string } {
  const target = URL.canParse(options.url) ? new URL(options.url) : undefined;
  if (target === undefined || !['http:', 'https:'].includes(target.protocol)) {
    throw new ConfigError(
      'CONFIG_INVALID',
      'The server address must be an http or https URL, like http://127.0.0.1:8000.',
    );
  }
  const host = options.webhookHost ?? target.host;
  if (!/^[\w.-]+(:\d+)?$|^\[[0-9a-f:]+\](:\d+)?$/i.test(host)) {
    throw new ConfigError(
      'CONFIG_INVALID',
      'The webhook host must be a host with an optional port, without scheme or path.',
    );
  }
  return { target, host };
}

function checkOptions(options: CarrierBSimulatorOptions): void {
  requireObject(options, START);
  checkNames(options, OPTION_NAMES, START);
  requireText(START, 'url', options.url);
  checkCarrierBDisturbances(options.disturbances ?? {});
  for (const name of ['apiKey', 'connectionId'] as const) requireSecret(START, name, options[name]);
  const wrong = (options.phoneNumbers ?? []).some((number) => !isE164(number));
  if (wrong)
    throw new ConfigError(
      'CONFIG_INVALID',
      'Numbers of the account must be phone numbers like +15005550010.',
    );
}

/** Faults that are asked for by their number, counted down. */
class StreamFaults {
  #left: Partial<Record<'failedStreams' | 'closedBeforeStart', number>> = {};

  plan({ failedStreams = 0, closedBeforeStart = 0 }: CarrierBDisturbances): void {
    this.#left = { failedStreams, closedBeforeStart };
  }

  take(kind: 'failedStreams' | 'closedBeforeStart'): boolean {
    const left = this.#left[kind] ?? 0;
    this.#left[kind] = Math.max(0, left - 1);
    return left > 0;
  }
}

/**
 * Starts carrier B for one phone server: webhooks and streams go to `options.url`, and the server's REST client has the
 * `url` of the simulator as its base. Everything that callees say is synthesized first.
 * @throws ConfigError for options that cannot work, ProviderError when the voice of a callee fails.
 */
export async function startCarrierBSimulator(options: CarrierBSimulatorOptions): Promise<CarrierBSimulator> {
  checkOptions(options);
  const { target, host } = readTarget(options);
  const { clock = systemClock, openVoice = openEmbeddedVoice } = options;
  const signer = createCarrierBSigner(options.privateKeySeed);
  const closing = createSharedAbort();
  const voiceContext = { openVoice, signal: closing.signal };
  const faults = new StreamFaults();
  let disturbances = options.disturbances ?? {};
  faults.plan(disturbances);

  const callees = new Map<string, PreparedCallee>();
  for (const [number, callee] of Object.entries(options.callees ?? {})) {
    callees.set(number, await prepareCallee(callee, voiceContext));
  }
  const others = callees.get('*') ?? (await prepareCallee(SILENT_CALLEE, voiceContext));

  const settings = options.application ?? {};
  const application: Exchange['application'] = {
    record_type: 'call_control_application',
    id: options.connectionId,
    application_name: 'simulated',
    active: true,
    webhook_event_url: settings.webhook_event_url ?? `https://${host}${WEBHOOK_PATH}`,
    webhook_event_failover_url: null,
    webhook_api_version: settings.webhook_api_version ?? '2',
    webhook_timeout_secs: null,
    first_command_timeout: settings.first_command_timeout ?? false,
    first_command_timeout_secs: settings.first_command_timeout_secs ?? FIRST_COMMAND_SECS,
    call_cost_in_webhooks: settings.call_cost_in_webhooks ?? false,
    dtmf_type: 'RFC 2833',
  };
  const sender = new WebhookSender({
    clock,
    signer,
    target,
    timeoutMs: options.webhookTimeoutMs ?? WEBHOOK_TIMEOUT_MS,
    retryDelaysMs: options.webhookRetryDelaysMs ?? RETRY_DELAYS_MS,
    disturbances: () => disturbances,
    apiVersion: () => application.webhook_api_version,
  });
  const { grant = [] } = options;
  const exchange: Exchange = {
    clock,
    userId: randomUUID(),
    target,
    sender,
    application,
    grant: typeof grant === 'string' ? [grant] : grant,
    l16ByteOrder: options.l16ByteOrder ?? 'little',
    l16SampleRateHz: options.l16SampleRateHz ?? 16_000,
    digits: options.digits ?? 'socket-first',
    machineDetection: options.machineDetection ?? 'as-called',
    earlySocket: options.earlySocket ?? true,
    secondStream: options.secondStream ?? 'replaces',
    bridgedLegs: options.bridgedLegs ?? 'both',
    api: { url: '', strangers: 0 },
    get disturbances() {
      return disturbances;
    },
    takeStreamFault: (kind) => faults.take(kind),
  };
  const switchboard = new Switchboard(exchange, {
    phoneNumbers: options.phoneNumbers ?? [],
    callees,
    others,
  });
  const rest = await startRestServer({
    port: options.port ?? 0,
    apiKey: options.apiKey,
    account: new Account(switchboard),
    clock,
    disturbances: () => disturbances,
    violate: (sentence) => switchboard.violations.add(sentence),
    onStranger: () => {
      exchange.api.strangers += 1;
    },
  });
  exchange.api.url = rest.url;

  const call = async (inbound: InboundCall): Promise<CallReport> => {
    checkInboundCall(inbound);
    const { from = '+15005550020', to = '+15005550010', maxDurationMs = 120_000, recordTo } = inbound;
    if (!isE164(to))
      throw new ConfigError('CONFIG_INVALID', 'The called number must be a phone number like +15005550010.');
    if (!(maxDurationMs >= 1000 && maxDurationMs <= 3_600_000)) {
      throw new ConfigError('CONFIG_INVALID', 'The longest duration must be 1,000 to 3,600,000 ms.');
    }
    if (inbound.line !== undefined) checkLine(inbound.line);
    if (recordTo !== undefined) await requireWritable(recordTo);
    const steps = await prepareScript(inbound.script, voiceContext);
    const transferTo =
      inbound.transferTo === undefined ? undefined : await prepareCallee(inbound.transferTo, voiceContext);
    return callIn(switchboard, {
      from,
      to,
      maxDurationMs,
      recordTo,
      steps,
      transferTo,
      line: inbound.line,
      signal: inbound.signal,
    });
  };

  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    closing.abort();
    // Nobody is told of this end: the carrier is gone.
    sender.close();
    for (const leg of switchboard.legs) {
      leg.end({ ...ENDS.unspecified, by: 'network', how: 'aborted', abrupt: true });
    }
    await rest.close();
  };

  return {
    carrier: 'carrier-b',
    url: rest.url,
    publicKey: signer.publicKey,
    requests: rest.requests,
    webhooks: sender.sent,
    legs: switchboard.legs,
    get violations() {
      return switchboard.violations.sentences;
    },
    call,
    disturb(next) {
      checkCarrierBDisturbances(next);
      disturbances = next;
      faults.plan(next);
    },
    async settled() {
      do {
        await Promise.all(switchboard.legs.map((leg) => leg.settled));
        await sender.idle();
      } while (switchboard.legs.some(({ isOver }) => !isOver) || !sender.isIdle);
    },
    close() {
      closed ??= close();
      return closed;
    },
  };
}
