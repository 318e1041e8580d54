// What comes of the service, as far as it counts: each thing once where that can be told, and what is said behind an interruption only
// when it is clear whose turn it is of. The rest of the old turn comes with its end; a new one goes on.
import { bytesPerMs, PCM_24K } from '../../../audio/format.js';
import type { Clock, Timer } from '../../../base/clock.js';
import { SeenIds } from '../../wire/seen-ids.js';
import type { ServerPiece } from './messages.js';

export interface GeminiLiveInboxOptions {
  readonly clock: Clock;
  /** What was said behind the interruption is of a new turn, and follows. */
  readonly newTurn: () => void;
  readonly take: (piece: ServerPiece) => void;
}

type Said = Extract<ServerPiece, { type: 'audio' | 'text' | 'tool-calls' }>;

/** The service tells the end of a turn that it has stopped at once. Where that is missing, what came so long is new. */
const LATE_MS = 400;

/** The rest of a turn that was stopped is shorter than this. */
const LONGEST_REST_MS = 1000;

/** One call's. */
export class GeminiLiveInbox {
  readonly #options: GeminiLiveInboxOptions;
  readonly #calls = new SeenIds();
  #lastUsage = '';
  /** Said behind an interruption; undefined while there was none whose turn is open. */
  #held: Said[] | undefined;
  #timer: Timer | undefined;

  constructor(options: GeminiLiveInboxOptions) {
    this.#options = options;
  }

  receive(piece: ServerPiece): void {
    switch (piece.type) {
      case 'audio':
      case 'text':
        this.#say(piece);
        return;
      case 'tool-calls': {
        const calls = piece.calls.filter(({ id }) => this.#calls.add(id));
        if (calls.length > 0) this.#say({ ...piece, calls });
        return;
      }
      case 'calls-cancelled':
        this.#cancel(piece.ids);
        break;
      case 'usage': {
        const text = JSON.stringify(piece.usage);
        if (text === this.#lastUsage) return;
        this.#lastUsage = text;
        break;
      }
      case 'generation-complete':
        // The service tells this of a turn that it has not stopped, and of no other.
        if (this.#held?.some(({ type }) => type !== 'text')) this.#begin();
        break;
      case 'turn-complete':
        if (this.#heldMs > LONGEST_REST_MS) this.#begin();
        this.#forget();
        break;
      default:
    }
    this.#options.take(piece);
  }

  /** The turn was stopped by the other side. */
  stopped(): void {
    if (this.#held !== undefined) return;
    this.#held = [];
    this.#timer = this.#options.clock.after(LATE_MS, () => this.#begin());
  }

  /** Another connection knows none of it. */
  reset(): void {
    this.#forget();
    this.#calls.clear();
    this.#lastUsage = '';
  }

  /** Idempotent. */
  close(): void {
    this.#forget();
  }

  get #heldMs(): number {
    const bytes = (this.#held ?? []).map((said) => (said.type === 'audio' ? said.audio.length : 0));
    return bytes.reduce((sum, each) => sum + each, 0) / bytesPerMs(PCM_24K);
  }

  #say(said: Said): void {
    // What is used is told anew behind it, also where it is as much as before.
    this.#lastUsage = '';
    if (this.#held === undefined) this.#options.take(said);
    else this.#held.push(said);
  }

  #cancel(ids: readonly string[]): void {
    this.#held = this.#held?.map((said) =>
      said.type === 'tool-calls'
        ? { ...said, calls: said.calls.filter(({ id }) => !ids.includes(id)) }
        : said,
    );
  }

  #begin(): void {
    const held = this.#held ?? [];
    this.#forget();
    this.#options.newTurn();
    for (const said of held) this.#options.take(said);
  }

  #forget(): void {
    this.#timer?.cancel();
    this.#held = undefined;
  }
}
