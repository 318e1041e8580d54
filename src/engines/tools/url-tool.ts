// A tool that is an address of the operator's: the call of it is posted there, its answer is the result.
import type { Clock } from '../../base/clock.js';
import { EndpointError, OperatorEndpoint, readBody } from '../responder/operator-endpoint.js';
import { type ToolContext, ToolError } from './tool.js';
import { MAX_RESULT_CHARS } from './tool-result.js';
import { ToolUrl } from './tool-url.js';

/** A character has at most four bytes: what is read beyond this is cut off in any case. */
const MAX_BYTES = 4 * MAX_RESULT_CHARS;

/** A tool may do something in the world, which a second request must not do again: no connection is kept. */
const endpoint = new OperatorEndpoint({ keepAlive: false });

export interface UrlToolOptions {
  readonly name: string;
  readonly url: string;
  /** Names of the arguments, which the url may have as {name}. */
  readonly parameters: readonly string[];
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** Posts the context of the call and `{ idempotencyKey, name, arguments }`. The answer is JSON or text. @throws ToolError */
export function createUrlTool(
  options: UrlToolOptions,
): (args: unknown, context: ToolContext) => Promise<string> {
  const { name, timeoutMs, clock, parameters } = options;
  const address = new ToolUrl(options.url, { tool: name, known: parameters });
  return async (args, { signal, variables, ...context }) => {
    const { url, isForeign } = address.fill(args);
    // What an application knows of its caller is not for whom a model has chosen.
    const own = isForeign ? {} : { variables };
    const body = JSON.stringify({ ...context, ...own, name, arguments: args });
    try {
      const answer = await endpoint.post({
        url,
        publicOnly: isForeign,
        body,
        accept: 'application/json, text/plain',
        signal,
        clock,
        timeoutMs,
      });
      const isReadable = /^(application\/([\w.-]+\+)?json|text\/plain|)$/.test(answer.mediaType);
      if (!isReadable) {
        answer.discard();
        throw new EndpointError('answered with neither JSON nor plain text');
      }
      const text = await readBody(answer, { maxBytes: MAX_BYTES, cut: true });
      if (/json$/.test(answer.mediaType) && text.length <= MAX_RESULT_CHARS) requireJson(text);
      return text;
    } catch (error) {
      throw error instanceof EndpointError
        ? new ToolError(`The tool's address ${error.message}.`, 'http')
        : error;
    }
  };
}

function requireJson(text: string): void {
  if (text.trim() === '') return;
  try {
    JSON.parse(text);
  } catch {
    throw new EndpointError('did not answer with valid JSON');
  }
}
