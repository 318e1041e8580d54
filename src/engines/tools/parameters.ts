// The arguments of a tool: what the model is told of them, and what is checked before the tool runs.
import { ConfigError } from '../../base/errors.js';
import type { JsonObject } from '../../providers/language-model.js';
import { complaintAbout, isObject } from './json-schema-check.js';
import { findUnenforced } from './json-schema-words.js';
import { describeLibrarySchema } from './library-schema.js';
import type { CheckedArguments, StandardSchema, Tool } from './tool.js';

export interface Parameters {
  readonly schema: JsonObject;
  check(args: JsonObject): CheckedArguments | Promise<CheckedArguments>;
}

/** Complaints of a library that the model is told, and how long they may be together. */
const MAX_ISSUES = 3;
const MAX_COMPLAINT_CHARS = 300;

/** @throws ConfigError for what is no schema of an object. */
export function toParameters({ name, parameters, jsonSchema }: Tool): Parameters {
  const given: unknown = parameters ?? jsonSchema ?? { type: 'object', properties: {} };
  if (!isStandardSchema(given)) {
    const schema = requireObjectSchema(name, given);
    const unenforced = findUnenforced(schema);
    if (unenforced !== undefined)
      throw new ConfigError('CONFIG_INVALID', `The parameters of the tool ${name} ${unenforced}.`);
    return { schema, check: (args) => toChecked(args, complaintAbout(args, schema)) };
  }
  const schema = requireObjectSchema(name, jsonSchema ?? describeLibrarySchema(name, given));
  return {
    schema,
    async check(args) {
      const outcome: unknown = await given['~standard'].validate(args);
      // ArkType's failures are a list that has `issues`.
      if (typeof outcome !== 'object' || outcome === null)
        return { complaint: 'the arguments could not be checked' };
      const { issues, value } = outcome as { issues?: unknown; value?: unknown };
      return issues === undefined ? { value } : { complaint: toComplaint(issues) };
    },
  };
}

function toChecked(value: unknown, complaint: string | undefined): CheckedArguments {
  return complaint === undefined ? { value } : { complaint };
}

/** A copy without what only a validator reads: it is sent with every request. */
function requireObjectSchema(name: string, schema: unknown): JsonObject {
  const { $schema: _, ...rest } = isObject(schema) ? schema : {};
  if (rest.type === 'object' && isJson(rest)) return structuredClone(rest);
  throw new ConfigError(
    'CONFIG_INVALID',
    schema === undefined
      ? `The parameters of the tool ${name} have no JSON Schema: pass it as jsonSchema.`
      : `The parameters of the tool ${name} must be a JSON Schema with type: 'object', or a schema of zod, Valibot or ArkType.`,
  );
}

function isJson(value: unknown): boolean {
  try {
    JSON.stringify(value);
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}

function toComplaint(issues: unknown): string {
  const texts = (Array.isArray(issues) ? issues : []).slice(0, MAX_ISSUES).map((issue: unknown) => {
    const { message, path } = isObject(issue) ? issue : {};
    const steps = (Array.isArray(path) ? path : []).map((step) => String(isObject(step) ? step.key : step));
    return [steps.join('.'), typeof message === 'string' ? message : 'is not right']
      .filter((text) => text !== '')
      .join(': ');
  });
  return texts.join('; ').slice(0, MAX_COMPLAINT_CHARS) || 'the arguments are not right';
}

/** A schema of a library may be an object or, as ArkType's are, a function. */
function isStandardSchema(value: unknown): value is StandardSchema {
  const isThing = (typeof value === 'object' && value !== null) || typeof value === 'function';
  if (!isThing) return false;
  const standard: unknown = Reflect.get(value, '~standard');
  return isObject(standard) && typeof standard.validate === 'function';
}
