// What a vendor does wrong, by name, in one shared list: the same for every vendor, but for its own words and those that its wire cannot have.
import type { Emulator } from '../../src/testing/index.js';

/** Something that a vendor says, where it matters as it stands at the moment. */
export type Words = object | string | ((emulator: Emulator) => object | string);

/** How a vendor is asked, and how it says what is wrong. */
export interface VendorManner {
  /**
   * Over a socket that lasts as long as the call, or by requests of their own: the answer to a request ends, it is not closed with a code,
   * and between two of them there is nothing to break.
   */
  readonly wire: 'socket' | 'requests';
  /** Codes of closes that mean something else with it than with everybody: another connection may be had, or none may. */
  readonly passingCloses?: readonly number[];
  readonly refusingCloses?: readonly number[];
  /**
   * How it says in mid-stream that something of its own is broken; that it is asked for too much; that it takes no more of this key. Those
   * are left out that it says by the status of a handshake or the code of a close alone.
   */
  readonly errors: { readonly broken: Words; readonly busy?: Words; readonly refused?: Words };
  /** Its messages have ids, by which it could mix calls up. */
  readonly hasIds: boolean;
  /** It says what was used, and so can fail to. */
  readonly tellsUsage: boolean;
}

export interface VendorTrouble {
  readonly name: string;
  /** Of the close of a socket. */
  readonly closeCode?: number;
  /** It is about new connections: it can begin before the first. */
  readonly isEarly: boolean;
  /** Not every vendor can have it. @default every one can */
  isPossible?(manner: VendorManner): boolean;
  /** `errors`: the vendor's words, for a trouble that is made of them. */
  begin(emulator: Emulator, errors?: VendorManner['errors']): void;
  /** It is over so long after its beginning. @default by itself, or never */
  readonly lastsMs?: number;
  end?(emulator: Emulator): void;
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

/** It restarts: nothing new is possible for a while. Who is asked by requests is not waited for so long. */
function down(lastsMs: number): VendorTrouble {
  return {
    ...refused(503),
    name: `down for ${lastsMs} ms`,
    isPossible: ({ wire }) => wire === 'socket',
    lastsMs,
    end: (emulator) => emulator.refuseNext({ times: 0 }),
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

/** The close of a socket. */
function closed(code: number): VendorTrouble {
  const isPossible = ({ wire }: VendorManner) => wire === 'socket';
  return { ...broken(`closed with ${code}`, code), closeCode: code, isPossible };
}

function errorEvent(name: string, kind: keyof VendorManner['errors']): VendorTrouble {
  return {
    name,
    isEarly: false,
    isPossible: ({ errors }) => errors[kind] !== undefined,
    begin(emulator, errors) {
      const words = errors?.[kind] ?? {};
      emulator.break({ send: typeof words === 'function' ? words(emulator) : words });
    },
  };
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

const PASSING_CLOSES = [1000, 1001, 1005, 1011, 1012, 1013];
/** What was sent cannot be taken, so that the same again would fail again. */
const REFUSING_CLOSES = [1002, 1003, 1007, 1008];

/** The connection goes, and mostly another one may be had. */
export const DROPS: readonly VendorTrouble[] = [
  broken('cut', 'reset'),
  ...PASSING_CLOSES.map(closed),
  // What a close is to a socket: the last bytes have come, and they are not the last of the answer.
  { ...broken('an answer that ends early', 1000), isPossible: ({ wire }) => wire === 'requests' },
  broken('frozen', 'freeze'),
  broken('too long a message', 'oversized'),
  refused(429, 1),
  refused(503, 1),
  down(2000),
  atHandshake('no handshake, once', 'ignoreNext', 1),
  atHandshake('reset at the handshake, once', 'resetNext', 1),
];

/** The same with every close that is left: those that refuse to go on, and those of the vendor's own, of which one that nobody knows. */
export function dropsOf({ passingCloses = [], refusingCloses = [] }: VendorManner): VendorTrouble[] {
  const own = new Set([4000, ...passingCloses, ...refusingCloses]);
  const others = [...own].filter((code) => ![...PASSING_CLOSES, ...REFUSING_CLOSES].includes(code));
  return [...DROPS, ...[...REFUSING_CLOSES, ...others].map(closed)];
}

/** By its close the vendor says that no other connection is to be had. */
export function isRefusingClose({ closeCode }: VendorTrouble, manner: VendorManner): boolean {
  const { passingCloses = [], refusingCloses = [] } = manner;
  if (closeCode === undefined || passingCloses.includes(closeCode)) return false;
  return [...REFUSING_CLOSES, ...refusingCloses].includes(closeCode);
}

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
  errorEvent('an error event', 'broken'),
  errorEvent('an error event of being busy', 'busy'),
  errorEvent('an error event of refusing', 'refused'),
  { ...mixed('ids of another call', { foreignIds: true }), isPossible: ({ hasIds }) => hasIds },
  { ...mixed('no usage', { withoutUsage: true }), isPossible: ({ tellsUsage }) => tellsUsage },
  mixed('slow', { delayMs: 700, jitterMs: 300 }),
  mixed('dripping', { segmentBytes: 400, segmentEveryMs: 20 }),
];
