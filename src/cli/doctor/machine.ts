// Checks of this machine: Node and the transcoder. Loads nothing that needs a transcoder, because there may be none that works.
import { createRequire } from 'node:module';
import { OffhookError } from '../../base/errors.js';
import type { TranscoderBackend } from '../../transcoder/backend.js';
import type { CheckResult } from './check.js';

const { engines } = createRequire(import.meta.url)('../../../package.json') as { engines: { node: string } };

export function checkNode(version: string = process.versions.node): CheckResult {
  const wanted = engines.node.replace('>=', '').split('.').map(Number);
  const found = version.split('.').map(Number);
  const differing = wanted.findIndex((part, index) => part !== found[index]);
  const isEnough = differing === -1 || (found[differing] ?? 0) > (wanted[differing] ?? 0);
  const message = isEnough ? `Node ${version}` : `Node ${version} is too old: install ${engines.node}.`;
  return { name: 'node', status: isEnough ? 'ok' : 'failed', message, details: { version } };
}

/** The backend, or undefined with a check that failed. */
export async function checkTranscoder(): Promise<{
  check: CheckResult;
  backend: TranscoderBackend | undefined;
}> {
  const name = 'transcoder';
  try {
    const { transcoder } = await import('../../transcoder/select.js');
    const details = { backend: transcoder.name };
    if (transcoder.name !== 'javascript') {
      const message = `transcoder backend: ${transcoder.name}`;
      return { check: { name, status: 'ok', message, details }, backend: transcoder };
    }
    const message = 'transcoder backend: javascript, which is slower than the others, with the same sound';
    return { check: { name, status: 'warning', message, details }, backend: transcoder };
  } catch (error) {
    const message = OffhookError.isInstance(error) ? error.message : 'No backend could be loaded.';
    return { check: { name, status: 'failed', message }, backend: undefined };
  }
}
