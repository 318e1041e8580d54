// From a tool as the application writes it to one that can be run: everything that cannot work is refused here.
import { type Clock, systemClock } from '../../base/clock.js';
import { ConfigError } from '../../base/errors.js';
import { checkBoolean, checkNames, checkNumber, checkText, requireObject } from '../../base/option-checks.js';
import { BUILT_IN_NAMES } from './built-in-tools.js';
import { toParameters } from './parameters.js';
import type { AgentTool, Tool } from './tool.js';
import { ToolSource } from './tool-source.js';
import { createUrlTool, type UrlToolOptions } from './url-tool.js';

const NAMES: Readonly<Record<keyof Tool, true>> = {
  name: true,
  description: true,
  parameters: true,
  jsonSchema: true,
  execute: true,
  url: true,
  timeoutSeconds: true,
  idempotent: true,
};

/** Tools that a model is offered; more confuse it, and the services allow no more. */
export const MAX_TOOLS = 100;

/** Those that are known: the sources among `tools` are asked for theirs later. @throws ConfigError */
export function createAgentTools(tools: unknown, clock: Clock = systemClock): readonly AgentTool[] {
  if (tools === undefined) return [];
  if (!Array.isArray(tools) || tools.length > MAX_TOOLS)
    throw new ConfigError('CONFIG_INVALID', `tools must be a list of at most ${MAX_TOOLS} tools.`);
  const made = tools.flatMap((tool: Tool | ToolSource, index) =>
    tool instanceof ToolSource ? [] : [createAgentTool(tool, `tools[${index}]`, clock)],
  );
  const names = made.map(({ definition }) => definition.name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return made;
  throw new ConfigError('CONFIG_CONFLICT', `tools has two tools named ${twice}.`);
}

function createAgentTool(tool: Tool, place: string, clock: Clock): AgentTool {
  requireObject(tool, place, '{ name, description, execute }, or the result of mcp({ … })');
  const name = checkName(tool.name, place);
  const where = `The tool ${name}`;
  checkNames(tool, Object.keys(NAMES), where);
  const description = checkText(`The description of the tool ${name}`, tool.description);
  if (description === undefined) throw new ConfigError('CONFIG_MISSING', `${where} needs a description.`);
  const seconds = { min: 0.1, max: 120, fallback: 10 };
  const timeoutMs = checkNumber(`timeoutSeconds of the tool ${name}`, tool.timeoutSeconds, seconds) * 1000;
  const { schema, check } = toParameters(tool);
  return {
    definition: { name, description, parameters: schema },
    timeoutMs,
    isIdempotent: checkBoolean(`idempotent of the tool ${name}`, tool.idempotent, false),
    check,
    run: toRun(tool, { name, timeoutMs, clock, parameters: Object.keys(schema.properties ?? {}) }),
  };
}

function toRun(tool: Tool, options: Omit<UrlToolOptions, 'url'>): AgentTool['run'] {
  const { execute, url } = tool;
  const { name } = options;
  if ((execute === undefined) === (url === undefined))
    throw new ConfigError('CONFIG_CONFLICT', `The tool ${name} needs either execute or url.`);
  if (typeof url === 'string') return createUrlTool({ ...options, url });
  if (typeof execute !== 'function')
    throw new ConfigError(
      'CONFIG_INVALID',
      `The tool ${name} needs a function as execute, or an address as url.`,
    );
  // What a function checks of its arguments is the schema's; a library may even have made something else of them.
  return (args, context) => execute.call(tool, args as Parameters<typeof execute>[0], context);
}

function checkName(name: unknown, place: string): string {
  if (typeof name !== 'string' || !/^[\w-]{1,64}$/.test(name))
    throw new ConfigError(
      'CONFIG_INVALID',
      `The name of ${place} must be 1 to 64 letters, digits, _ and -.${name === undefined ? ' It has none. For the tools of an MCP server, write mcp({ … }).' : ''}`,
    );
  if (!BUILT_IN_NAMES.includes(name)) return name;
  throw new ConfigError(
    'CONFIG_CONFLICT',
    `tools has a tool named ${name}, which is built in: rename yours.`,
  );
}
