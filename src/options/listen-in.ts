// The option `listenIn` of `phone.serve(...)`, and what it shares with `localRecording`: without a token, nobody else may reach the voices of callers.
import { ConfigError } from '../base/errors.js';
import { checkBoolean } from '../base/option-checks.js';
import { isLoopbackHost } from '../dashboard/host-name.js';

/** What decides who could hear calls. */
export interface Reach {
  readonly hasToken: boolean;
  /** Undefined on a server of the application's, which may listen anywhere. */
  readonly host: string | undefined;
  readonly isPublic: boolean;
}

/** @throws ConfigError */
export function checkListenIn(value: boolean | undefined, reach: Reach): boolean {
  const isOn = checkBoolean('listenIn', value, false);
  if (isOn) demandToken('listenIn', reach);
  return isOn;
}

/** Calls may be heard by who has the token, and on a server that nobody else reaches. @throws ConfigError */
export function demandToken(
  option: 'listenIn' | 'localRecording',
  { hasToken, host, isPublic }: Reach,
): void {
  if (hasToken || (host !== undefined && isLoopbackHost(host) && !isPublic)) return;
  throw new ConfigError(
    'CONFIG_MISSING',
    `${option} needs a dashboardToken: without one, anyone who reaches this server can hear its calls. Or listen on loopback only (host: '127.0.0.1') without webhookUrl and tunnel.`,
  );
}
