// Whether a file can be written: asked before the work that would fill it.
import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ConfigError } from '../base/errors.js';

/** The code of a failed file operation, for a sentence. */
export function fileErrorCode(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : 'unknown';
}

/** @throws ConfigError when the folder of `path` is not there, or not to be written into. */
export async function requireWritable(path: string): Promise<void> {
  try {
    await access(dirname(path), constants.W_OK);
  } catch (error) {
    throw new ConfigError('CONFIG_INVALID', `${path} cannot be written (${fileErrorCode(error)}).`);
  }
}
