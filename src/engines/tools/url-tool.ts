// A tool that is an address of the operator's: the call of it is posted there, its answer is the result.
import type { Clock } from '../../base/clock.js';
import { ConfigError } from '../../base/errors.js';
import { EndpointError, OperatorEndpoint, readBody } from '../operator-endpoint.js';
import { type ToolContext, ToolError } from './tool.js';
import { MAX_RESULT_CHARS } from './tool-result.js';

/** A character has at most four bytes: what is read beyond this is cut off in any case. */
const MAX_BYTES = 4 * MAX_RESULT_CHARS;

/** A tool may do something in the world, which a second request must not do again: no connection is kept. */
const endpoint = new OperatorEndpoint({ keepAlive: false });

export interface UrlToolOptions {
  readonly name: string;
  readonly url: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** Posts `{ callId, caller, callee, name, arguments }`. The answer is JSON or text. @throws ToolError */
export function createUrlTool(
  options: UrlToolOptions,
): (args: unknown, context: ToolContext) => Promise<string> {
  const { name, timeoutMs, clock } = options;
  const url = toHttpUrl(name, options.url);
  return async (args, { callId, caller, callee, signal }) => {
    const body = JSON.stringify({ callId, caller, callee, name, arguments: args });
    try {
      const answer = await endpoint.post({
        url,
        body,
        accept: 'application/json, text/plain',
        signal,
        clock,
        timeoutMs,
      });
      const isReadable = /^(application\/([\w.-]+\+)?json|text\/plain|)$/.test(answer.mediaType);
      if (!isReadable) throw new EndpointError('gave neither JSON nor plain text');
      const text = await readBody(answer, { maxBytes: MAX_BYTES, cut: true });
      if (/json$/.test(answer.mediaType) && text.length <= MAX_RESULT_CHARS) requireJson(text);
      return text;
    } catch (error) {
      throw error instanceof EndpointError ? new ToolError(`The tool's address ${error.message}.`) : error;
    }
  };
}

function toHttpUrl(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url;
  throw new ConfigError('CONFIG_INVALID', `The url of the tool ${name} must begin with http:// or https://.`);
}

function requireJson(text: string): void {
  if (text.trim() === '') return;
  try {
    JSON.parse(text);
  } catch {
    throw new EndpointError('gave an answer that is no JSON');
  }
}
