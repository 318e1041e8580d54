// HTTP headers that an application adds to the requests to its MCP server.
import { ConfigError } from '../../../base/errors.js';

/** HTTP headers by their names. */
export type McpHeaders = Readonly<Record<string, string>>;

/** Those that the protocol, or the connection, has the say in. */
const RESERVED: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-length',
  'content-type',
  'host',
  'last-event-id',
  'mcp-protocol-version',
  'mcp-session-id',
  'transfer-encoding',
  'upgrade',
]);

/** Source: RFC 9110, sections 5.1 and 5.5. */
const NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** A copy of usable headers. No value is shown: it may be a key. `option` is what they were given as. @throws ConfigError */
export function checkHeaders(headers: unknown, option: string): McpHeaders {
  const isPlain = typeof headers === 'object' && headers !== null && !Array.isArray(headers);
  if (!isPlain) throw new ConfigError('CONFIG_INVALID', `${option} of mcp() must be an object of strings.`);
  for (const [name, value] of Object.entries(headers)) {
    const shown = JSON.stringify(name.slice(0, 64));
    if (RESERVED.has(name.toLowerCase()))
      throw new ConfigError(
        'CONFIG_INVALID',
        `${option} of mcp() must not contain ${shown}, which the protocol sets.`,
      );
    if (typeof value !== 'string' || !NAME.test(name) || !VALUE.test(value))
      throw new ConfigError('CONFIG_INVALID', `${option} of mcp() has a ${shown} that is no HTTP header.`);
  }
  return Object.freeze({ ...headers } as Record<string, string>);
}
