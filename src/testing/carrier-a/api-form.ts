// The parameters of one API request, read strictly: every value is checked, and what nobody asked for is remembered.
import { ApiFault, type FaultCode } from './api-fault.js';
import { readCallbackEvents } from './callback-events.js';
import type { Callback, EventCallback } from './markup-verbs.js';

/** A URL that the carrier would call. A host name with an underscore is refused. */
function isCallable(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return ['http:', 'https:'].includes(protocol) && !hostname.includes('_');
}

export class ApiForm {
  readonly #fields: URLSearchParams;
  readonly #known = new Set<string>();

  constructor(fields: URLSearchParams) {
    this.#fields = fields;
  }

  /** Names that nobody has asked for. */
  get unknown(): string[] {
    return [...new Set(this.#fields.keys())].filter((name) => !this.#known.has(name));
  }

  has(name: string): boolean {
    this.#known.add(name);
    return this.#fields.has(name);
  }

  /** The value; undefined when it is missing or empty. A second one is refused. */
  text(name: string): string | undefined {
    this.#known.add(name);
    const values = this.#fields.getAll(name);
    if (values.length > 1) throw new ApiFault(20001, `${name} is given twice`);
    return values[0] === '' ? undefined : values[0];
  }

  choice<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const text = this.text(name);
    const found = choices.find((choice) => choice === text);
    if (text !== undefined && found === undefined) throw new ApiFault(20001, name);
    return found;
  }

  flag(name: string): boolean {
    return this.choice(name, ['true', 'false']) === 'true';
  }

  number(name: string, range: { from: number; to: number }): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= range.from && value <= range.to)) throw new ApiFault(20001, name);
    return value;
  }

  /** A URL with its method. `code` refuses one that cannot be called. */
  callback(name: string, methodName: string, code: FaultCode): Callback | undefined {
    const url = this.text(name);
    const method = this.choice(methodName, ['GET', 'POST']) ?? 'POST';
    if (url === undefined) return undefined;
    if (!isCallable(url)) throw new ApiFault(code, name);
    return { url, method };
  }

  /** A callback that is asked for by `<name>`, `<name>Method` and any number of `<name>Event`. */
  eventCallback(
    name: 'StatusCallback' | 'RecordingStatusCallback',
    known: readonly string[],
  ): EventCallback | undefined {
    const callback = this.callback(name, `${name}Method`, 21_609);
    this.#known.add(`${name}Event`);
    const events = readCallbackEvents(this.#fields.getAll(`${name}Event`), known);
    if (events === undefined) throw new ApiFault(20001, `${name}Event`);
    return callback === undefined ? undefined : { ...callback, events };
  }
}
