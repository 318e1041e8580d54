// What a webhook says, as names and values, whichever way the carrier sent it.
import { RequestError } from '../../base/errors.js';
import type { WebhookRequest } from '../carrier.js';
import { decodeForm, isForm, queryOf } from './form.js';

/** Parameters by name; of a repeated one, the first. */
export type Parameters = Pick<URLSearchParams, 'get' | typeof Symbol.iterator>;

/** The parameters of a GET (its query), of a form, or of a JSON object. @throws RequestError for anything else. */
export function readParameters(request: WebhookRequest): Parameters {
  if (request.method === 'GET') return decodeForm(queryOf(request.target));
  const contentType = request.headers['content-type'] ?? '';
  if (isForm(contentType)) return decodeForm(request.rawBody);
  if (isJson(contentType)) return decodeJson(request.rawBody);
  throw new RequestError('REQUEST_INVALID', 'The webhook is neither form data nor JSON.');
}

function isJson(contentType: string): boolean {
  return /^application\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType.trim());
}

/** Numbers and truth values are read as the form would spell them. What else is nested in the object is passed over. */
function decodeJson(body: Uint8Array): Parameters {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(parseObject(body))) {
    if (typeof value === 'string') parameters.append(name, value);
    if (typeof value === 'number' || typeof value === 'boolean') parameters.append(name, String(value));
  }
  return parameters;
}

function parseObject(body: Uint8Array): object {
  const value = parseJson(Buffer.from(body).toString('utf8'));
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new RequestError('REQUEST_INVALID', 'The webhook is not a JSON object.');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new RequestError('REQUEST_INVALID', 'The webhook is not valid JSON.', { cause });
  }
}
