// What an option check throws.
import { ConfigError } from '../../src/base/errors.js';

/** What `task` throws: code and message. */
export function refusal(task: () => unknown): { code: string; message: string } {
  try {
    task();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('was accepted');
}
