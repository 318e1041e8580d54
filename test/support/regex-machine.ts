// A backtracking matcher that counts its steps, for expressions as this project writes them. It answers as the engine of the language
// does, which every use of it checks, and tries what that one tries: how its steps grow is how the engine's time grows.

type Node =
  | { readonly kind: 'char'; readonly test: (text: string, at: number) => number }
  | { readonly kind: 'group'; readonly body: Node; readonly index: number | undefined }
  | { readonly kind: 'sequence' | 'either'; readonly parts: readonly Node[] }
  | {
      readonly kind: 'repeat';
      readonly body: Node;
      readonly min: number;
      readonly max: number;
      readonly isLazy: boolean;
    }
  | { readonly kind: 'look'; readonly body: Node; readonly isBehind: boolean; readonly isNot: boolean }
  | { readonly kind: 'assert'; readonly sign: string };

type Step =
  | { op: 'char'; test: (text: string, at: number) => number }
  | { op: 'split'; first: number; second: number }
  | { op: 'jump'; to: number }
  | { op: 'save'; slot: number }
  | { op: 'mark'; slot: number }
  | { op: 'moved'; slot: number }
  | { op: 'assert'; sign: string }
  | { op: 'look'; program: Program; isBehind: boolean; isNot: boolean }
  | { op: 'match' };

interface Program {
  readonly steps: readonly Step[];
  /** What a match begins with. */
  readonly unset: readonly undefined[];
  readonly flags: string;
  /** It is tried at one place. */
  readonly isAnchored: boolean;
}

type Slots = readonly (number | undefined)[];

interface State {
  readonly pc: number;
  readonly at: number;
  readonly slots: Slots;
}

export interface Work {
  steps: number;
}

/** More than any of them may take: beyond it there is no end. */
export class TooMuchWork extends Error {}

const programs = new WeakMap<RegExp, Program>();

/** The match at or behind `from`, as positions of its groups; undefined where there is none. */
export function runRegex(pattern: RegExp, text: string, from: number, work: Work, limit: number) {
  let program = programs.get(pattern);
  if (program === undefined) {
    program = compile(pattern);
    programs.set(pattern, program);
  }
  const last = program.isAnchored ? Math.min(from, text.length) : text.length;
  for (let at = from; at <= last; at += 1) {
    const slots = run(program, text, at, work, limit);
    if (slots !== undefined) return slots;
  }
  return undefined;
}

/** The engine tries an anchored expression once. */
function startsAtBeginning(pattern: RegExp): boolean {
  return pattern.source.startsWith('^') && !pattern.multiline && !hasChoice(pattern.source);
}

function hasChoice(source: string): boolean {
  let depth = 0;
  for (let at = 0; at < source.length; at += 1) {
    if (source[at] === '\\') at += 1;
    else if (source[at] === '[')
      while (at < source.length && source[at] !== ']') at += source[at] === '\\' ? 2 : 1;
    else if (source[at] === '(') depth += 1;
    else if (source[at] === ')') depth -= 1;
    else if (source[at] === '|' && depth === 0) return true;
  }
  return false;
}

function run(program: Program, text: string, start: number, work: Work, limit: number): Slots | undefined {
  const stack: State[] = [];
  let state: State | undefined = { pc: 0, at: start, slots: program.unset };
  for (; state !== undefined; state = stack.pop()) {
    let { pc, at, slots }: State = state;
    for (;;) {
      work.steps += 1;
      if (work.steps > limit) throw new TooMuchWork(`more than ${limit} steps`);
      const step = program.steps[pc] as Step;
      if (step.op === 'match') {
        return slots.with(0, start).with(1, at);
      }
      if (step.op === 'jump') pc = step.to;
      else if (step.op === 'split') {
        stack.push({ pc: step.second, at, slots });
        pc = step.first;
      } else if (step.op === 'save' || step.op === 'mark') {
        slots = slots.with(step.slot, at);
        pc += 1;
      } else if (step.op === 'moved') {
        if (slots[step.slot] === at) break;
        pc += 1;
      } else if (step.op === 'char') {
        const length = at < text.length ? step.test(text, at) : 0;
        if (length === 0) break;
        at += length;
        pc += 1;
      } else if (step.op === 'assert') {
        if (!holds(step.sign, text, at, program.flags)) break;
        pc += 1;
      } else {
        if (looks(step, text, at, work, limit) === step.isNot) break;
        pc += 1;
      }
    }
  }
  return undefined;
}

function looks(step: Step & { op: 'look' }, text: string, at: number, work: Work, limit: number): boolean {
  if (!step.isBehind) return run(step.program, text, at, work, limit) !== undefined;
  // Those that look behind are of one or two signs here.
  return [1, 2].some((length) => run(step.program, text, at - length, work, limit)?.[1] === at);
}

function holds(sign: string, text: string, at: number, flags: string): boolean {
  const isLine = (place: number) => flags.includes('m') && /[\n\r\u2028\u2029]/.test(text[place] ?? '');
  if (sign === '^') return at === 0 || isLine(at - 1);
  if (sign === '$') return at === text.length || isLine(at);
  const isWord = (place: number) => /\w/.test(text[place] ?? '');
  return (isWord(at - 1) !== isWord(at)) === (sign === '\\b');
}

function compile(pattern: RegExp): Program {
  const parser = new Parser(pattern.source, pattern.flags);
  const node = parser.parse();
  return assemble(node, 2 * (parser.groups + 1), pattern);
}

function assemble(node: Node, groupSlots: number, pattern: RegExp): Program {
  const steps: Step[] = [];
  let slots = groupSlots;
  const emit = (each: Node): void => {
    switch (each.kind) {
      case 'char':
        steps.push({ op: 'char', test: each.test });
        return;
      case 'assert':
        steps.push({ op: 'assert', sign: each.sign });
        return;
      case 'look': {
        const { isBehind, isNot, body } = each;
        steps.push({ op: 'look', program: assemble(body, groupSlots, pattern), isBehind, isNot });
        return;
      }
      case 'sequence':
        each.parts.forEach(emit);
        return;
      case 'group':
        if (each.index !== undefined) steps.push({ op: 'save', slot: 2 * each.index });
        emit(each.body);
        if (each.index !== undefined) steps.push({ op: 'save', slot: 2 * each.index + 1 });
        return;
      case 'either': {
        const jumps: { op: 'jump'; to: number }[] = [];
        each.parts.forEach((part, index) => {
          if (index === each.parts.length - 1) {
            emit(part);
            return;
          }
          const split = { op: 'split' as const, first: steps.length + 1, second: 0 };
          steps.push(split);
          emit(part);
          const jump = { op: 'jump' as const, to: 0 };
          jumps.push(jump);
          steps.push(jump);
          split.second = steps.length;
        });
        for (const jump of jumps) jump.to = steps.length;
        return;
      }
      case 'repeat':
        emitRepeat(each);
    }
  };
  const choose = (isLazy: boolean, inside: number) => {
    const split = { op: 'split' as const, first: inside, second: inside };
    steps.push(split);
    return (outside: number) => {
      if (isLazy) split.first = outside;
      else split.second = outside;
    };
  };
  const emitRepeat = ({ body, min, max, isLazy }: Node & { kind: 'repeat' }): void => {
    for (let count = 0; count < min; count += 1) emit(body);
    if (max === Number.POSITIVE_INFINITY) {
      const slot = slots;
      slots += 1;
      const top = steps.length;
      const leave = choose(isLazy, top + 1);
      steps.push({ op: 'mark', slot });
      emit(body);
      steps.push({ op: 'moved', slot }, { op: 'jump', to: top });
      leave(steps.length);
      return;
    }
    const leaves: ((outside: number) => void)[] = [];
    for (let count = min; count < max; count += 1) {
      leaves.push(choose(isLazy, steps.length + 1));
      emit(body);
    }
    for (const leave of leaves) leave(steps.length);
  };
  emit(node);
  steps.push({ op: 'match' });
  const isAnchored = pattern.sticky || startsAtBeginning(pattern);
  return { steps, unset: new Array(slots).fill(undefined), flags: pattern.flags, isAnchored };
}

class Parser {
  groups = 0;
  readonly #source: string;
  readonly #flags: string;
  #at = 0;

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#flags = flags.replace(/[gyd]/g, '');
  }

  parse(): Node {
    const node = this.#either();
    if (this.#at < this.#source.length) throw new Error(`cannot read ${this.#source} at ${this.#at}`);
    return node;
  }

  #either(): Node {
    const parts = [this.#sequence()];
    while (this.#take('|')) parts.push(this.#sequence());
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: 'either', parts };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at] ?? ''))
      parts.push(this.#repeat());
    return { kind: 'sequence', parts };
  }

  #repeat(): Node {
    const body = this.#atom();
    const counted = /^(?:\{(\d+)(,?)(\d*)\}|([*+?]))/.exec(this.#source.slice(this.#at, this.#at + 16));
    if (counted === null) return body;
    const [whole, least = '', comma, most = '', sign] = counted;
    this.#at += whole.length;
    const isLazy = this.#take('?');
    if (sign !== undefined)
      return {
        kind: 'repeat',
        body,
        isLazy,
        min: sign === '+' ? 1 : 0,
        max: sign === '?' ? 1 : Number.POSITIVE_INFINITY,
      };
    const min = Number(least);
    const max = comma === '' ? min : most === '' ? Number.POSITIVE_INFINITY : Number(most);
    return { kind: 'repeat', body, isLazy, min, max };
  }

  #atom(): Node {
    for (const [sign, isBehind, isNot] of LOOKS)
      if (this.#take(sign)) return { kind: 'look', body: this.#closed(), isBehind, isNot };
    if (this.#take('(?:')) return { kind: 'group', body: this.#closed(), index: undefined };
    if (this.#take('(')) {
      this.groups += 1;
      const index = this.groups;
      return { kind: 'group', body: this.#closed(), index };
    }
    for (const sign of ['^', '$', '\\b', '\\B']) if (this.#take(sign)) return { kind: 'assert', sign };
    return { kind: 'char', test: this.#sign() };
  }

  #closed(): Node {
    const body = this.#either();
    if (!this.#take(')')) throw new Error(`no ) in ${this.#source}`);
    return body;
  }

  /** One sign, or a class of them: asked of the language itself, once for each sign. */
  #sign(): (text: string, at: number) => number {
    const rest = this.#source.slice(this.#at);
    const atom =
      /^(?:\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\u[\dA-Fa-f]{4}|\\x[\dA-Fa-f]{2}|\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\])/.exec(
        rest,
      )?.[0];
    const isUnicode = /[uv]/.test(this.#flags);
    const written = atom ?? (isUnicode ? String.fromCodePoint(rest.codePointAt(0) ?? 0) : (rest[0] ?? ''));
    this.#at += written.length;
    const pattern = new RegExp(`^(?:${written})$`, this.#flags.replace('m', ''));
    const known = new Map<string, boolean>();
    return (text, at) => {
      const unit = isUnicode ? String.fromCodePoint(text.codePointAt(at) ?? 0) : (text[at] ?? '');
      let isMatch = known.get(unit);
      if (isMatch === undefined) {
        isMatch = nativeTest(pattern, unit);
        known.set(unit, isMatch);
      }
      return isMatch ? unit.length : 0;
    };
  }

  #take(sign: string): boolean {
    if (!this.#source.startsWith(sign, this.#at)) return false;
    this.#at += sign.length;
    return true;
  }
}

const LOOKS: readonly (readonly [sign: string, isBehind: boolean, isNot: boolean])[] = [
  ['(?=', false, false],
  ['(?!', false, true],
  ['(?<=', true, false],
  ['(?<!', true, true],
];

export const nativeExec = RegExp.prototype.exec;

function nativeTest(pattern: RegExp, text: string): boolean {
  return nativeExec.call(pattern, text) !== null;
}
