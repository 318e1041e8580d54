// Payloads of the events of a leg, apart from the fields that all have.
import { toWireTime } from './ids.js';

export type CallEnd = {
  /** Of the vendor's open set: `normal_clearing`, `user_busy`, … */
  cause: string;
  source: 'caller' | 'callee' | 'unknown';
  /** SIP status in text, or `unspecified`. */
  sip: string;
};

export const ENDS = {
  callerGone: { cause: 'normal_clearing', source: 'caller', sip: '200' },
  calleeGone: { cause: 'normal_clearing', source: 'callee', sip: '200' },
  cancelled: { cause: 'originator_cancel', source: 'caller', sip: '487' },
  rejected: { cause: 'call_rejected', source: 'callee', sip: '603' },
  busy: { cause: 'user_busy', source: 'callee', sip: '486' },
  noAnswer: { cause: 'no_answer', source: 'callee', sip: '480' },
  ringTimeout: { cause: 'timeout', source: 'unknown', sip: '487' },
  notFound: { cause: 'not_found', source: 'unknown', sip: '404' },
  timeLimit: { cause: 'time_limit', source: 'unknown', sip: '200' },
  unspecified: { cause: 'unspecified', source: 'unknown', sip: 'unspecified' },
} as const satisfies Record<string, CallEnd>;

export function initiatedPayload(leg: { direction: 'inbound' | 'outbound'; startedAtMs: number }) {
  const incoming = leg.direction === 'inbound';
  return {
    direction: incoming ? 'incoming' : 'outgoing',
    state: incoming ? 'parked' : 'bridging',
    start_time: toWireTime(leg.startedAtMs),
    caller_id_name: 'SIMULATED',
    offered_codecs: 'PCMU,PCMA,G722',
    connection_codecs: 'PCMU,PCMA',
    shaken_stir_attestation: 'A',
    shaken_stir_validated: true,
    tags: [],
  };
}

export function hangupPayload(
  end: CallEnd,
  leg: { startedAtMs: number; endedAtMs: number; wasAnswered: boolean },
) {
  const quality = {
    inbound: {
      jitter_max_variance: '1.20',
      jitter_packet_count: '0',
      mos: '4.50',
      packet_count: '100',
      skip_packet_count: '0',
    },
    outbound: { packet_count: '100', skip_packet_count: '0' },
  };
  return {
    state: 'hangup',
    hangup_cause: end.cause,
    hangup_source: end.source,
    sip_hangup_cause: end.sip,
    start_time: toWireTime(leg.startedAtMs),
    end_time: toWireTime(leg.endedAtMs),
    call_quality_stats: leg.wasAnswered ? quality : null,
    tags: [],
  };
}

export function recordingPayload(leg: { startedAtMs: number; endedAtMs: number }, recordingId: string) {
  return {
    recording_id: recordingId,
    channels: 'dual',
    format: 'mp3',
    recording_started_at: toWireTime(leg.startedAtMs),
    recording_ended_at: toWireTime(leg.endedAtMs),
    recording_urls: { mp3: `https://recordings.example/${recordingId}.mp3` },
    public_recording_urls: {},
  };
}

/** Prices per minute, in US dollars. */
const CONTROL_RATE = 0.002;
const TRUNK_RATE = { inbound: 0.0035, outbound: 0.005 } as const;

/** What a leg costs; every begun minute counts. */
export function costPayload(leg: { direction: 'inbound' | 'outbound'; answeredMs: number }) {
  const minutes = Math.ceil(leg.answeredMs / 60_000);
  const part = (callPart: string, rate: number) => ({
    call_part: callPart,
    cost: (rate * minutes).toFixed(4),
    currency: 'USD',
    rate: rate.toFixed(4),
    billed_duration_secs: minutes * 60,
  });
  const trunk = TRUNK_RATE[leg.direction];
  return {
    status: 'success',
    total_cost: ((CONTROL_RATE + trunk) * minutes).toFixed(4),
    billed_duration_secs: minutes * 60,
    cost_parts: [part('call-control', CONTROL_RATE), part('sip-trunking', trunk)],
  };
}
