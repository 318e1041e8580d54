// The URL of a tool, with placeholders for arguments: what a model can fill in, and which hosts it can reach that way.
import { ConfigError } from '../../base/errors.js';
import type { JsonObject } from '../../providers/language-model.js';
import { ToolError } from './tool.js';

const PLACE = /\{([\w-]+)\}/g;

/** Scheme, authority and the rest: places are allowed in the last two, but not in a user name or a port. */
const PARTS = /^(https?:\/\/)([^/?#]*)(.*)$/is;

/** Longest text that is put into an address, in characters. */
const MAX_VALUE_CHARS = 500;

export interface FilledUrl {
  readonly url: URL;
  /** The model has had a say in whom this reaches: only public addresses may be. */
  readonly isForeign: boolean;
}

export class ToolUrl {
  readonly #scheme: string;
  readonly #host: string;
  readonly #rest: string;

  /** `known`: names of the tool's arguments. @throws ConfigError */
  constructor(template: string, options: { readonly tool: string; readonly known: readonly string[] }) {
    const { tool, known } = options;
    const [, scheme = '', host = '', rest = ''] = PARTS.exec(template) ?? [];
    this.#scheme = scheme;
    this.#host = host;
    this.#rest = rest;
    const sample = template.replace(PLACE, 'x');
    if (scheme === '' || !URL.canParse(sample))
      throw new ConfigError(
        'CONFIG_INVALID',
        `The url of the tool ${tool} must begin with http:// or https://.`,
      );
    if (isBefore('@', '{', host) || isBefore('{', '@', host) || isBefore(':', '{', host))
      throw new ConfigError(
        'CONFIG_INVALID',
        `The url of the tool ${tool} may have {...} in its host, path and query, but not in a user name or a port.`,
      );
    const stranger = placesOf(template).find((name) => !known.includes(name));
    if (stranger !== undefined)
      throw new ConfigError(
        'CONFIG_INVALID',
        `The url of the tool ${tool} contains {${stranger}}, which is not one of its parameters.`,
      );
  }

  /** @throws ToolError where an argument is missing or has no place in an address. */
  fill(args: unknown): FilledUrl {
    const host = this.#host.replace(PLACE, (_, name: string) => hostPartOf(name, argumentOf(name, args)));
    const rest = this.#rest.replace(PLACE, (_, name: string) => pathPartOf(name, argumentOf(name, args)));
    const text = this.#scheme + host + rest;
    if (!URL.canParse(text)) throw new ToolError('The arguments do not form a valid address.', 'arguments');
    return { url: new URL(text), isForeign: placesOf(this.#host).length > 0 };
  }
}

function placesOf(template: string): string[] {
  return Array.from(template.matchAll(PLACE), ([, name = '']) => name);
}

function argumentOf(name: string, args: unknown): string {
  const value = (args as JsonObject | null)?.[name];
  const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  if (typeof text === 'string' && text !== '' && text.length <= MAX_VALUE_CHARS) return text;
  throw new ToolError(
    `${name} must be a string of at most ${MAX_VALUE_CHARS} characters, or a number.`,
    'arguments',
  );
}

function hostPartOf(name: string, value: string): string {
  if (/^[a-z0-9.-]+$/i.test(value)) return value;
  throw new ToolError(`${name} must be a host name.`, 'arguments');
}

/** Stays one segment: whatever the value, the path does not go up or down by it. */
function pathPartOf(name: string, value: string): string {
  if (value === '.' || value === '..') throw new ToolError(`${name} must not be ${value}`, 'arguments');
  try {
    return encodeURIComponent(value);
  } catch {
    throw new ToolError(`${name} is not well-formed text.`, 'arguments');
  }
}

function isBefore(first: string, second: string, text: string): boolean {
  const at = text.indexOf(first);
  return at !== -1 && text.indexOf(second, at) !== -1;
}
