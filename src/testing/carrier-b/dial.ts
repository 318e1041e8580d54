// `POST /calls`: an outbound call.
import { ApiFault } from './api-fault.js';
import { CommandBody, isAddress, type JsonFields } from './command-body.js';
import { Leg } from './leg.js';
import { DETECTION_MODES, detectMachine } from './machine-detection.js';
import { ring } from './ring.js';
import { readStreamRequest, STREAM_FIELDS, type StreamRequest } from './stream-request.js';
import type { Switchboard } from './switchboard.js';

const FIELDS = [
  ...STREAM_FIELDS.dial,
  'connection_id',
  'to',
  'from',
  'from_display_name',
  'timeout_secs',
  'time_limit_secs',
  'retry_on_timeout',
  'answering_machine_detection',
  'answering_machine_detection_config',
  'record',
  'record_channels',
  'record_format',
  'record_track',
  'record_max_length',
  'record_timeout_secs',
  'record_trim',
  'send_digits_on_answer',
  'webhook_url',
  'webhook_url_method',
  'webhook_urls',
  'client_state',
  'command_id',
  'custom_headers',
  'sip_headers',
  'audio_url',
  'link_to',
  'bridge_intent',
  'bridge_on_answer',
  'media_encryption',
  'privacy',
];

const DEFAULT_RING_SECS = 30;
const DEFAULT_LIMIT_SECS = 14_400;
/** The catalog of errors names less than the reference of the command. */
const SAFE_LIMIT_SECS = 14_000;

/** The number that is called. Behind a comma the carrier takes digits to play: nobody wants those from outside. */
function readCallee(body: CommandBody): string {
  const list = body.fields.to;
  const single = Array.isArray(list) && list.length === 1 ? { ...body.fields, to: list[0] } : body.fields;
  const text = new CommandBody(single, 'dial', (sentence) => body.violate(sentence)).requiredText('to');
  const [number = '', ...digits] = text.split(',');
  if (digits.length > 0) body.violate('digits behind the called number');
  if (!isAddress(number)) {
    const detail = 'dial: to is neither a number in E.164 form nor a SIP address';
    throw new ApiFault(422, 10015, { detail, pointer: '/to' });
  }
  return number;
}

function readCaller(body: CommandBody, { phoneNumbers }: Switchboard): string {
  const from = body.address('from');
  if (phoneNumbers.length > 0 && !phoneNumbers.includes(from)) {
    const detail = 'dial: from is not a number of the account';
    throw new ApiFault(422, 10015, { detail, pointer: '/from' });
  }
  return from;
}

function checkConnection(body: CommandBody, { exchange }: Switchboard): void {
  if (body.requiredText('connection_id') === exchange.application.id) return;
  const detail = 'dial: connection_id is no application of the account';
  throw new ApiFault(422, 10015, { detail, pointer: '/connection_id' });
}

/** What the API says of a leg. */
export function legResource(leg: Leg) {
  return {
    record_type: 'call',
    call_control_id: leg.carrierCallId,
    call_leg_id: leg.callLegId,
    call_session_id: leg.callSessionId,
    client_state: leg.clientState,
    is_alive: !leg.isOver,
  };
}

/** Places a call. Returns its leg, which rings from now on. @throws ApiFault */
export function dial(switchboard: Switchboard, fields: JsonFields): Leg {
  const { exchange } = switchboard;
  const complaints: string[] = [];
  const body = new CommandBody(fields, 'dial', (sentence) => complaints.push(sentence));
  let leg: Leg | undefined;
  try {
    body.allowOnly(FIELDS);
    checkConnection(body, switchboard);
    const limitSecs = body.integer('time_limit_secs', { min: 60, max: DEFAULT_LIMIT_SECS });
    if (limitSecs !== undefined && limitSecs > SAFE_LIMIT_SECS) body.violate('time_limit_secs over 14000');
    const settings = {
      direction: 'outbound' as const,
      from: readCaller(body, switchboard),
      to: readCallee(body),
      clientState: body.state('client_state'),
      webhookUrl: body.webUrl('webhook_url'),
      timeLimitMs: (limitSecs ?? DEFAULT_LIMIT_SECS) * 1000,
    };
    const timeoutMs = (body.integer('timeout_secs', { min: 5, max: 600 }) ?? DEFAULT_RING_SECS) * 1000;
    const retryOnTimeout = body.boolean('retry_on_timeout');
    const mode = body.oneOf('answering_machine_detection', DETECTION_MODES) ?? 'disabled';
    const record = body.oneOf('record', ['record-from-answer']);
    const stream = readStreamRequest(body);
    leg = new Leg(exchange, settings);
    leg.isRecorded = record !== undefined;
    startRinging(leg, { switchboard, timeoutMs, retryOnTimeout, stream, mode });
    return leg;
  } finally {
    for (const sentence of complaints) {
      if (leg !== undefined) leg.violate(sentence);
      else switchboard.violations.add(sentence);
    }
  }
}

function startRinging(
  leg: Leg,
  call: {
    switchboard: Switchboard;
    timeoutMs: number;
    retryOnTimeout: boolean | undefined;
    stream: StreamRequest | undefined;
    mode: (typeof DETECTION_MODES)[number];
  },
): void {
  const { switchboard, timeoutMs, retryOnTimeout, stream } = call;
  const { exchange } = switchboard;
  switchboard.add(leg);
  void leg.initiate();
  leg.wantedStream = stream;
  if (stream !== undefined && exchange.earlySocket) leg.streams.start(stream);
  const called = switchboard.calleeAt(leg.to);
  ring(leg, called, {
    timeoutMs,
    retryOnTimeout,
    onAnswered: () => detectMachine(leg, called.callee, { mode: call.mode, how: exchange.machineDetection }),
  });
}
