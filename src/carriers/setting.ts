// Settings of a carrier that may come from the environment: what messages and checks may say of them. Never their values.
import { readEnv } from '../base/env.js';

/** A setting, and the environment variables that stand in for it. */
export interface CarrierSetting {
  /** Name of the constructor's option. */
  readonly option: string;
  /** The first one that has a value counts. */
  readonly variables: readonly [string, ...string[]];
  /** What does not work without it. */
  readonly neededFor: 'the REST API' | 'verifying webhooks' | 'the REST API and verifying webhooks';
  /** What is wrong with a value, as the end of a sentence and without the value; undefined when it can be right. */
  complaint(value: string): string | undefined;
}

/** What the environment holds of a setting. */
export interface SettingState {
  readonly setting: CarrierSetting;
  /** The variable that counts; undefined when none is set. */
  readonly variable: string | undefined;
  readonly complaint: string | undefined;
}

export function inspectSetting(setting: CarrierSetting): SettingState {
  for (const variable of setting.variables) {
    const value = readEnv(variable);
    if (value !== undefined) return { setting, variable, complaint: setting.complaint(value) };
  }
  return { setting, variable: undefined, complaint: undefined };
}

/** What is wrong with any secret that was copied carelessly. */
export function pastingComplaint(value: string): string | undefined {
  if (/\s/.test(value)) return 'has a blank or a line break in it';
  return /^["'].*["']$/.test(value) ? 'has quotation marks around it' : undefined;
}
