// The option `localRecording` of `phone.serve(...)`: what it means, its defaults and ranges, and what is refused. Documented here and nowhere else.
import { ConfigError } from '../base/errors.js';
import { checkBoolean, checkNames, checkNumber, requireObject } from '../base/option-checks.js';
import { demandToken, type Reach } from './listen-in.js';
import { checkTextByLanguage, type TextByLanguage } from './text-by-language.js';

/** The option `localRecording` of `phone.serve(...)`: how calls are recorded on this machine. */
export interface LocalRecordingOptions {
  /** What callers are told before anything else, in the agent's voice, at most 300 characters: one text, or one per language, `{ en: 'This call is recorded.', de: 'Dieser Anruf wird aufgezeichnet.' }`. It stands before `firstMessage`, and neither can be interrupted then. @default nothing is said */
  announcement?: string | Readonly<Record<string, string>> | undefined;
  /** Pause the recording while the caller presses keys: from a second before each key to three behind it. @default true with `privacy: { keys: 'none' }`, else false */
  pauseForKeys?: boolean | undefined;
  /** Encrypts recordings, and what is written during calls: 32 bytes in base64, as `openssl rand -base64 32` makes them. Keep it: without it, no recording can be played. @default files are not encrypted */
  key?: string | undefined;
  /** Recordings whose call ended longer ago are deleted, in days, 0.01-36500. @default no limit */
  keepDays?: number | undefined;
  /** The oldest recordings are deleted while all of them together are larger, and one that is larger by itself is not kept, in bytes, 1000000 or more. @default no limit */
  maxBytes?: number | undefined;
}

export interface CheckedLocalRecording {
  readonly announcement: TextByLanguage | undefined;
  readonly pausesForKeys: boolean;
  readonly key: Uint8Array | undefined;
  readonly keepMs: number | undefined;
  readonly maxBytes: number | undefined;
}

/** What decides whether recordings may be made. */
export interface RecordingSurroundings {
  readonly dataDir: string | false;
  readonly hasStore: boolean;
  readonly reach: Reach;
  readonly keepsKeys: boolean;
}

const DAY_MS = 86_400_000;
const KEY_BYTES = 32;
const MAX_ANNOUNCEMENT_CHARS = 300;
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/;

/** Undefined where nothing is recorded. @throws ConfigError */
export function checkLocalRecording(
  value: boolean | LocalRecordingOptions | undefined,
  surroundings: RecordingSurroundings,
): CheckedLocalRecording | undefined {
  if (value === undefined || value === false) return undefined;
  if (typeof value !== 'boolean' && (typeof value !== 'object' || value === null))
    throw new ConfigError(
      'CONFIG_INVALID',
      'localRecording must be true or false, or an object such as { keepDays: 30 }.',
    );
  const options = value === true ? {} : requireObject(value, 'localRecording');
  checkNames(options, ['announcement', 'pauseForKeys', 'key', 'keepDays', 'maxBytes'], 'localRecording');
  const keepDays = checkNumber('localRecording.keepDays', options.keepDays, {
    min: 0.01,
    max: 36_500,
    fallback: undefined,
  });
  const checked = {
    announcement: checkTextByLanguage('localRecording.announcement', options.announcement, {
      maxChars: MAX_ANNOUNCEMENT_CHARS,
      example: "{ en: 'This call is recorded.' }",
    }),
    pausesForKeys: checkBoolean('localRecording.pauseForKeys', options.pauseForKeys, !surroundings.keepsKeys),
    key: 'key' in options ? checkKey(options.key) : undefined,
    keepMs: keepDays === undefined ? undefined : keepDays * DAY_MS,
    maxBytes: checkNumber('localRecording.maxBytes', options.maxBytes, {
      min: 1_000_000,
      max: Number.MAX_SAFE_INTEGER,
      whole: true,
      fallback: undefined,
    }),
  };
  refuseUnsafe(surroundings);
  return checked;
}

function refuseUnsafe({ dataDir, hasStore, reach }: RecordingSurroundings): void {
  if (hasStore)
    throw new ConfigError(
      'CONFIG_CONFLICT',
      'localRecording and store exclude each other: recordings are kept in dataDir, beside the records of their calls.',
    );
  if (dataDir === false)
    throw new ConfigError(
      'CONFIG_CONFLICT',
      'localRecording and dataDir: false exclude each other: recordings are kept in dataDir. Leave dataDir out, or name a folder.',
    );
  demandToken('localRecording', reach);
}

/** A variable that is not set must not read like no encryption. */
function checkKey(value: unknown): Uint8Array {
  const key = typeof value === 'string' && BASE64.test(value) ? Buffer.from(value, 'base64') : undefined;
  if (key?.length === KEY_BYTES) return key;
  throw new ConfigError(
    'CONFIG_INVALID',
    `localRecording.key ${value === undefined ? 'is undefined: it ' : ''}must be 32 bytes in base64. Make one with: openssl rand -base64 32`,
  );
}
