// Takes private numbers and addresses out of the facts of one call. A number may come in pieces: what each side said last is remembered, and
// figures at the end of what was said are held back until it is known what they belong to.
import type { CallFact } from '../../contract/call-event.js';
import type { ToolCall, TranscriptEntry, Turn } from '../../contract/call-record.js';
import { type Finding, type FinderContext, findPrivate, type PrivateKind } from './finder.js';
import { SENT_KEYS } from './private-facts.js';

/** What stands in the place of what was found. */
export const PLACEHOLDERS: Readonly<Record<PrivateKind, string>> = {
  card: '[card number]',
  account: '[account number]',
  phone: '[phone number]',
  email: '[e-mail address]',
  number: '[number]',
};

/** In text that is still being said. */
const HELD_BACK = '…';

type Side = 'user' | 'agent';

/** Something that was said, as it was said and as it was told. */
interface Piece {
  readonly entry: TranscriptEntry;
  readonly told: string;
  /** Only its end is left. */
  readonly isCut: boolean;
}

/** For another process that takes the call up: with words. Plain JSON. */
export interface RedactorState {
  readonly said: Readonly<Record<Side, readonly Piece[]>>;
  readonly held: Readonly<Record<Side, string>>;
  readonly known: readonly string[];
  /** Index of the last turn that was told. */
  readonly completed: number;
}

export const NOTHING_SAID: RedactorState = {
  said: { user: [], agent: [] },
  held: { user: '', agent: '' },
  known: [],
  completed: -1,
};

/** A number has no more pieces, nor is more said between two of them. */
const MAX_PIECES = 32;
const MAX_SIGNS = 400;
/** Numbers of one call that are remembered, for when the other side says them again. */
const MAX_KNOWN = 50;
/** Answers before the last that may have asked for a number. */
const MAX_ASKED = 3;

type Segment = Extract<CallFact, { type: 'transcript.segment' }>;

export class CallRedactor {
  #state: RedactorState;

  constructor(state: RedactorState = NOTHING_SAID) {
    this.#state = state;
  }

  get state(): RedactorState {
    return this.#state;
  }

  /** The fact as it may be told, behind entries of the transcript that read otherwise because of it. `mask` covers, sign for sign, what is to stay. */
  tell(fact: CallFact, mask: (text: string) => string = (text) => text): readonly CallFact[] {
    if (fact.type === 'transcript.segment') return this.#segment(fact);
    if (fact.type === 'turn.completed') return [{ ...fact, turn: this.#turn(fact.turn, mask) }];
    if (fact.type === 'agent.changed') return [{ ...fact, summary: this.#alone(fact.summary) }];
    return [fact];
  }

  #segment(fact: Segment): readonly CallFact[] {
    const { entry, tool } = fact;
    const told = tool === undefined ? fact : { ...fact, tool: this.#tool(tool) };
    if (entry.role === 'tool' || (entry.role === 'system' && entry.text.startsWith(SENT_KEYS)))
      return [{ ...told, entry: { ...entry, text: this.#alone(entry.text) } }];
    if (entry.role === 'system') return [told];
    if (entry.text === '') {
      this.#forget(entry);
      return [told];
    }
    return this.#said(entry.role, entry).map((each) =>
      each.id === entry.id ? { ...told, entry: each } : { type: fact.type, entry: each },
    );
  }

  /** The entry, behind others of its side that read otherwise from now on. */
  #said(side: Side, entry: TranscriptEntry): TranscriptEntry[] {
    const pieces = withPiece(this.#state.said[side], entry);
    const end = endOf(pieces.at(-1)?.entry ?? entry);
    const text = pieces.map((piece) => piece.entry.text).join(' ');
    const findings = findPrivate(text, this.#context(side, entry.turnIndex, end));
    if (entry.final) this.#learn(side, findings);
    const told: TranscriptEntry[] = [];
    let from = 0;
    const next = pieces.map((piece) => {
      const part = cut(text, findings, [from, from + piece.entry.text.length], piece.entry.final);
      from += piece.entry.text.length + 1;
      const isThis = piece.entry.id === entry.id;
      const isOpen =
        entry.final && piece.entry.final && !piece.isCut && piece.entry.turnIndex > this.#state.completed;
      if (!isThis && (!isOpen || part === piece.told)) return piece;
      told.push({ ...piece.entry, text: part });
      return { ...piece, told: part };
    });
    this.#state = { ...this.#state, said: { ...this.#state.said, [side]: next } };
    return told.sort((one, other) => Number(one.id === entry.id) - Number(other.id === entry.id));
  }

  #forget({ id, role }: TranscriptEntry): void {
    const side = role === 'user' ? 'user' : 'agent';
    const pieces = this.#state.said[side].filter((piece) => piece.entry.id !== id);
    this.#state = { ...this.#state, said: { ...this.#state.said, [side]: pieces } };
  }

  #turn(turn: Turn, mask: (text: string) => string): Turn {
    const { index, interrupted, userText, agentText, agentTextUnheard } = turn;
    this.#state = { ...this.#state, completed: Math.max(this.#state.completed, index) };
    const [user = ''] = this.#texts('user', index, [userText], { mask, end: 'open' });
    const isCutOff = interrupted || agentTextUnheard !== '';
    const [heard = '', unheard = ''] = this.#texts('agent', index, [agentText, agentTextUnheard], {
      mask,
      end: isCutOff ? 'open' : undefined,
    });
    return {
      ...turn,
      userText: user,
      agentText: heard,
      agentTextUnheard: unheard,
      toolCalls: turn.toolCalls.map((tool) => this.#tool(tool)),
    };
  }

  /** Texts of a turn, one behind the other, between what its side said before and after it. */
  #texts(
    side: Side,
    index: number,
    texts: readonly string[],
    { mask, end }: { mask: (text: string) => string; end: FinderContext['end'] },
  ): string[] {
    const said = this.#state.said[side].map(({ entry }) => entry);
    const before = said.filter(({ turnIndex }) => turnIndex < index).map(({ text }) => `${text} `);
    const behind = said.filter(({ turnIndex }) => turnIndex > index).map(({ text }) => ` ${text}`);
    const start = before.join('').length;
    const whole = [...before, mask(texts.join(' ')), ...behind].join('');
    const context = this.#context(side, index, behind.length > 0 ? 'open' : end);
    const findings = findPrivate(whole, context);
    this.#learn(side, findings);
    let from = start;
    const original = `${before.join('')}${texts.join(' ')}`;
    return texts.map((text) => {
      const part = cut(original, findings, [from, from + text.length], true);
      from += text.length + 1;
      return part;
    });
  }

  /** A text that neither side has said. One that was cut short may end in a part of a number. */
  #alone(text: string): string {
    const { known, held } = this.#state;
    const end = text.endsWith('…') ? 'open' : undefined;
    const findings = findPrivate(text, { known: [...known, held.user, held.agent], end });
    this.#remember(findings);
    return cut(text, findings, [0, text.length], true);
  }

  #tool(tool: ToolCall): ToolCall {
    return tool.error === null ? tool : { ...tool, error: this.#alone(tool.error) };
  }

  #context(side: Side, turnIndex: number, end: FinderContext['end']): FinderContext {
    const other = side === 'user' ? 'agent' : 'user';
    const { said, known, held } = this.#state;
    const before = said[other].filter(({ entry }) =>
      side === 'user' ? entry.turnIndex < turnIndex : entry.turnIndex <= turnIndex,
    );
    const asked = before.slice(-MAX_ASKED).map(({ entry }) => entry.text.slice(-MAX_SIGNS));
    return { asked: asked.reverse(), known: [...known, held[other]], end };
  }

  #learn(side: Side, findings: readonly Finding[]): void {
    const held = findings.findLast(({ isHeldBack }) => isHeldBack)?.digits ?? '';
    this.#state = { ...this.#state, held: { ...this.#state.held, [side]: held } };
    this.#remember(findings);
  }

  /** A number that has grown takes the place of what it began with. */
  #remember(findings: readonly Finding[]): void {
    for (const { digits, isHeldBack } of findings) {
      const { known } = this.#state;
      if (digits === '' || isHeldBack || known.some((each) => each.includes(digits))) continue;
      const others = known.filter((each) => !digits.includes(each));
      this.#state = { ...this.#state, known: [...others, digits].slice(-MAX_KNOWN) };
    }
  }
}

/** With the entry in its place, or at the end, and without what is too long ago. */
function withPiece(pieces: readonly Piece[], entry: TranscriptEntry): Piece[] {
  const index = pieces.findIndex((piece) => piece.entry.id === entry.id);
  if (index !== -1) return pieces.with(index, { entry, told: pieces[index]?.told ?? '', isCut: false });
  const kept: Piece[] = [];
  let signs = 0;
  for (const piece of pieces.slice(1 - MAX_PIECES).reverse()) {
    if (signs >= MAX_SIGNS) break;
    const { text } = piece.entry;
    signs += text.length;
    const isLong = signs > MAX_SIGNS;
    kept.unshift(
      isLong ? { ...piece, entry: { ...piece.entry, text: text.slice(-MAX_SIGNS) }, isCut: true } : piece,
    );
  }
  return [...kept, { entry, told: '', isCut: false }];
}

/** What may follow an entry. Of an agent that was not cut off nothing does. */
function endOf({ role, text, final, interrupted = false }: TranscriptEntry): FinderContext['end'] {
  if (role === 'user') return final ? 'open' : 'speaking';
  if (final) return interrupted ? 'open' : undefined;
  return /[.?!]\s?$/.test(text) ? 'open' : 'speaking';
}

/** A part of the text with placeholders for what was found there, whole or in part. */
function cut(
  text: string,
  findings: readonly Finding[],
  [from, to]: readonly [number, number],
  isFinal: boolean,
): string {
  let [told, at] = ['', from];
  for (const finding of findings) {
    if (finding.to <= from || finding.from >= to) continue;
    told += text.slice(at, Math.max(at, finding.from));
    told += finding.isHeldBack && !isFinal ? HELD_BACK : PLACEHOLDERS[finding.kind];
    at = Math.min(finding.to, to);
  }
  return told + text.slice(at, to);
}
