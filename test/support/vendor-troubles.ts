// What a vendor does wrong, by name, in one shared list: the same for every vendor, but for the words of its own error events.
import type { Emulator } from '../../src/testing/index.js';

export interface VendorTrouble {
  readonly name: string;
  /** It is about new connections: it can begin before the first. */
  readonly isEarly: boolean;
  begin(emulator: Emulator, vendor: string): void;
}

/** So often as no call tries. */
const ALWAYS = 1000;

/** Nothing new is possible, and what there was is gone. */
function refused(status: number, times = ALWAYS): VendorTrouble {
  return {
    name: `${status} at the handshake${times === 1 ? ', once' : ''}`,
    isEarly: true,
    begin(emulator) {
      emulator.refuseNext({ status, times });
      emulator.break('reset');
    },
  };
}

function atHandshake(
  name: string,
  kind: 'ignoreNext' | 'resetNext',
  times: number,
  first: 'reset' | 'freeze' = 'reset',
): VendorTrouble {
  return {
    name,
    isEarly: true,
    begin(emulator) {
      emulator[kind](times);
      emulator.break(first);
    },
  };
}

function broken(name: string, trouble: Parameters<Emulator['break']>[0]): VendorTrouble {
  return { name, isEarly: false, begin: (emulator) => emulator.break(trouble) };
}

function mixed(name: string, troubles: Emulator['troubles']): VendorTrouble {
  return {
    name,
    isEarly: true,
    begin(emulator) {
      emulator.troubles = troubles;
    },
  };
}

/** How each vendor says that something of its own is broken. */
const ERROR_EVENTS: Readonly<Record<string, object | string>> = {
  deepgram: { type: 'Error', variant: 'INTERNAL', description: 'broken', message: 'broken' },
  assemblyai: { type: 'Error', error_code: 3005, error: 'Server error' },
  elevenlabs: { message: 'broken', error: 'internal_error', code: 1011 },
  cartesia: { type: 'error', status_code: 500, error_code: 'internal', message: 'broken', done: true },
  aura: { type: 'Error', err_code: 'INTERNAL', err_msg: 'broken' },
  speech: 'broken',
  chat: { error: { message: 'broken', type: 'server_error', code: null } },
  anthropic: 'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"broken"}}\n\n',
  transcription: { error: { message: 'broken', type: 'server_error', code: 'server_error' } },
  openai: { type: 'error', error: { type: 'server_error', code: 'server_error', message: 'broken' } },
  gemini: { error: { code: 500, message: 'broken', status: 'INTERNAL' } },
  agents: {
    type: 'error',
    error_event: { code: 1002, error_type: 'llm_error', message: 'broken' },
  },
};

/** The connection goes, and another one may be had. */
export const DROPS: readonly VendorTrouble[] = [
  broken('cut', 'reset'),
  ...[1000, 1001, 1005, 1011, 1012, 1013].map((code) => broken(`closed with ${code}`, code)),
  broken('frozen', 'freeze'),
  broken('too long a message', 'oversized'),
  refused(429, 1),
  refused(503, 1),
  atHandshake('no handshake, once', 'ignoreNext', 1),
  atHandshake('reset at the handshake, once', 'resetNext', 1),
];

/** Closes by which a vendor says that the same again would fail again. */
export const REFUSING_CLOSES: readonly VendorTrouble[] = [1002, 1003, 1007, 1008].map((code) =>
  broken(`closed with ${code}`, code),
);

/** A close by a code of the vendor's own. */
export const OWN_CLOSES: readonly VendorTrouble[] = [broken('closed with 4000', 4000)];

/** Nothing more can be had of the vendor. */
export const OUTAGES: readonly VendorTrouble[] = [
  refused(401),
  refused(429),
  refused(503),
  atHandshake('no handshake', 'ignoreNext', ALWAYS),
  atHandshake('reset at every handshake', 'resetNext', ALWAYS),
  atHandshake('frozen, and no handshake', 'ignoreNext', ALWAYS, 'freeze'),
];

/** What comes is not what should. */
export const NONSENSE: readonly VendorTrouble[] = [
  broken('garbage', 'garbage'),
  broken('binary garbage', 'binary-garbage'),
  {
    name: 'an error event',
    isEarly: false,
    begin: (emulator, vendor) => emulator.break({ send: ERROR_EVENTS[vendor] ?? {} }),
  },
  mixed('ids of another call', { foreignIds: true }),
  mixed('no usage', { withoutUsage: true }),
  mixed('slow', { delayMs: 700, jitterMs: 300 }),
  mixed('dripping', { segmentBytes: 400, segmentEveryMs: 20 }),
];
