// A file that the command line names.
import { readFile } from 'node:fs/promises';
import { fileErrorCode } from '../testing/writable.js';
import { UsageError } from './context.js';

/** @throws UsageError when it cannot be read. */
export async function readNamedFile(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new UsageError(`${path} cannot be read (${fileErrorCode(error)}).`);
  }
}
