// What a broker must be. It is asked on each new connection: another one may have the place of the one before.
import { ConfigError } from '../../base/errors.js';

const OLDEST_VERSION = [6, 2] as const;

/** `hello`: what the broker answers to HELLO, in pairs. `isCluster`: it is a node of a Redis Cluster. @throws ConfigError for a broker that will never do */
export function demandBroker(hello: readonly string[]): { readonly isCluster: boolean } {
  const field = (name: string) =>
    hello[hello.findIndex((each, index) => index % 2 === 0 && each === name) + 1];
  const version = String(field('version'));
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldest, least] = OLDEST_VERSION;
  if (major < oldest || (major === oldest && minor < least))
    throw new ConfigError(
      'CONFIG_INVALID',
      `The broker is Redis ${version}: use Redis ${OLDEST_VERSION.join('.')} or later, or Valkey.`,
    );
  if (field('mode') === 'sentinel')
    throw new ConfigError(
      'CONFIG_INVALID',
      'The broker is a Redis Sentinel, which keeps nothing: name an address that leads to the Redis that it watches.',
    );
  return { isCluster: field('mode') === 'cluster' };
}
