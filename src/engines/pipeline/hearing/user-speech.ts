// What the caller is saying: the recognizer's pieces as entries of the transcript. Those that no turn has taken are in the state of the
// conversation.
import type { TranscriptEntry } from '../../../contract/call-record.js';
import { beginningOf, type LostBeginning, PieceGrowth, rejoined } from './piece-growth.js';
import { withoutRepeated } from './repeated-words.js';

export interface UserSpeechOptions {
  /** Those that no turn has taken, in order: one that is not final is the last. */
  readonly entries: () => readonly TranscriptEntry[];
  /** Tells an entry, which is one of those, or (`isTaken`) was. Without a text it is none any more. */
  readonly tell: (entry: TranscriptEntry, options: { isTaken: boolean }) => void;
  readonly wallNow: () => number;
  /** The clock's monotonic side. */
  readonly now: () => number;
  /** Turn that the entries belong to. */
  readonly turnIndex: () => number;
  /** Stands behind their names. */
  readonly suffix: () => string;
}

/** Nobody says more in one turn: a recognizer that goes on has lost its way. All that follows compares texts of this length. */
const MAX_TURN_CHARS = 20_000;

/** Text of the caller since the last turn was taken. */
export class UserSpeech {
  readonly #options: UserSpeechOptions;
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
    return this.#options.entries();
  }

  /** True when there is text and none of it will change any more. */
  get settled(): boolean {
    return this.entries.length > 0 && this.#partial === undefined && !this.#isWithdrawn;
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
    this.#tell(this.#entry(said, false));
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
      this.#options.tell({ ...owed, text: said }, { isTaken: true });
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
    else if (said !== this.#partial?.text) this.#tell(this.#entry(said, false));
  }

  /** A turn has taken all of it. `unfinished`: the piece that was open, as it stands in the transcript now. */
  taken(unfinished: TranscriptEntry | null): void {
    this.dismiss();
    if (unfinished === null) return;
    this.#owed = unfinished;
    this.#taken = unfinished.text;
  }

  /** The text is no turn's any more. */
  dismiss(): void {
    this.#isWithdrawn = false;
    this.#endPiece();
  }

  #add(said: string): void {
    const entry = this.#entry(said, true);
    this.#endPiece();
    // Last: who is told may store what there is.
    this.#tell(entry);
  }

  get #partial(): TranscriptEntry | undefined {
    const last = this.entries.at(-1);
    return last?.final === false ? last : undefined;
  }

  #tell(entry: TranscriptEntry): void {
    this.#options.tell(entry, { isTaken: false });
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
    const finals = this.entries.filter(({ final }) => final);
    const room = finals.reduce((left, { text: said }) => left - said.length - 1, MAX_TURN_CHARS);
    return withoutRepeated(text.trim().slice(0, Math.max(0, room)), this.#repeated);
  }

  #drop(): void {
    const dropped = this.#partial;
    if (dropped !== undefined) this.#tell({ ...dropped, text: '', final: true });
  }

  #entry(text: string, final: boolean): TranscriptEntry {
    const open = this.#partial;
    if (open !== undefined) return { ...open, text, final };
    this.#count += 1;
    const { suffix, turnIndex, wallNow } = this.#options;
    const id = `user-${this.#count}${suffix()}`;
    return { id, turnIndex: turnIndex(), role: 'user', text, at: wallNow(), final };
  }
}
