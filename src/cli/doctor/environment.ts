// Checks of what the environment says of the carriers.
import type { ShippedCarrier } from '../../carriers/carrier.js';
import { CARRIERS } from '../../carriers/index.js';
import { inspectSetting, type SettingState } from '../../carriers/setting.js';
import type { CheckResult } from './check.js';

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
        message: `No carrier is configured in the environment: set ${names.map((list) => list.join(', ')).join(', or ')}, name the file that has them with --settings, or give them in code.`,
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
