// Answering-machine detection of one outbound call: records the verdict, silences the agent, leaves the message, hangs up.
import type { MachineVerdict } from '../../carriers/carrier.js';
import type { AmdResult } from '../../contract/call-record.js';
import { type CallEnding, NORMAL_CLOSE } from '../ending/call-ending.js';
import type { SessionContext } from '../session-context.js';
import type { CarrierAnnouncement } from '../ending/carrier-announcement.js';
import { type MachineAction, MachineDetection } from './machine-detection.js';

/** How long a machine's greeting is waited for. */
const GREETING_LIMIT_MS = 30_000;

const AGENT_LEAVES: CallEnding = { reason: 'agent-hangup', close: NORMAL_CLOSE };

export interface MachineEvents {
  /** Somebody or something has answered. */
  answered(options: { byPerson: boolean }): void;
  /** The agent is to be silent. */
  silence(): void;
}

export interface MachineWatchOptions {
  /** Undefined leaves none. */
  readonly message: string | undefined;
  readonly announcement: CarrierAnnouncement;
}

export class MachineWatch {
  readonly #context: SessionContext;
  readonly #options: MachineWatchOptions;
  readonly #events: MachineEvents;
  readonly #detection: MachineDetection;

  constructor(context: SessionContext, options: MachineWatchOptions, events: MachineEvents) {
    this.#context = context;
    this.#options = options;
    this.#events = events;
    this.#detection = new MachineDetection({ hasMessage: Boolean(options.message) });
  }

  get isMachine(): boolean {
    return this.#detection.isMachine;
  }

  heard(verdict: MachineVerdict): void {
    const { ledger } = this.#context;
    const { detected, action } = this.#detection.hear(verdict);
    if (detected !== undefined) {
      const amd = { answeredBy: detected, detectedAt: ledger.clock.wallNow() };
      ledger.publish({ type: 'amd.detected', amd });
      if (detected !== 'unknown') this.#events.answered({ byPerson: detected === 'human' });
    }
    this.#follow(action, verdict);
  }

  /** Another process has heard this verdict, and may not have done what follows from it. */
  restore(verdict: AmdResult['answeredBy']): void {
    this.#follow(this.#detection.hear(verdict).action, verdict);
  }

  #follow(action: MachineAction, verdict: MachineVerdict): void {
    const { timers } = this.#context;
    if (action === 'wait') {
      this.#events.silence();
      timers.set('machine', GREETING_LIMIT_MS, () => {
        if (this.#detection.giveUpWaiting() === 'leave-message') this.#leaveMessage();
      });
    }
    if (action === 'leave-message') this.#leaveMessage();
    if (action === 'hang-up') {
      // Nobody has been reached who could be talked to.
      const outcome = verdict === 'fax' ? 'failed' : undefined;
      this.#context.end({ ...AGENT_LEAVES, carrier: 'hang-up', outcome });
    }
  }

  #leaveMessage(): void {
    const { recipe, timers } = this.#context;
    timers.cancel('machine');
    this.#events.silence();
    const { announcement, message = '' } = this.#options;
    announcement.say({ text: message, language: recipe.language }, AGENT_LEAVES);
  }
}
