// The official client: an optional package, loaded when the first server with a cluster starts.
import { ConfigError } from '../../base/errors.js';

export type RedisPackage = typeof import('@redis/client');

export const REDIS_PACKAGE = '@redis/client';

/** @throws ConfigError when it is not installed */
export async function loadRedisPackage(
  importPackage: () => Promise<RedisPackage> = async () => await import('@redis/client'),
): Promise<RedisPackage> {
  try {
    return await importPackage();
  } catch (cause) {
    throw new ConfigError(
      'CONFIG_MISSING',
      `cluster needs the package ${REDIS_PACKAGE}: npm install ${REDIS_PACKAGE}`,
      { cause },
    );
  }
}
