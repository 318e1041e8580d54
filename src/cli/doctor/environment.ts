// Checks of this machine: Node, the transcoder, and what of the carriers stands in the environment.
import { createRequire } from 'node:module';
import { OffhookError } from '../../base/errors.js';
import type { ShippedCarrier } from '../../carriers/carrier.js';
import { CARRIERS } from '../../carriers/index.js';
import { inspectSetting, type SettingState } from '../../carriers/setting.js';
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

/** The carriers that have a setting in the environment. */
export function findCarriers(): [id: string, carrier: ShippedCarrier][] {
  return [...CARRIERS].filter(([, { settings }]) =>
    settings.some((setting) => inspectSetting(setting).variable !== undefined),
  );
}

/** One check per setting of the carriers that are in use: present, missing or malformed, never a value. */
export function checkCarriers(): CheckResult[] {
  const carriers = findCarriers();
  if (carriers.length === 0) {
    const names = [...CARRIERS.values()].map(({ settings }) => settings.map(({ variables: [name] }) => name));
    return [
      {
        name: 'carriers',
        status: 'warning',
        message: `No carrier is configured in the environment: set ${names.map((list) => list.join(', ')).join(', or ')}, unless the application gives them itself.`,
      },
    ];
  }
  return carriers.flatMap(([id, { settings }]) =>
    settings.map((setting) => toCheck(id, inspectSetting(setting))),
  );
}

function toCheck(id: string, { setting, variable, complaint }: SettingState): CheckResult {
  const name = `${id}.${setting.option}`;
  if (variable === undefined) {
    const message = `${id}: ${setting.option} is missing, which is needed for ${setting.neededFor}: set ${setting.variables[0]}.`;
    // What a server refuses to start without is more than a warning.
    const status = setting.neededFor === 'every call' ? 'failed' : 'warning';
    return { name, status, message, details: { state: 'missing' } };
  }
  if (complaint !== undefined) {
    const message = `${id}: ${setting.option} (${variable}) ${complaint}.`;
    return { name, status: 'failed', message, details: { state: 'malformed', variable } };
  }
  const message = `${id}: ${setting.option} (${variable})`;
  return { name, status: 'ok', message, details: { state: 'present', variable } };
}
