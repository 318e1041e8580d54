// What providers tell of a trouble that was remedied, so that the record of the call has it. Part of the four contracts.
import type { ModelPrice } from '../contract/price.js';

/** Who is paid for what was used. */
export interface Payee {
  /** `vendor/model`. */
  readonly name: string;
  /** What it says that it charges. */
  readonly price?: ModelPrice | undefined;
}

export function toPayee({ name, price }: Payee): Payee {
  return { name, price };
}

/** A provider was in trouble and works again. */
export interface Recovery {
  /** Time that was lost by it, in milliseconds. */
  readonly gapMs: number;
  /** Code of the error. @default 'PROVIDER_FAILED' */
  readonly code?: string | undefined;
  /** `vendor/model`. @default the one that the call was with */
  readonly provider?: string | undefined;
}

/** In a chain of providers another one was asked in the place of one that failed. Names are `vendor/model`. */
export interface Replacement {
  readonly from: string;
  readonly to: string;
  /** Code of the error. */
  readonly code: string;
  /** Time that was lost before it was asked, in milliseconds. */
  readonly gapMs: number;
}
