// What the steps of a script must be: a script in JavaScript may hold anything. Knows their fields, not what they are for.
import { ConfigError } from '../base/errors.js';
import { checkBoolean, checkNames, checkNumber, checkText, requireObject } from '../base/option-checks.js';

const KEYS = /^[0-9A-D#*]+$/;
/** Longer than any carrier lets a call be. */
const MAX_MS = 24 * 3_600_000;
const MAX_MONOLOGUE_MS = 3_600_000;
const MAX_NOISE_MS = 60_000;

/** Checks a value that is set. `name` is for the message. */
type Check = (name: string, value: unknown) => void;

interface StepShape {
  readonly needed: Readonly<Record<string, Check>>;
  readonly optional: Readonly<Record<string, Check>>;
}

const ms: Check = (name, value) => {
  checkNumber(name, value, { min: 0, max: MAX_MS, fallback: 0 });
};
const rate: Check = (name, value) => {
  checkNumber(name, value, { min: 1, max: Number.MAX_SAFE_INTEGER, fallback: 0 });
};
const text: Check = (name, value) => {
  if (typeof value !== 'string') throw new ConfigError('CONFIG_INVALID', `${name} must be a string.`);
};
const samples: Check = (name, value) => {
  if (value instanceof Int16Array) return;
  throw new ConfigError('CONFIG_INVALID', `${name} must be an Int16Array: 16-bit PCM.`);
};
const keys: Check = (name, value) => {
  if (typeof value === 'string' && KEYS.test(value)) return;
  throw new ConfigError(
    'CONFIG_INVALID',
    `${name} must be keys: the digits 0-9, the letters A-D, "#" and "*".`,
  );
};
const level: Check = (name, value) => {
  checkNumber(name, value, { min: -60, max: 0, fallback: 0 });
};
const monologueMs: Check = (name, value) => {
  checkNumber(name, value, { min: 1, max: MAX_MONOLOGUE_MS, fallback: 0 });
};
const noiseMs: Check = (name, value) => {
  checkNumber(name, value, { min: 1, max: MAX_NOISE_MS, fallback: 0 });
};
const abortSignal: Check = (name, value) => {
  if (value instanceof AbortSignal) return;
  throw new ConfigError('CONFIG_INVALID', `${name} must be an AbortSignal.`);
};
const flag: Check = (name, value) => {
  checkBoolean(name, value, false);
};
const voice: Check = (name, value) => {
  checkText(name, value);
};
const keysWhileSpeaking: Check = (name, value) => {
  checkFields(requireObject(value as object, name), KEYS_WHILE_SPEAKING, name);
};

const KEYS_WHILE_SPEAKING: StepShape = { needed: { digits: keys }, optional: { afterMs: ms } };
const STEPS: Readonly<Record<string, StepShape>> = {
  say: { needed: { text }, optional: { voice, language: voice, press: keysWhileSpeaking } },
  monologue: { needed: { durationMs: monologueMs }, optional: { text, voice } },
  play: { needed: { samples, sampleRateHz: rate }, optional: { text, press: keysWhileSpeaking } },
  noise: { needed: { durationMs: noiseMs }, optional: { levelDbfs: level } },
  pause: { needed: { durationMs: ms }, optional: {} },
  'wait-for-agent': { needed: {}, optional: { quietMs: ms, timeoutMs: ms } },
  interrupt: { needed: { afterMs: ms }, optional: { timeoutMs: ms } },
  'wait-until': { needed: { signal: abortSignal }, optional: { timeoutMs: ms } },
  press: { needed: { digits: keys }, optional: {} },
  'hang-up': { needed: {}, optional: { abrupt: flag } },
};

/** @throws ConfigError that names the step, and what is wrong with it. */
export function checkScript(script: readonly object[]): void {
  if (!Array.isArray(script)) {
    throw new ConfigError(
      'CONFIG_INVALID',
      "A script must be a list of steps, like [{ type: 'say', text: 'Hello.' }].",
    );
  }
  for (const [index, step] of script.entries()) checkStep(step, `Step ${index + 1} of a script`);
}

function checkStep(step: object, where: string): void {
  const { type, ...values } = requireObject(step, where) as Record<string, unknown>;
  const shape = typeof type === 'string' && Object.hasOwn(STEPS, type) ? STEPS[type] : undefined;
  if (shape === undefined) {
    const types = Object.keys(STEPS).join(', ');
    throw new ConfigError('CONFIG_INVALID', `${where} must have one of these types: ${types}.`);
  }
  checkFields(values, shape, `${where} (${String(type)})`);
}

function checkFields(fields: object, shape: StepShape, named: string): void {
  const values = fields as Readonly<Record<string, unknown>>;
  const checks = { ...shape.needed, ...shape.optional };
  checkNames(values, Object.keys(checks), named);
  for (const [name, check] of Object.entries(checks)) {
    const value = values[name];
    if (value !== undefined) check(`${name} of ${named}`, value);
    else if (Object.hasOwn(shape.needed, name)) {
      throw new ConfigError('CONFIG_MISSING', `${named} needs ${name}.`);
    }
  }
}
