// Where the calls go beside the own dashboard: nowhere, to the one of the same user, or to one that is named. Documented at `ServeOptions`.
import { readEnv } from '../base/env.js';
import { ConfigError } from '../base/errors.js';
import { checkText } from '../base/option-checks.js';
import { isLoopbackHost } from '../dashboard/host-name.js';
import { checkToken } from './token.js';

/** A dashboard that was named, `automatic` for the one of the same user, `off` for none. */
export type DashboardFeed =
  | { readonly kind: 'off' | 'automatic' }
  | { readonly kind: 'named'; readonly url: URL; readonly token: string };

const URL_VARIABLE = 'OFFHOOK_DASHBOARD_URL';
const TOKEN_VARIABLE = 'OFFHOOK_DASHBOARD_TOKEN';

/** @throws ConfigError */
export function checkDashboardFeed(options: {
  dashboardUrl?: string | false | undefined;
  dashboardIngestToken?: string | undefined;
}): DashboardFeed {
  const ownToken = checkToken('dashboardIngestToken', options.dashboardIngestToken);
  if (options.dashboardUrl === false) {
    if (ownToken === undefined) return { kind: 'off' };
    throw new ConfigError(
      'CONFIG_CONFLICT',
      'dashboardIngestToken and dashboardUrl: false exclude each other: remove one of them.',
    );
  }
  const own = checkText('dashboardUrl', options.dashboardUrl);
  const address = own ?? readEnv(URL_VARIABLE);
  if (address === undefined) {
    if (ownToken === undefined) return { kind: 'automatic' };
    throw new ConfigError(
      'CONFIG_MISSING',
      `dashboardIngestToken needs dashboardUrl (or ${URL_VARIABLE}): a dashboard on this machine's socket needs no token.`,
    );
  }
  const url = checkUrl(own === undefined ? URL_VARIABLE : 'dashboardUrl', address);
  const token = ownToken ?? checkToken(TOKEN_VARIABLE, readEnv(TOKEN_VARIABLE));
  if (token === undefined) {
    throw new ConfigError(
      'CONFIG_MISSING',
      `dashboardUrl needs the token of that dashboard: set dashboardIngestToken or ${TOKEN_VARIABLE}.`,
    );
  }
  return { kind: 'named', url, token };
}

function checkUrl(name: string, address: string): URL {
  const example = 'an address like https://calls.example.com, of `offhook dashboard`';
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new ConfigError('CONFIG_INVALID', `${name} must be ${example}.`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new ConfigError(
      'CONFIG_INVALID',
      `${name} must be ${example}, without user, query or fragment: set the token with dashboardIngestToken.`,
    );
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol === 'http:' && !isLoopbackHost(host)) {
    throw new ConfigError(
      'CONFIG_INVALID',
      `${name} must begin with https:// unless it is on this machine: it carries phone numbers and transcripts.`,
    );
  }
  return url;
}
