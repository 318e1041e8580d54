// What the caller is saying: the recognizer's pieces, told as transcript entries and gathered until a turn takes them.
import type { TranscriptEntry } from '../../../contract/call-record.js';
import { beginningOf, type LostBeginning, PieceGrowth, rejoined } from './piece-growth.js';
import { withoutRepeated } from './repeated-words.js';

export interface UserSpeechOptions {
  /** Tells an entry. */
  readonly tell: (entry: TranscriptEntry) => void;
  readonly wallNow: () => number;
  /** The clock's monotonic side. */
  readonly now: () => number;
  /** Turn that the entries belong to. */
  readonly turnIndex: () => number;
}

/** Nobody says more in one turn: a recognizer that goes on has lost its way. All that follows compares texts of this length. */
const MAX_TURN_CHARS = 20_000;

/** Text of the caller since the last turn was taken. */
export class UserSpeech {
  readonly #options: UserSpeechOptions;
  #finals: TranscriptEntry[] = [];
  #partial: TranscriptEntry | undefined;
  /** A piece that a turn took before the recognizer was done with it. */
  #owed: TranscriptEntry | undefined;
  /** Its text, until the recognizer says anything more. */
  #taken = '';
  /** What the recognizer begins its piece with, and a turn has taken. */
  #repeated = '';
  /** Words were taken back that will be recognized once more. */
  #isWithdrawn = false;
  /** Of the open piece, and of one that was taken back. */
  readonly #growth = new PieceGrowth();
  /** What of it will not come again. */
  #lost: LostBeginning | undefined;
  #count = 0;

  constructor(options: UserSpeechOptions) {
    this.#options = options;
  }

  /** All text so far, the open piece included. */
  get text(): string {
    return this.entries.map((entry) => entry.text).join(' ');
  }

  /** The pieces of that text, as they were told. */
  get entries(): readonly TranscriptEntry[] {
    return this.#partial === undefined ? this.#finals : [...this.#finals, this.#partial];
  }

  /** True when there is text and none of it will change any more. */
  get settled(): boolean {
    return this.#finals.length > 0 && this.#partial === undefined && !this.#isWithdrawn;
  }

  /** True when words were taken back, and have not come again. */
  get isWithdrawn(): boolean {
    return this.#isWithdrawn;
  }

  /** What the recognizer may still say belongs to new speech. */
  speechStarted(): void {
    this.#owed = undefined;
    if (this.#partial === undefined) this.#repeated = '';
  }

  partial(text: string): void {
    if (text.trim() === '') return;
    // It goes on with a piece that it was not done with.
    if (this.#taken !== '') this.#repeat();
    const said = this.#withLost(this.#newOf(text));
    if (said === '') return;
    this.#isWithdrawn = false;
    this.#growth.grew(said, this.#options.now());
    this.#partial = this.#entry(said, false);
    this.#options.tell(this.#partial);
  }

  /** Returns false when nothing was added: the text is empty, or is that of a piece which a turn has taken already. */
  final(text: string): boolean {
    // New speech has begun, and this is about what was before it.
    if (this.#owed === undefined && this.#taken !== '') this.#repeat();
    const heard = this.#newOf(text);
    const said = heard === '' ? this.#lostText : this.#withLost(heard);
    this.#repeated = '';
    this.#isWithdrawn = false;
    if (said === '') {
      this.#drop();
      this.#endPiece();
      return false;
    }
    const owed = this.#owed;
    this.#owed = undefined;
    if (owed !== undefined && this.#partial === undefined) {
      this.#options.tell({ ...owed, text: said });
      return false;
    }
    this.#add(said);
    return true;
  }

  /** The open piece is no more: its words will come again, as far as their sound is kept. */
  withdraw(): void {
    this.#isWithdrawn ||= this.#partial !== undefined;
    this.#repeat();
    this.heardAgain();
  }

  /** The sound of what was taken back is played again. */
  heardAgain(): void {
    if (!this.#isWithdrawn) return;
    this.#lost = this.#growth.lostAt(this.#options.now());
    const said = this.#lostText;
    if (said === '') this.#drop();
    else if (said !== this.#partial?.text) {
      this.#partial = this.#entry(said, false);
      this.#options.tell(this.#partial);
    }
  }

  /** The whole text, for turn `turnIndex`. An open piece counts as it is. */
  take(turnIndex: number): string {
    const open = this.#partial;
    this.#isWithdrawn = false;
    this.#endPiece();
    if (open !== undefined) {
      this.#add(open.text);
      this.#owed = { ...open, turnIndex, final: true };
      this.#taken = open.text;
    }
    const text = this.text;
    for (const entry of this.#finals)
      if (entry.turnIndex !== turnIndex) this.#options.tell({ ...entry, turnIndex });
    this.#finals = [];
    return text;
  }

  /** Forgets the text: it was no turn. Final pieces stay in the transcript, an open one goes. */
  dismiss(): void {
    this.#isWithdrawn = false;
    this.#drop();
    this.#endPiece();
    this.#finals = [];
  }

  #add(said: string): void {
    const entry = this.#entry(said, true);
    this.#finals.push(entry);
    this.#partial = undefined;
    this.#endPiece();
    // Last: who is told may store what there is.
    this.#options.tell(entry);
  }

  #endPiece(): void {
    this.#growth.clear();
    this.#lost = undefined;
  }

  get #lostText(): string {
    return this.#lost === undefined ? '' : beginningOf(this.#lost);
  }

  #withLost(said: string): string {
    return said === '' || this.#lost === undefined ? said : rejoined(this.#lost, said);
  }

  /** The piece that a turn took comes again, or goes on. */
  #repeat(): void {
    this.#owed = undefined;
    this.#repeated = `${this.#repeated} ${this.#taken}`.trim();
    this.#taken = '';
  }

  #newOf(text: string): string {
    this.#taken = '';
    const room = this.#finals.reduce((left, { text: said }) => left - said.length - 1, MAX_TURN_CHARS);
    return withoutRepeated(text.trim().slice(0, Math.max(0, room)), this.#repeated);
  }

  #drop(): void {
    const dropped = this.#partial;
    this.#partial = undefined;
    if (dropped !== undefined) this.#options.tell({ ...dropped, text: '', final: true });
  }

  #entry(text: string, final: boolean): TranscriptEntry {
    const open = this.#partial;
    if (open !== undefined) return { ...open, text, final };
    this.#count += 1;
    const { turnIndex, wallNow } = this.#options;
    return { id: `user-${this.#count}`, turnIndex: turnIndex(), role: 'user', text, at: wallNow(), final };
  }
}
