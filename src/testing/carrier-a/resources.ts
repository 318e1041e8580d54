// The resources of the REST API, as JSON shows them.
import type { Leg } from './leg.js';
import type { NumberSettings } from './numbers.js';
import { formatDate } from './parameters.js';
import type { CallRecording } from './recording.js';

const VERSION = '2010-04-01';
/** Source: the carrier's price page, per started minute in US dollars. */
const PRICES = { inbound: 0.0085, outbound: 0.014 };
/** How long after the end the carrier names a price. */
const PRICED_AFTER_MS = 1500;

export interface ResourceContext {
  readonly accountSid: string;
  readonly numbers: readonly NumberSettings[];
  /** Now, on the clock of durations. */
  readonly nowMs: number;
}

/** `+15005550020` -> `(500) 555-0020`, as the carrier writes the numbers of its own country. */
function formatNumber(number: string): string {
  const [, area, exchange, line] = /^\+1(\d{3})(\d{3})(\d{4})$/.exec(number) ?? [];
  return area === undefined ? number : `(${area}) ${exchange}-${line}`;
}

function date(epochMs: number | undefined): string | null {
  return epochMs === undefined ? null : formatDate(epochMs);
}

/** A charge is negative; null while the carrier does not name it, and for a call that nobody answered. */
function priceOf(leg: Leg, nowMs: number): string | null {
  if (leg.endedMs === undefined || !leg.isAnswered || nowMs < leg.endedMs + PRICED_AFTER_MS) return null;
  const minutes = Math.ceil(leg.durationMs / 60_000);
  return (-minutes * PRICES[leg.direction]).toFixed(5);
}

export function callResource(leg: Leg, context: ResourceContext): object {
  const { facts } = leg;
  const uri = `/${VERSION}/Accounts/${facts.accountSid}/Calls/${facts.callSid}`;
  const own = leg.direction === 'inbound' ? facts.to : facts.from;
  return {
    sid: facts.callSid,
    account_sid: facts.accountSid,
    api_version: VERSION,
    to: facts.to,
    to_formatted: formatNumber(facts.to),
    from: facts.from,
    from_formatted: formatNumber(facts.from),
    phone_number_sid: context.numbers.find(({ phoneNumber }) => phoneNumber === own)?.sid ?? null,
    parent_call_sid: facts.parentCallSid,
    // The status of a resource has no word for a call that is being dialed.
    status: leg.status === 'initiated' ? 'queued' : leg.status,
    direction: facts.direction,
    answered_by: leg.answeredBy,
    caller_name: null,
    forwarded_from: null,
    group_sid: null,
    trunk_sid: null,
    queue_time: '0',
    start_time: date(leg.answeredAt),
    end_time: date(leg.endedAt),
    duration: leg.isOver ? String(Math.ceil(leg.durationMs / 1000)) : null,
    price: priceOf(leg, context.nowMs),
    price_unit: 'USD',
    date_created: leg.status === 'queued' ? null : date(leg.createdAt),
    date_updated: leg.status === 'queued' ? null : date(leg.endedAt ?? leg.answeredAt ?? leg.createdAt),
    uri: `${uri}.json`,
    subresource_uris: { recordings: `${uri}/Recordings.json` },
  };
}

/** A call that this API never saw, and that counts as one that is over. */
export function unknownCallResource(sid: string, context: ResourceContext): object {
  const { accountSid } = context;
  return {
    sid,
    account_sid: accountSid,
    api_version: VERSION,
    status: 'completed',
    direction: 'inbound',
    from: '',
    to: '',
    price: null,
    price_unit: 'USD',
    uri: `/${VERSION}/Accounts/${accountSid}/Calls/${sid}.json`,
  };
}

export function recordingResource(recording: CallRecording, context: ResourceContext): object {
  const { accountSid } = context;
  const uri = `/${VERSION}/Accounts/${accountSid}`;
  return {
    sid: recording.sid,
    account_sid: accountSid,
    api_version: VERSION,
    call_sid: recording.callSid,
    conference_sid: null,
    channels: recording.settings.channels,
    source: recording.settings.source,
    track: recording.settings.track,
    status: recording.status,
    start_time: formatDate(recording.startedAt),
    duration: recording.isRunning ? null : recording.durationSeconds,
    price: null,
    price_unit: 'USD',
    error_code: recording.status === 'absent' ? 16_101 : null,
    date_created: formatDate(recording.startedAt),
    date_updated: formatDate(recording.startedAt),
    encryption_details: null,
    uri: `${uri}/Calls/${recording.callSid}/Recordings/${recording.sid}.json`,
  };
}

export function numberResource(number: NumberSettings, context: ResourceContext): object {
  const { accountSid } = context;
  const orNull = (value: string) => (value === '' ? null : value);
  return {
    sid: number.sid,
    account_sid: accountSid,
    api_version: VERSION,
    phone_number: number.phoneNumber,
    friendly_name: formatNumber(number.phoneNumber),
    voice_url: number.voiceUrl,
    voice_method: number.voiceMethod,
    voice_fallback_url: orNull(number.voiceFallbackUrl),
    status_callback: orNull(number.statusCallback),
    status_callback_method: number.statusCallbackMethod,
    voice_application_sid: null,
    trunk_sid: null,
    uri: `/${VERSION}/Accounts/${accountSid}/IncomingPhoneNumbers/${number.sid}.json`,
  };
}

/** A list on one page. */
export function listResource(name: string, items: readonly object[], uri: string): object {
  return {
    [name]: items,
    page: 0,
    page_size: 50,
    start: 0,
    end: Math.max(0, items.length - 1),
    uri,
    first_page_uri: uri,
    next_page_uri: null,
    previous_page_uri: null,
  };
}
