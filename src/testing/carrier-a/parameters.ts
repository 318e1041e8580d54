// The parameters that carrier A's webhooks carry.

/** Name and value in the order of the wire; a name may come more than once. */
export type Parameters = readonly (readonly [string, string])[];

/** The status words of the wire. */
export type WireStatus =
  | 'queued'
  | 'initiated'
  | 'ringing'
  | 'in-progress'
  | 'completed'
  | 'busy'
  | 'no-answer'
  | 'failed'
  | 'canceled';

/** Facts of a call that its webhooks carry. */
export interface CallFacts {
  readonly callSid: string;
  readonly accountSid: string;
  readonly parentCallSid: string | null;
  readonly direction: 'inbound' | 'outbound-api' | 'outbound-dial';
  readonly from: string;
  readonly to: string;
}

/** A date as webhooks and resources write it. Source: RFC 2822, in UTC. */
export function formatDate(epochMs: number): string {
  return new Date(epochMs).toUTCString().replace('GMT', '+0000');
}

/** What every webhook of a call begins with. */
export function baseParameters(call: CallFacts, status: WireStatus): Parameters {
  return [
    ['AccountSid', call.accountSid],
    ['ApiVersion', '2010-04-01'],
    ['CallSid', call.callSid],
    ['CallStatus', status],
    ['Called', call.to],
    ['Caller', call.from],
    ['Direction', call.direction],
    ['From', call.from],
    ['To', call.to],
    ...(call.parentCallSid === null ? [] : [['ParentCallSid', call.parentCallSid] as const]),
  ];
}

/** Parameters of a request for instructions. The geography is empty, as the carrier sends it for a number that it cannot place. */
export function voiceParameters(call: CallFacts, status: WireStatus): Parameters {
  const geography = ['City', 'State', 'Zip', 'Country'].flatMap((field) =>
    ['From', 'To', 'Caller', 'Called'].map((side) => [side + field, ''] as const),
  );
  const verified = call.direction === 'inbound' && call.from.startsWith('+');
  return [
    ...baseParameters(call, status),
    ...geography,
    ...(verified ? [['StirVerstat', 'TN-Validation-Passed-A'] as const] : []),
  ];
}

export interface StatusFacts {
  readonly status: WireStatus;
  /** Counts the reports of one call from 0. */
  readonly sequence: number;
  readonly at: number;
  /** Set with a final status. */
  readonly ended?: { readonly durationMs: number; readonly sipResponseCode: number };
}

/** Parameters of a status callback. */
export function statusParameters(call: CallFacts, facts: StatusFacts): Parameters {
  const { ended } = facts;
  const end: Parameters =
    ended === undefined
      ? []
      : [
          ['CallDuration', String(Math.ceil(ended.durationMs / 1000))],
          ['Duration', String(Math.ceil(ended.durationMs / 60_000))],
          ['SipResponseCode', String(ended.sipResponseCode)],
        ];
  return [
    ...baseParameters(call, facts.status),
    ...end,
    ['SequenceNumber', String(facts.sequence)],
    ['CallbackSource', 'call-progress-events'],
    ['Timestamp', formatDate(facts.at)],
  ];
}
