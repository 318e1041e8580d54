// Where a vendor is and with what key: from options, then from the environment, then the vendor's own address.
import { withoutTrailing } from '../../base/trailing.js';
import { readEnv, readFirstEnv } from '../../base/env.js';
import { ConfigError } from '../../base/errors.js';
import { checkText } from '../../base/option-checks.js';

/** Who is asked, as errors tell it. */
export interface VendorNames {
  /** As it stands in errors. */
  readonly vendor: string;
  /** Environment variables of the key, the first that is set counts. Empty where only the option `apiKey` does. */
  readonly keyVariables: readonly string[];
}

export interface AccessNames extends VendorNames {
  readonly baseUrlVariable: string;
  /** Undefined if there is none, as with the user's own server. */
  readonly defaultBaseUrl: string | undefined;
}

/**
 * The names under which the key for `baseUrl` is looked up. The key of one's account with the vendor is nothing for another server that
 * was named in the code: that one gets the option `apiKey` alone.
 */
export function namesAt(baseUrl: unknown, names: AccessNames): AccessNames {
  if (typeof baseUrl !== 'string' || !URL.canParse(baseUrl)) return names;
  const { defaultBaseUrl } = names;
  const isOwn =
    defaultBaseUrl !== undefined && new URL(defaultBaseUrl).hostname === new URL(baseUrl).hostname;
  return isOwn ? names : { ...names, keyVariables: [] };
}

/** The key, without blanks around it; undefined when there is none. @throws ConfigError for one that cannot be sent. */
export function resolveKey(option: unknown, names: AccessNames): string | undefined {
  const key = (checkText('apiKey', option) ?? readFirstEnv(names.keyVariables))?.trim();
  if (key === undefined || key === '') return undefined;
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new ConfigError('CONFIG_INVALID', `The API key of ${names.vendor} contains invalid characters.`);
}

/** @throws ConfigError that says what to set. */
export function requireKey(key: string | undefined, names: AccessNames): string {
  if (key !== undefined) return key;
  throw new ConfigError(
    'CONFIG_MISSING',
    `${names.vendor} needs a key: pass apiKey, or set ${names.keyVariables.join(' or ')}.`,
  );
}

/** Where to look when a vendor does not like the key: "check VENDOR_API_KEY, or the option apiKey". */
export function describeKeySources({ keyVariables }: VendorNames): string {
  const variables = keyVariables.length === 0 ? '' : `${keyVariables.join(' or ')}, or `;
  return `check ${variables}the option apiKey`;
}

/** @throws ConfigError if it is missing, or not an http, https, ws or wss URL. */
export function resolveBaseUrl(option: unknown, names: AccessNames): URL {
  const text = checkText('baseUrl', option) ?? readEnv(names.baseUrlVariable) ?? names.defaultBaseUrl;
  if (text === undefined)
    throw new ConfigError(
      'CONFIG_MISSING',
      `${names.vendor} needs an address: pass baseUrl, or set ${names.baseUrlVariable}.`,
    );
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^(https?|wss?):$/.test(url.protocol)) return url;
  throw new ConfigError(
    'CONFIG_INVALID',
    `The base URL of ${names.vendor} must begin with http, https, ws or wss.`,
  );
}

export type QueryValue = string | number | boolean | readonly string[];

/**
 * The address of `path` below a base URL, as a URL of `kind`. A path prefix and a query of the base URL are kept; what that query
 * sets already is not set again.
 */
export function endpoint(
  base: URL,
  path: string,
  options: { kind: 'http' | 'ws'; query?: Readonly<Record<string, QueryValue | undefined>> },
): URL {
  const url = new URL(base);
  const secure = url.protocol === 'https:' || url.protocol === 'wss:';
  // A URL object does not change from http to ws by its `protocol`.
  const scheme = `${options.kind}${secure ? 's' : ''}:`;
  const result = new URL(`${scheme}//${url.host}${withoutTrailing(url.pathname, '/')}${path}${url.search}`);
  result.username = url.username;
  result.password = url.password;
  for (const [name, value] of Object.entries(options.query ?? {})) {
    if (value === undefined || url.searchParams.has(name)) continue;
    for (const each of typeof value === 'object' ? value : [value])
      result.searchParams.append(name, `${each}`);
  }
  return result;
}
