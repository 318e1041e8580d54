// Who answered an outbound call, and what follows from it: each thing once, in whatever order and however often it is told.
import type { MachineVerdict } from '../../carriers/carrier.js';
import type { AmdResult } from '../../contract/call-record.js';

/** `wait`: be silent until the machine's greeting is over. */
export type MachineAction = 'none' | 'wait' | 'leave-message' | 'hang-up';

export interface MachineNews {
  /** To be recorded; undefined when it is known already. */
  readonly detected: AmdResult['answeredBy'] | undefined;
  readonly action: MachineAction;
}

const NOTHING: MachineNews = { detected: undefined, action: 'none' };

/**
 * A verdict for a person stands: the agent is talking to somebody. One that was not sure may become a better one. A machine is
 * waited for, once, and only when there is something to leave on it.
 */
export class MachineDetection {
  readonly #hasMessage: boolean;
  #answeredBy: AmdResult['answeredBy'] | undefined;
  #acted = false;

  constructor(options: { hasMessage: boolean }) {
    this.#hasMessage = options.hasMessage;
  }

  get isMachine(): boolean {
    return this.#answeredBy === 'machine';
  }

  hear(verdict: MachineVerdict): MachineNews {
    if (this.#acted || this.#answeredBy === 'human') return NOTHING;
    const answeredBy = verdict === 'machine-ready' ? 'machine' : verdict;
    if (this.isMachine && answeredBy !== 'machine') return NOTHING;
    const detected = answeredBy === this.#answeredBy ? undefined : answeredBy;
    if (detected === undefined && verdict !== 'machine-ready') return NOTHING;
    this.#answeredBy = answeredBy;
    return { detected, action: this.#action(verdict) };
  }

  /** The machine's greeting has taken too long to be waited for. */
  giveUpWaiting(): MachineAction {
    return this.#acted ? 'none' : this.#action('machine-ready');
  }

  #action(verdict: MachineVerdict): MachineAction {
    if (verdict === 'human' || verdict === 'unknown') return 'none';
    if (verdict === 'machine' && this.#hasMessage) return 'wait';
    this.#acted = true;
    return verdict === 'machine-ready' && this.#hasMessage ? 'leave-message' : 'hang-up';
  }
}
