// Settings of a carrier that may come from the environment: where they are looked for, and what messages and checks may say of
// them. Never their values.
import { withoutTrailing } from '../base/trailing.js';
import { readEnv } from '../base/env.js';
import { ConfigError } from '../base/errors.js';

/** A setting, and the environment variables that stand in for it. */
export interface CarrierSetting {
  /** Name of the constructor's option. */
  readonly option: string;
  /** The first one that has a value counts. */
  readonly variables: readonly [string, ...string[]];
  /** What does not work without it. */
  readonly neededFor:
    | 'the REST API'
    | 'verifying webhooks'
    | 'the REST API and verifying webhooks'
    | 'every call'
    | 'outbound calls';
  /** What is wrong with a value, as the end of a sentence and without the value; undefined when it can be right. */
  complaint(value: string): string | undefined;
}

/** What the environment holds of a setting. */
export interface SettingState {
  readonly setting: CarrierSetting;
  /** The variable that counts; undefined when none is set. */
  readonly variable: string | undefined;
  readonly complaint: string | undefined;
}

export function inspectSetting(setting: CarrierSetting): SettingState {
  const { variable, value } = find(setting);
  return { setting, variable, complaint: value === undefined ? undefined : setting.complaint(value) };
}

/** The value that the environment has, right or wrong; undefined when there is none. */
export function readSetting(setting: CarrierSetting): string | undefined {
  return find(setting).value;
}

/** What the application gave or, when that is empty, what the environment has. @throws ConfigError for what cannot be right. */
export function takeSetting(setting: CarrierSetting, given: string | undefined): string | undefined {
  const value = trimmed(given) ?? readSetting(setting);
  const complaint = value === undefined ? undefined : setting.complaint(value);
  if (complaint === undefined) return value;
  throw new ConfigError('CONFIG_INVALID', `${settingName(setting)} ${complaint}.`);
}

/** How messages name a setting: its option, and the variable to set. */
export function settingName({ option, variables }: CarrierSetting): string {
  return `${option} (${variables[0]})`;
}

/** What is wrong with any secret that was copied carelessly. */
export function pastingComplaint(value: string): string | undefined {
  if (/\s/.test(value)) return 'has a blank or a line break in it';
  if (/^["'].*["']$/.test(value)) return 'has quotation marks around it';
  return /^[\x21-\x7e]*$/.test(value) ? undefined : 'has a character in it that no such text has';
}

/**
 * The origin of a REST API, and a path if there is one, without a slash at the end. @throws ConfigError for anything else, and for
 * credentials, which would end up in error messages of the HTTP client.
 */
export function checkBaseUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new ConfigError('CONFIG_INVALID', 'baseUrl must be an http or https URL without credentials.');
  }
  if (/[?#]/.test(value))
    throw new ConfigError('CONFIG_INVALID', 'baseUrl must not have a query or a fragment.');
  return withoutTrailing(value, '/');
}

function find({ variables }: CarrierSetting): { variable: string | undefined; value: string | undefined } {
  for (const variable of variables) {
    const value = trimmed(readEnv(variable));
    if (value !== undefined) return { variable, value };
  }
  return { variable: undefined, value: undefined };
}

/** Without the line break that files and clipboards leave behind a secret; undefined when nothing is left. */
function trimmed(value: string | undefined): string | undefined {
  return value?.trim() || undefined;
}
