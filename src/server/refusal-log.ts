// Counts webhooks that are refused, and says so in the log: loudly, because a wrong key loses every event, and seldom, because anyone can send them.
import type { Clock } from '../base/clock.js';
import { OffhookError } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import type { Meters } from '../base/meters.js';
import type { WebhookDoor } from '../carriers/carrier.js';
import { Seldom } from './seldom.js';

const UNSIGNED =
  'webhook refused: it carries no signature. It is not the carrier’s, or a proxy takes its headers out: `offhook doctor --request` shows what came';
const WRONG =
  'webhook refused: its signature is not right. With a wrong key or host every event is lost: `offhook doctor --request` shows what was signed';

export class RefusalLog {
  readonly #logger: Logger;
  readonly #meters: Meters;
  readonly #seldom: Seldom;

  constructor(parts: { clock: Clock; logger: Logger; meters: Meters }) {
    this.#logger = parts.logger;
    this.#meters = parts.meters;
    this.#seldom = new Seldom(parts.clock);
  }

  /** `sinceLast` in the line counts what was refused for the same reason since the one before, this one included. */
  note(door: WebhookDoor, error: unknown): void {
    const code = OffhookError.isInstance(error) ? error.code : 'INTERNAL';
    this.#meters.webhookRefused(door.id, code);
    const sinceLast = this.#seldom.count(`${door.id} ${code}`);
    if (sinceLast === undefined) return;
    this.#logger.error(
      { carrier: door.id, code, setting: door.secretSetting, sinceLast },
      code === 'SIGNATURE_MISSING' ? UNSIGNED : WRONG,
    );
  }
}
