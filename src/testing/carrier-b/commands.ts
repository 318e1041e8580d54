// The commands of a call leg: what each demands, and what it does.
import type { RestPurpose } from '../simulator.js';
import { ApiFault } from './api-fault.js';
import type { CommandBody } from './command-body.js';
import { ENDS } from './events.js';
import type { Leg } from './leg.js';
import { DETECTION_MODES } from './machine-detection.js';
import { readStreamRequest, STREAM_FIELDS } from './stream-request.js';
import type { Switchboard } from './switchboard.js';
import { startTransfer } from './transfer.js';

export interface Command {
  purpose: RestPurpose;
  /** Fields beside `client_state` and `command_id`. */
  fields: readonly string[];
  /** Carries it out. Returns what the answer says beside `ok`. @throws ApiFault */
  run(leg: Leg, body: CommandBody, switchboard: Switchboard): object;
}

const DIGITS = /^[0-9A-D*#wW]+$/;
const DEFAULT_RING_SECS = 30;
const MAX_SPEECH_CHARACTERS = 3000;

function demandAnswered(leg: Leg, name: string): void {
  if (!leg.isAnswered) throw new ApiFault(422, 90034, { detail: `${name}: the call is not answered yet` });
}

const answer: Command = {
  purpose: 'answer',
  fields: [
    ...STREAM_FIELDS.answer,
    // Not in the vendor's types, and sent all the same in practice.
    'stream_bidirectional_sampling_rate',
    'webhook_url',
    'webhook_url_method',
    'preferred_codecs',
    'custom_headers',
    'transcription',
    'record',
    'record_channels',
    'record_format',
  ],
  run(leg, body) {
    if (leg.direction === 'outbound') {
      throw new ApiFault(422, 90102, { detail: 'answer: the leg is an outbound one' });
    }
    if (leg.isAnswered) throw new ApiFault(422, 10015, { detail: 'answer: the call is answered already' });
    leg.wantedStream = readStreamRequest(body);
    leg.webhookUrl = body.webUrl('webhook_url') ?? leg.webhookUrl;
    leg.isRecorded = body.oneOf('record', ['record-from-answer']) !== undefined;
    leg.answer();
    return {};
  },
};

const reject: Command = {
  purpose: 'reject',
  fields: ['cause'],
  run(leg, body) {
    body.requiredText('cause');
    const cause = body.oneOf('cause', ['CALL_REJECTED', 'USER_BUSY']);
    if (leg.direction === 'outbound') {
      throw new ApiFault(422, 90102, { detail: 'reject: the leg is an outbound one' });
    }
    if (leg.isAnswered) throw new ApiFault(422, 10015, { detail: 'reject: the call is answered already' });
    leg.rejectedAs = cause === 'USER_BUSY' ? 'busy' : 'rejected';
    leg.end({ ...(cause === 'USER_BUSY' ? ENDS.busy : ENDS.rejected), by: 'agent', how: 'hang-up' });
    return {};
  },
};

const hangup: Command = {
  purpose: 'hang-up',
  fields: ['custom_headers'],
  run(leg) {
    const inbound = leg.direction === 'inbound';
    // Which side the carrier names after a command is not documented: here it is the one that the server stands for.
    const answered = inbound ? ENDS.calleeGone : ENDS.callerGone;
    const unanswered = inbound ? ENDS.rejected : ENDS.cancelled;
    leg.end({ ...(leg.isAnswered ? answered : unanswered), by: 'agent', how: 'hang-up' });
    return {};
  },
};

const startStream: Command = {
  purpose: 'start-stream',
  fields: STREAM_FIELDS.streaming_start,
  run(leg, body, { exchange }) {
    demandAnswered(leg, 'streaming_start');
    body.requiredText('stream_url');
    const request = readStreamRequest(body);
    if (leg.streams.isActive && exchange.secondStream === 'refused') {
      throw new ApiFault(422, 90045, { detail: 'streaming_start: there is a stream', isViolation: false });
    }
    if (request !== undefined) leg.streams.start(request);
    return {};
  },
};

const stopStream: Command = {
  purpose: 'stop-stream',
  fields: ['stream_id'],
  run(leg, body) {
    const streamId = body.text('stream_id');
    const current = leg.streams.current;
    if (!leg.streams.isActive) {
      throw new ApiFault(422, 90048, { detail: 'streaming_stop: there is no stream', isViolation: false });
    }
    if (streamId !== undefined && current !== undefined && current.streamId !== streamId) {
      throw new ApiFault(422, 10015, { detail: 'streaming_stop: no such stream', pointer: '/stream_id' });
    }
    leg.streams.stop({ by: 'agent', how: leg.bridgedWith === undefined ? 'closed' : 'transfer' });
    return {};
  },
};

const transfer: Command = {
  purpose: 'transfer',
  fields: [
    'to',
    'from',
    'from_display_name',
    'timeout_secs',
    'time_limit_secs',
    'early_media',
    'audio_url',
    'mute_dtmf',
    'park_after_unbridge',
    'target_leg_client_state',
    'answering_machine_detection',
    'answering_machine_detection_config',
    'send_digits_on_answer',
    'sip_headers',
    'custom_headers',
    'webhook_url',
    'webhook_url_method',
  ],
  run(leg, body, switchboard) {
    demandAnswered(leg, 'transfer');
    if (leg.transferLeg !== undefined || leg.bridgedWith !== undefined) {
      throw new ApiFault(422, 10015, { detail: 'transfer: the call is being transferred already' });
    }
    const to = body.address('to');
    const from = body.has('from') ? body.address('from') : leg.to;
    const limitSecs = body.integer('time_limit_secs', { min: 60, max: 14_400 });
    const second = startTransfer(switchboard.exchange, leg, {
      settings: {
        from,
        to,
        clientState: body.state('target_leg_client_state'),
        webhookUrl: body.webUrl('webhook_url') ?? leg.webhookUrl,
        ...(limitSecs === undefined ? {} : { timeLimitMs: limitSecs * 1000 }),
      },
      callee: leg.transferTo ?? switchboard.calleeAt(to),
      timeoutMs: (body.integer('timeout_secs', { min: 5, max: 600 }) ?? DEFAULT_RING_SECS) * 1000,
      detection: body.oneOf('answering_machine_detection', DETECTION_MODES) ?? 'disabled',
    });
    switchboard.add(second);
    return {};
  },
};

const sendDigits: Command = {
  purpose: 'send-digits',
  fields: ['digits', 'duration_millis'],
  run(leg, body) {
    demandAnswered(leg, 'send_dtmf');
    const digits = body.requiredText('digits');
    if (!DIGITS.test(digits)) {
      throw new ApiFault(422, 90014, { detail: 'send_dtmf: digits that do not exist', pointer: '/digits' });
    }
    const duration = body.fields.duration_millis ?? 250;
    if (typeof duration !== 'number' || duration < 100 || duration > 500) {
      const detail = 'send_dtmf: duration_millis is not from 100 to 500';
      throw new ApiFault(422, 90027, { detail, pointer: '/duration_millis' });
    }
    leg.sentDigits.push(digits);
    return {};
  },
};

const speak: Command = {
  purpose: 'speak',
  fields: [
    'payload',
    'payload_type',
    'service_level',
    'stop',
    'voice',
    'voice_settings',
    'language',
    'loop',
    'target_legs',
  ],
  run(leg, body) {
    demandAnswered(leg, 'speak');
    const payload = body.requiredText('payload');
    if (payload.length > MAX_SPEECH_CHARACTERS) {
      throw new ApiFault(422, 10015, { detail: 'speak: more than 3000 characters', pointer: '/payload' });
    }
    body.requiredText('voice');
    const type = body.oneOf('payload_type', ['text', 'ssml']) ?? 'text';
    body.oneOf('service_level', ['basic', 'premium']);
    body.text('language');
    leg.voice.speak(type === 'ssml' ? payload.replace(/<[^<>]*>/g, '').trim() : payload);
    return {};
  },
};

const startRecording: Command = {
  purpose: 'record',
  fields: [
    'format',
    'channels',
    'play_beep',
    'max_length',
    'timeout_secs',
    'recording_track',
    'trim',
    'custom_file_name',
  ],
  run(leg, body) {
    body.requiredText('format');
    body.requiredText('channels');
    body.oneOf('format', ['wav', 'mp3']);
    body.oneOf('channels', ['single', 'dual']);
    demandAnswered(leg, 'record_start');
    leg.isRecorded = true;
    return {};
  },
};

/** By their names in the path. */
export const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ['answer', answer],
  ['reject', reject],
  ['hangup', hangup],
  ['streaming_start', startStream],
  ['streaming_stop', stopStream],
  ['transfer', transfer],
  ['send_dtmf', sendDigits],
  ['speak', speak],
  ['record_start', startRecording],
]);
