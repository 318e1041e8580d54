// The options of `mcp(...)`: what they mean, and what is refused. Documented here and nowhere else.
import { basename } from 'node:path';
import { ConfigError } from '../../../base/errors.js';
import { checkNames, checkNumber, checkText, requireObject } from '../../../base/option-checks.js';
import type { CallContext } from '../../../contract/call-context.js';
import { checkHeaders, type McpHeaders } from './headers.js';
import { nameOfScript } from './script-name.js';

/** Options of `mcp(...)`: either `url` or `command`. */
export interface McpOptions {
  /** What logs and errors call the server: 1 to 64 letters, digits, `.`, `_` and `-`. @default the host of `url`, or the file name of `command`; of an interpreter such as `node` or `npx`, the name of the script, module or package that it runs */
  name?: string | undefined;
  /** Address of a server on Streamable HTTP, http or https. Redirects to another origin are refused. */
  url?: string | undefined;
  /** HTTP headers of each request, such as `Authorization`. A function gets the call and its variables, and each call then has a session of its own; else all calls share one. Only with `url`. @default {} */
  headers?: McpHeaders | ((call: CallContext) => McpHeaders | Promise<McpHeaders>) | undefined;
  /** HTTP headers while the tools are listed at start. Only where `headers` is a function, which needs a call. @default {} */
  startHeaders?: McpHeaders | undefined;
  /** Program that is the server and talks on its standard input and output, such as `node`. All calls share one process. */
  command?: string | undefined;
  /** Arguments of `command`. @default [] */
  args?: readonly string[] | undefined;
  /** Working directory of `command`. @default that of this process */
  cwd?: string | undefined;
  /** The whole environment of `command`: nothing is inherited, `PATH` included. @default {} */
  env?: Readonly<Record<string, string>> | undefined;
  /** Names of the tools that the model may use; all others are left out. A name that the server does not have is refused at start. @default all that the server lists at start, at most 100 */
  allow?: readonly string[] | undefined;
  /** Put before the name of each tool, for servers whose tools have the same names: 1 to 32 letters, digits, `_` and `-`. @default '' */
  prefix?: string | undefined;
  /** Longest time that each call of a tool may take, in seconds, 0.1-120. @default 10 */
  timeoutSeconds?: number | undefined;
  /** Longest time that connecting and listing the tools may take at start, and connecting anew later, in milliseconds, 100-120000. @default 10000 */
  startTimeoutMs?: number | undefined;
}

const KNOWN: Readonly<Record<keyof McpOptions, true>> = {
  name: true,
  url: true,
  headers: true,
  startHeaders: true,
  command: true,
  args: true,
  cwd: true,
  env: true,
  allow: true,
  prefix: true,
  timeoutSeconds: true,
  startTimeoutMs: true,
};

const WHERE = 'mcp()';
const HTTP_ONLY = ['headers', 'startHeaders'] as const;
const STDIO_ONLY = ['args', 'cwd', 'env'] as const;

export interface McpHttpServer {
  readonly type: 'http';
  readonly url: URL;
  /** A function makes a session for each call. */
  readonly headers: McpHeaders | ((call: CallContext) => unknown);
  /** Those of the session that the tools are listed in. */
  readonly startHeaders: McpHeaders;
}

export interface McpProgram {
  readonly type: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
}

export interface CheckedMcpOptions {
  readonly name: string;
  readonly server: McpHttpServer | McpProgram;
  /** Undefined for whatever is listed at start. */
  readonly allow: readonly string[] | undefined;
  readonly prefix: string;
  readonly timeoutMs: number;
  readonly startTimeoutMs: number;
}

/** @throws ConfigError */
export function checkMcpOptions(options: McpOptions): CheckedMcpOptions {
  requireObject(options, WHERE, "{ url: 'https://shop.example.com/mcp' }");
  checkNames(options, Object.keys(KNOWN), WHERE);
  const server = checkServer(options);
  const seconds = { min: 0.1, max: 120, fallback: 10 };
  const startMs = { min: 100, max: 120_000, fallback: 10_000 };
  return {
    name: checkName(options.name) ?? nameOf(server),
    server,
    allow: checkAllow(options.allow),
    prefix: checkPrefix(options.prefix),
    timeoutMs: checkNumber(`timeoutSeconds of ${WHERE}`, options.timeoutSeconds, seconds) * 1000,
    startTimeoutMs: checkNumber(`startTimeoutMs of ${WHERE}`, options.startTimeoutMs, startMs),
  };
}

function checkServer(options: McpOptions): McpHttpServer | McpProgram {
  const url = checkText(`url of ${WHERE}`, options.url);
  const command = checkText(`command of ${WHERE}`, options.command);
  if (url !== undefined && command !== undefined)
    throw new ConfigError('CONFIG_CONFLICT', `${WHERE} takes url or command: one, not both.`);
  if (url === undefined && command === undefined)
    throw new ConfigError(
      'CONFIG_MISSING',
      `${WHERE} needs url, the address of a server, or command, a program that is one.`,
    );
  const [other, foreign] = url === undefined ? ['url', HTTP_ONLY] : ['command', STDIO_ONLY];
  const stray = foreign.find((name) => options[name] !== undefined);
  if (stray !== undefined)
    throw new ConfigError('CONFIG_CONFLICT', `${stray} of ${WHERE} goes with ${other} only.`);
  return url === undefined ? checkProgram(String(command), options) : checkHttp(url, options);
}

function checkHttp(text: string, { headers = {}, startHeaders }: McpOptions): McpHttpServer {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new ConfigError('CONFIG_INVALID', `url of ${WHERE} must begin with http:// or https://.`);
  if (url.username !== '' || url.password !== '')
    throw new ConfigError('CONFIG_INVALID', `url of ${WHERE} must not contain a password: use headers.`);
  if (typeof headers === 'function')
    return { type: 'http', url, headers, startHeaders: checkHeaders(startHeaders ?? {}, 'startHeaders') };
  if (startHeaders !== undefined)
    throw new ConfigError(
      'CONFIG_CONFLICT',
      `startHeaders of ${WHERE} goes with a function in headers only: headers are sent at start, too.`,
    );
  const checked = checkHeaders(headers, 'headers');
  return { type: 'http', url, headers: checked, startHeaders: checked };
}

function checkProgram(command: string, { args = [], cwd, env = {} }: McpOptions): McpProgram {
  if (!Array.isArray(args) || !args.every(isArgument))
    throw new ConfigError('CONFIG_INVALID', `args of ${WHERE} must be a list of strings.`);
  const isPlain = typeof env === 'object' && env !== null && !Array.isArray(env);
  const wrong = isPlain
    ? Object.entries(env).find(([name, value]) => !isArgument(value) || !/^[^=\0]+$/.test(name))
    : ['', ''];
  // Its value may be a key.
  if (wrong !== undefined)
    throw new ConfigError(
      'CONFIG_INVALID',
      `env of ${WHERE} must be an object of strings${isPlain ? `, which the entry ${JSON.stringify(wrong[0])} is not` : ''}.`,
    );
  const folder = checkText(`cwd of ${WHERE}`, cwd);
  return {
    type: 'stdio',
    command,
    args: Object.freeze([...args]),
    cwd: folder,
    env: Object.freeze({ ...env }),
  };
}

function isArgument(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0');
}

function checkAllow(allow: unknown): readonly string[] | undefined {
  if (allow === undefined) return undefined;
  const isUsable = (name: unknown) => typeof name === 'string' && name !== '' && name.length <= 128;
  if (!Array.isArray(allow) || allow.length === 0 || !allow.every(isUsable))
    throw new ConfigError(
      'CONFIG_INVALID',
      `allow of ${WHERE} must be a list of one or more names of tools.`,
    );
  return Object.freeze([...new Set<string>(allow)]);
}

function checkPrefix(prefix: unknown): string {
  if (prefix === undefined) return '';
  if (typeof prefix === 'string' && /^[\w-]{1,32}$/.test(prefix)) return prefix;
  throw new ConfigError('CONFIG_INVALID', `prefix of ${WHERE} must be 1 to 32 letters, digits, _ and -.`);
}

function checkName(name: unknown): string | undefined {
  if (name === undefined || (typeof name === 'string' && /^[\w.-]{1,64}$/.test(name))) return name;
  throw new ConfigError('CONFIG_INVALID', `name of ${WHERE} must be 1 to 64 letters, digits, ., _ and -.`);
}

/** Neither paths nor arguments, but the one that says what an interpreter runs: there may be keys in them. */
function nameOf(server: McpHttpServer | McpProgram): string {
  if (server.type === 'http') return server.url.host;
  return nameOfScript(server.command, server.args) ?? basename(server.command);
}
