// Reads the fields of a command as strictly as the carrier does, and stricter: what it would pass over is a violation.
import { isE164 } from '../../base/e164.js';
import { ApiFault } from './api-fault.js';

export type JsonFields = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A number in the international form, or a SIP address. */
export function isAddress(value: string): boolean {
  return isE164(value) || /^sips?:[^\s@]+@[^\s@]+$/.test(value);
}

/** The body of one command. Every reader @throws ApiFault for a value that the carrier refuses. */
export class CommandBody {
  readonly fields: JsonFields;
  readonly #command: string;
  readonly #violate: (sentence: string) => void;

  /** `violate` is told what the carrier would pass over without a word. */
  constructor(fields: JsonFields, command: string, violate: (sentence: string) => void) {
    this.fields = fields;
    this.#command = command;
    this.#violate = violate;
  }

  /** Notes every field that the command does not have. */
  allowOnly(names: readonly string[]): void {
    for (const name of Object.keys(this.fields)) {
      if (!names.includes(name)) this.violate(`a field that the command does not have: ${name.slice(0, 60)}`);
    }
  }

  violate(sentence: string): void {
    this.#violate(`${this.#command}: ${sentence}`);
  }

  has(name: string): boolean {
    return this.fields[name] !== undefined && this.fields[name] !== null;
  }

  text(name: string): string | undefined {
    if (!this.has(name)) return undefined;
    const value = this.fields[name];
    if (typeof value !== 'string') throw this.#invalid(name, 'is not text');
    return value;
  }

  requiredText(name: string): string {
    const value = this.text(name);
    if (value === undefined || value === '') {
      const detail = `${this.#command}: ${name} is missing`;
      throw new ApiFault(422, 10004, { detail, pointer: `/${name}` });
    }
    return value;
  }

  /** A telephone number or a SIP address. */
  address(name: string): string {
    const value = this.requiredText(name);
    if (!isAddress(value)) throw this.#invalid(name, 'is neither a number in E.164 form nor a SIP address');
    return value;
  }

  oneOf<Value extends string>(name: string, values: readonly Value[]): Value | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const found = values.find((known) => known === value);
    if (found === undefined) throw this.#invalid(name, `is not one of ${values.join(', ')}`);
    return found;
  }

  integer(name: string, range: { min: number; max: number }): number | undefined {
    if (!this.has(name)) return undefined;
    const value = this.fields[name];
    if (typeof value !== 'number' || !Number.isInteger(value))
      throw this.#invalid(name, 'is no whole number');
    if (value < range.min || value > range.max) {
      throw this.#invalid(name, `is not from ${range.min} to ${range.max}`);
    }
    return value;
  }

  boolean(name: string): boolean | undefined {
    if (!this.has(name)) return undefined;
    const value = this.fields[name];
    if (typeof value !== 'boolean') throw this.#invalid(name, 'is neither true nor false');
    return value;
  }

  /** A client state, which is base64 of anything. */
  state(name: 'client_state' | 'target_leg_client_state'): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (Buffer.from(value, 'base64').toString('base64') !== value) {
      throw new ApiFault(422, 90017, {
        detail: `${this.#command}: ${name} is not base64`,
        pointer: `/${name}`,
      });
    }
    return value;
  }

  /** An http or https URL. */
  webUrl(name: string): string | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const isUrl = URL.canParse(value) && ['http:', 'https:'].includes(new URL(value).protocol);
    if (!isUrl) throw this.#invalid(name, 'is not an http or https URL');
    return value;
  }

  #invalid(name: string, what: string): ApiFault {
    return new ApiFault(422, 10015, { detail: `${this.#command}: ${name} ${what}`, pointer: `/${name}` });
  }
}
