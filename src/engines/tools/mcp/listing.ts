// From the tools that an MCP server lists to those that the model is offered: only what is allowed, under usable names, and of bounded size.
import { ConfigError } from '../../../base/errors.js';
import type { Logger } from '../../../base/log.js';
import type { JsonObject, ToolDefinition } from '../../../providers/language-model.js';
import { MAX_TOOLS } from '../agent-tool.js';
import { isObject, MAX_DEPTH } from '../json-schema-check.js';
import type { CheckedMcpOptions } from './options.js';
import { toPlainLine, toPlainText } from './plain-text.js';
import type { ListedTool, McpSession } from './session.js';

/** A server that has more, or never comes to an end, makes no sense. */
const MAX_LISTED = 1000;
const MAX_PAGES = 100;

/** As the services of language models take them. */
const MAX_NAME_CHARS = 64;
const MAX_DESCRIPTION_CHARS = 1024;

/** Longest schema of one tool, and of all that are offered, in characters of JSON: they go with every request to the model. */
const MAX_SCHEMA_CHARS = 16_384;
const MAX_SCHEMAS_CHARS = 131_072;

/** Names that are shown in an error. */
const MAX_SHOWN = 20;

/** A tool under the name that the model calls it by. */
export interface OfferedTool {
  readonly definition: ToolDefinition;
  readonly listed: ListedTool;
}

/** All that the server has. @throws McpFailure, ToolError, ConfigError */
export async function listTools(
  session: McpSession,
  name: string,
  signal: AbortSignal,
): Promise<ListedTool[]> {
  const listed: ListedTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { tools, next } = await session.list(cursor, signal);
    listed.push(...tools);
    if (listed.length > MAX_LISTED) break;
    if (next === undefined) return listed;
    cursor = next;
  }
  throw new ConfigError('CONFIG_INVALID', `The MCP server ${name} lists more than ${MAX_LISTED} tools.`);
}

/** @throws ConfigError for a tool that is allowed by name and is not there, or cannot be offered */
export function toOffered(
  listed: readonly ListedTool[],
  { name: server, allow, prefix }: CheckedMcpOptions,
  logger: Logger,
): readonly OfferedTool[] {
  const missing = allow?.find((name) => !listed.some((tool) => tool.name === name));
  if (missing !== undefined)
    throw new ConfigError(
      'CONFIG_INVALID',
      `allow of mcp() names ${shown(missing)}, which the MCP server ${server} does not have. It has: ${listOf(listed)}.`,
    );
  const offered: OfferedTool[] = [];
  for (const tool of listed) {
    if (allow !== undefined && !allow.includes(tool.name)) continue;
    const made = toDefinition(tool, prefix);
    if ('definition' in made) {
      offered.push({ definition: made.definition, listed: tool });
    } else if (allow === undefined) {
      const fields = { server, tool: shown(tool.name), why: made.complaint };
      logger.warn(fields, 'a tool of an MCP server is left out');
    } else {
      throw new ConfigError(
        'CONFIG_INVALID',
        `The tool ${shown(tool.name)} of the MCP server ${server} cannot be used: ${made.complaint}.`,
      );
    }
  }
  checkWhole(offered, server);
  return offered;
}

function checkWhole(offered: readonly OfferedTool[], server: string): void {
  const names = offered.map(({ definition }) => definition.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new ConfigError('CONFIG_CONFLICT', `The MCP server ${server} has two tools named ${twice}.`);
  if (offered.length > MAX_TOOLS)
    throw new ConfigError(
      'CONFIG_INVALID',
      `The MCP server ${server} lists ${offered.length} tools, more than ${MAX_TOOLS}: name those that the agent needs in allow.`,
    );
  const chars = offered.reduce((sum, { definition }) => sum + JSON.stringify(definition).length, 0);
  if (chars > MAX_SCHEMAS_CHARS)
    throw new ConfigError(
      'CONFIG_INVALID',
      `The tools of the MCP server ${server} are described in ${chars} characters, more than ${MAX_SCHEMAS_CHARS}: name those that the agent needs in allow.`,
    );
}

function toDefinition(
  { name: own, title, description, inputSchema }: ListedTool,
  prefix: string,
): { definition: ToolDefinition } | { complaint: string } {
  // The services of language models take neither dots nor slashes.
  const name = prefix + own.replaceAll(/[./]/g, '_');
  if (!/^[\w-]+$/.test(name))
    return { complaint: 'its name has other characters than letters, digits, _, -, . and /' };
  if (name.length > MAX_NAME_CHARS)
    return { complaint: `its name is longer than ${MAX_NAME_CHARS} characters` };
  const parameters = toParameters(inputSchema);
  if (typeof parameters === 'string') return { complaint: parameters };
  const text = toPlainText(description ?? title ?? '', MAX_DESCRIPTION_CHARS).trim();
  return { definition: { name, description: text === '' ? name : text, parameters } };
}

/** What the model is told of the arguments. The server checks them: words that we do not enforce are not ours to refuse. */
function toParameters({ $schema: _, ...schema }: Readonly<Record<string, unknown>>): JsonObject | string {
  if (schema.type !== 'object') return 'its arguments are no object';
  if (isDeeper(schema, MAX_DEPTH)) return `its schema is nested deeper than ${MAX_DEPTH} levels`;
  const json = JSON.stringify(schema);
  if (json.length > MAX_SCHEMA_CHARS) return `its schema is longer than ${MAX_SCHEMA_CHARS} characters`;
  return JSON.parse(json) as JsonObject;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (!isObject(value) && !Array.isArray(value)) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}

function shown(name: string): string {
  return JSON.stringify(toPlainLine(name, MAX_NAME_CHARS));
}

function listOf(listed: readonly ListedTool[]): string {
  if (listed.length === 0) return 'none';
  const names = listed.slice(0, MAX_SHOWN).map(({ name }) => shown(name));
  return listed.length > MAX_SHOWN
    ? `${names.join(', ')}, and ${listed.length - MAX_SHOWN} more`
    : names.join(', ');
}
