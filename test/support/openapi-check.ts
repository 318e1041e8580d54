// Holds what the server says against its own document.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { OPENAPI } from '../../src/dashboard/openapi.js';
import type { RawAnswer } from './dashboard-server.js';

/** Clients have to take fields that a later version adds, so the document allows them. This version sends none that it does not name. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, closed(member)]));
  const isShape = 'properties' in members && 'required' in members;
  return isShape ? { additionalProperties: false, ...members } : members;
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addSchema({ ...(closed(OPENAPI) as object), $id: 'api' });

/** Errors of a value against a schema of the document; none is an empty list. */
export function violations(schema: string, value: unknown): unknown {
  return errorsAt(`components/schemas/${schema}`, value);
}

/** Errors of an answer against what the document says of the path (as the document writes it) and method. */
export function violationsOf(path: string, method: string, answer: RawAnswer): unknown {
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  const operation = (OPENAPI.paths as Record<string, Record<string, { responses: object }>>)[path]?.[verb];
  if (operation === undefined) return [`${method} ${path} is not documented`];
  const responses = operation.responses as Record<string, { content: Record<string, unknown> }>;
  const response = responses[String(answer.status)];
  if (response === undefined) return [`${method} ${path}: ${answer.status} is not documented`];
  const [type = ''] = (answer.headers['content-type'] ?? '').split(';');
  if (!(type in response.content))
    return [`${method} ${path}: ${answer.status} as ${type} is not documented`];
  if (method === 'HEAD') return answer.text === '' ? [] : ['a body'];
  const value: unknown = type === 'application/json' ? JSON.parse(answer.text) : answer.text;
  const steps = ['paths', path, verb, 'responses', String(answer.status), 'content', type, 'schema'];
  return errorsAt(steps.map(escapeStep).join('/'), value);
}

/** Source: RFC 6901, sections 3 and 6. */
function escapeStep(step: string): string {
  return encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'));
}

function errorsAt(pointer: string, value: unknown): unknown {
  const validate = ajv.getSchema(`api#/${pointer}`);
  if (validate === undefined) throw new Error(`no schema ${pointer}`);
  return validate(value) ? [] : validate.errors;
}
