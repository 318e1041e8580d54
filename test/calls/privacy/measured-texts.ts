// Texts with what has to go from them, played as what a caller says, and what the redactor makes of them.
import { readFileSync } from 'node:fs';
import { CallRedactor, PLACEHOLDERS } from '../../../src/calls/privacy/call-redactor.js';
import type { PrivateKind } from '../../../src/calls/privacy/finder.js';
import type { CallFact } from '../../../src/contract/call-event.js';
import { turn } from '../../support/call-facts.js';

type NamedKind = Exclude<PrivateKind, 'number'>;
export const KINDS: readonly NamedKind[] = ['card', 'account', 'phone', 'email'];

interface Secret {
  readonly kind: NamedKind;
  readonly from: number;
  readonly to: number;
}

interface Segment {
  readonly text: string;
  readonly turnIndex: number;
  readonly secrets: readonly Secret[];
}

export interface MeasuredText {
  readonly language: string;
  readonly line: string;
  readonly asked: string | undefined;
  readonly segments: readonly Segment[];
}

export interface Figures {
  texts: number;
  innocent: number;
  readonly secrets: Record<NamedKind, number>;
  readonly found: Record<NamedKind, number>;
  /** Placeholders where nothing had to go. */
  readonly wrong: Record<PrivateKind, number>;
  /** Lines in which something went wrong, and what was told. */
  readonly notes: string[];
}

export function textsOf(file: string): MeasuredText[] {
  const lines = readFileSync(new URL(`texts/${file}`, import.meta.url), 'utf8').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#')).map(parse);
}

function parse(line: string): MeasuredText {
  const language = line.slice(0, 2);
  const [said = '', asked] = line.slice(4).split(' >> ').reverse();
  const segments = said
    .split(' || ')
    .flatMap((text, index) => text.split(' | ').map((each) => parseSegment(each, index + 1)));
  return { language, line, asked, segments };
}

function parseSegment(marked: string, turnIndex: number): Segment {
  const secrets: Secret[] = [];
  let text = '';
  for (const [all, before = '', kind, secret = ''] of marked.matchAll(/([^{]*)(?:\{(\w+):([^}]*)\})?/g)) {
    if (all === '') continue;
    text += before;
    if (kind !== undefined)
      secrets.push({ kind: kind as NamedKind, from: text.length, to: text.length + secret.length });
    text += secret;
  }
  return { text, turnIndex, secrets };
}

/** Every text that was told of each segment, and of the turns. */
export function tell({ asked, segments }: MeasuredText): { of: Segment; told: string[] }[] {
  const redactor = new CallRedactor();
  const told = segments.map((of) => ({ of, told: [] as string[] }));
  const take = (fact: CallFact) => {
    for (const each of redactor.tell(fact))
      if (each.type === 'transcript.segment') told[Number(each.entry.id)]?.told.push(each.entry.text);
  };
  const said = (id: string, role: 'user' | 'agent', text: string, turnIndex: number): CallFact => ({
    type: 'transcript.segment',
    entry: { id, turnIndex, role, text, at: 1, final: true },
  });
  if (asked !== undefined) take(said('asked', 'agent', asked, 0));
  for (const [index, { text, turnIndex }] of segments.entries()) {
    take(said(String(index), 'user', text, turnIndex));
    if (segments[index + 1]?.turnIndex === turnIndex) continue;
    const userText = segments
      .filter((each) => each.turnIndex === turnIndex)
      .map((each) => each.text)
      .join(' ');
    redactor.tell({
      type: 'turn.completed',
      turn: { ...turn(turnIndex), userText, agentText: '', agentTextUnheard: '' },
    });
  }
  return told;
}

const PLACEHOLDER = new RegExp(
  Object.values(PLACEHOLDERS)
    .map((each) => each.replace(/[[\]]/g, '\\$&'))
    .join('|'),
  'g',
);

interface Hidden {
  readonly kind: PrivateKind;
  readonly from: number;
  readonly to: number;
}

/** What of a text was replaced. */
function hiddenIn(text: string, told: string): Hidden[] {
  const kept = told.split(PLACEHOLDER).map((each) => each.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const kinds = [...told.matchAll(PLACEHOLDER)].map(
    ([placeholder]) => KINDS.find((kind) => PLACEHOLDERS[kind] === placeholder) ?? 'number',
  );
  const match = new RegExp(`^${kept.join('(.+?)')}$`, 'ds').exec(text);
  if (match === null) throw new Error(`${told} is not made of ${text}`);
  const spans = (match.indices ?? []).slice(1);
  return spans.flatMap((span, place) =>
    span === undefined ? [] : { kind: kinds[place] ?? 'number', from: span[0], to: span[1] },
  );
}

const isCovered = (text: string, { from, to }: Secret, hidden: readonly Hidden[]) =>
  Array.from(text.slice(from, to)).every((sign, place) => {
    const at = from + place;
    return !/[\p{L}\p{N}@]/u.test(sign) || hidden.some((each) => each.from <= at && at < each.to);
  });

const zero = () => ({ card: 0, account: 0, phone: 0, email: 0, number: 0 });

export function measure(texts: readonly MeasuredText[]): Figures {
  const figures: Figures = {
    texts: 0,
    innocent: 0,
    secrets: zero(),
    found: zero(),
    wrong: zero(),
    notes: [],
  };
  for (const text of texts) {
    figures.texts += 1;
    if (text.segments.every(({ secrets }) => secrets.length === 0)) figures.innocent += 1;
    for (const { of, told } of tell(text)) {
      const hidden = told.map((each) => hiddenIn(of.text, each));
      for (const secret of of.secrets) {
        figures.secrets[secret.kind] += 1;
        const isFound = hidden.length > 0 && hidden.every((each) => isCovered(of.text, secret, each));
        if (isFound) figures.found[secret.kind] += 1;
        else figures.notes.push(`left: ${text.line}\n      ${told.join(' ~ ')}`);
      }
      for (const each of hidden.at(-1) ?? [])
        if (!of.secrets.some(({ from, to }) => from < each.to && each.from < to)) {
          figures.wrong[each.kind] += 1;
          figures.notes.push(`wrong: ${text.line}\n      ${told.join(' ~ ')}`);
        }
    }
  }
  return figures;
}

/** Rows of a table of Markdown. */
export function rowsOf(figures: Figures): string[] {
  return KINDS.map((kind) => {
    const [found, all] = [figures.found[kind], figures.secrets[kind]];
    return `| ${kind} | ${found} of ${all} | ${((100 * found) / all).toFixed(1)} % | ${figures.wrong[kind]} |`;
  }).concat(`| number held back | - | - | ${figures.wrong.number} |`);
}
