// The legs of one account, and who answers at which number.
import { CommandMemory } from './command-memory.js';
import type { Exchange } from './exchange.js';
import type { Leg } from './leg.js';
import type { PreparedCallee } from './prepared-callee.js';
import { ViolationList } from './violations.js';

export class Switchboard {
  readonly exchange: Exchange;
  readonly phoneNumbers: readonly string[];
  readonly legs: Leg[] = [];
  /** Violations that belong to no leg. */
  readonly violations = new ViolationList(() => 0);
  readonly dials: CommandMemory;
  readonly #callees: ReadonlyMap<string, PreparedCallee>;
  readonly #others: PreparedCallee;

  constructor(
    exchange: Exchange,
    account: {
      phoneNumbers: readonly string[];
      callees: ReadonlyMap<string, PreparedCallee>;
      /** Who answers at all other numbers. */
      others: PreparedCallee;
    },
  ) {
    this.exchange = exchange;
    this.phoneNumbers = account.phoneNumbers;
    this.#callees = account.callees;
    this.#others = account.others;
    this.dials = new CommandMemory(exchange.clock, (sentence) => this.violations.add(`dial: ${sentence}`));
  }

  add(leg: Leg): void {
    this.legs.push(leg);
  }

  find(callControlId: string): Leg | undefined {
    return this.legs.find(({ carrierCallId }) => carrierCallId === callControlId);
  }

  calleeAt(number: string): PreparedCallee {
    return this.#callees.get(number) ?? this.#others;
  }
}
