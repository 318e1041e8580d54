// Says in the log that webhooks are refused: loudly, because a wrong key loses every event, and seldom, because anyone can send them.
import type { Clock } from '../base/clock.js';
import { OffhookError } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import type { WebhookDoor } from '../carriers/carrier.js';

/** Pause between two lines about one door. */
const QUIET_MS = 60_000;

export class RefusalLog {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #doors = new Map<string, { quietUntil: number; unsaid: number }>();

  constructor(parts: { clock: Clock; logger: Logger }) {
    this.#clock = parts.clock;
    this.#logger = parts.logger;
  }

  /** `sinceLast` in the line counts what was refused since the one before, this one included. */
  note(door: WebhookDoor, error: unknown): void {
    const state = this.#doors.get(door.id) ?? { quietUntil: 0, unsaid: 0 };
    state.unsaid += 1;
    this.#doors.set(door.id, state);
    const now = this.#clock.now();
    if (now < state.quietUntil) return;
    this.#logger.error(
      {
        carrier: door.id,
        code: OffhookError.isInstance(error) ? error.code : 'INTERNAL',
        setting: door.secretSetting,
        sinceLast: state.unsaid,
      },
      'webhook refused: its signature is not right. With a wrong key or host every event is lost: `offhook doctor --request` shows what was signed',
    );
    this.#doors.set(door.id, { quietUntil: now + QUIET_MS, unsaid: 0 });
  }
}
