// When everything on the tapes of a call was heard. The first reading of them makes it, the second one asks it.
//
// The caller's audio is one piece, and comes late now and then, never early: what comes late and in bunches belongs where the packets that came
// in time say that it does. The agent's audio is placed by the playback clock of the call; marks that came back late say how much later
// the caller heard it, and what was taken back was not heard.
import { type AudioFormat, bytesPerMs, isSameFormat, MULAW_8K } from '../audio/format.js';
import { MAX_TICKS, RECORD, type TapeRecord, TICKS_PER_MS } from './tape-format.js';

const toTicks = (ms: number) => ms * TICKS_PER_MS;

/** Audio that comes later than this does not come in the place where it was due: a stream is given up after three seconds without any. */
const LATEST_TICKS = toTicks(5000);
/** A smaller difference is left alone: each that is not is a click. */
const SLACK_TICKS = toTicks(10);
/** A mark that comes later says more of the network than of the ear. */
const LONGEST_LAG_TICKS = toTicks(3000);
/** Times are rounded. */
const SAME_TICKS = 2;

export interface LineFormats {
  readonly inbound: AudioFormat;
  readonly outbound: AudioFormat;
}

/** A time span in ticks. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A piece of audio of the caller that does not begin where the one before has ended. `piece`: counted over all tapes. */
interface Step {
  readonly piece: number;
  readonly at: number;
}

/** Pieces of the agent's audio that sound without a gap. */
interface Run {
  readonly at: number;
  length: number;
  /** How much of it was heard. */
  heard: number;
  lag: number | undefined;
}

interface Piece {
  readonly index: number;
  readonly cameAt: number;
  /** Ticks of audio before it, on its stream. */
  readonly before: number;
  /** When the stream began, by this piece. */
  readonly offset: number;
}

/** The first reading. Records come in the order of the tapes. */
export class Timeline {
  readonly #steps: Step[] = [];
  readonly #runs: Run[] = [];
  readonly #pauses: { from: number; to: number }[] = [];
  readonly #formats: AudioFormat[] = [];
  #line: LineFormats = { inbound: MULAW_8K, outbound: MULAW_8K };
  #pieces = 0;
  /** Of the stream that is up. */
  #waiting: Piece[] = [];
  /** Those of them that may be the earliest, by `offset`, rising. */
  #earliest: Piece[] = [];
  #before = 0;
  #offset: number | undefined;
  #lastCameAt = 0;
  #isNewLine = false;
  #lastAgentAt = 0;
  #end: number | undefined;

  take(record: TapeRecord): void {
    const { type, ticks, bytes } = record;
    if (type === RECORD.caller) this.#hear(bytes.length, ticks);
    else if (type === RECORD.agent) this.#speak(bytes.length, ticks);
    else if (type === RECORD.cut) this.#cut(ticks);
    else if (type === RECORD.lag) this.#lag(ticks, Buffer.from(bytes).readUInt32LE());
    else if (type === RECORD.line) this.#change(readLine(bytes));
    else if (type === RECORD.pause) this.#pauses.push({ from: ticks, to: Number.POSITIVE_INFINITY });
    else if (type === RECORD.resume) this.#endPause(ticks);
    this.#end = type === RECORD.end ? ticks : undefined;
    if (type === RECORD.head) {
      this.#settle();
      // Who was to end it has died. The next tape says by itself that it is paused.
      this.#endPause(this.#lastCameAt);
    } else if (type !== RECORD.agent && type !== RECORD.line)
      this.#lastCameAt = Math.max(this.#lastCameAt, ticks);
  }

  /** To be called behind the last record. */
  finish(): Heard {
    this.#settle();
    const lastHeard = Math.max(this.#lastCameAt, this.#lastAgentAt);
    const length = Math.min(MAX_TICKS, this.#end ?? lastHeard);
    return {
      length,
      formats: this.#formats,
      pauses: this.#pauses.map(({ from, to }) => ({ from, to: Math.min(to, length) })),
      steps: this.#steps,
      runs: placed(this.#runs),
    };
  }

  #change(line: LineFormats): void {
    this.#settle();
    this.#line = line;
    this.#isNewLine = true;
  }

  #use(format: AudioFormat): void {
    if (!this.#formats.some((each) => isSameFormat(each, format))) this.#formats.push(format);
  }

  #hear(length: number, cameAt: number): void {
    const { inbound } = this.#line;
    this.#use(inbound);
    const ticks = ticksOf(length, inbound);
    // What comes is what was said until then.
    const offset = cameAt - ticks - this.#before;
    const piece = { index: this.#pieces, cameAt, before: this.#before, offset };
    this.#pieces += 1;
    this.#before += ticks;
    while ((this.#earliest.at(-1)?.offset ?? Number.NEGATIVE_INFINITY) >= offset) this.#earliest.pop();
    this.#earliest.push(piece);
    this.#waiting.push(piece);
    this.#place(cameAt - LATEST_TICKS);
  }

  /** Pieces that came before `until`: nothing that is yet to come is earlier. */
  #place(until: number): void {
    let placed = 0;
    for (const piece of this.#waiting) {
      if (piece.cameAt >= until) break;
      placed += 1;
      const offset = this.#earliest[0]?.offset ?? piece.offset;
      if (this.#earliest[0] === piece) this.#earliest.shift();
      if (this.#offset !== undefined && Math.abs(offset - this.#offset) <= SLACK_TICKS) continue;
      this.#offset = offset;
      this.#steps.push({ piece: piece.index, at: offset + piece.before });
    }
    if (placed > 0) this.#waiting.splice(0, placed);
  }

  /** What comes from now on is of another stream. */
  #settle(): void {
    this.#place(Number.POSITIVE_INFINITY);
    this.#earliest = [];
    this.#before = 0;
    this.#offset = undefined;
  }

  #speak(length: number, at: number): void {
    const { outbound } = this.#line;
    this.#use(outbound);
    const ticks = ticksOf(length, outbound);
    const last = this.#runs.at(-1);
    const goesOn = last !== undefined && !this.#isNewLine && continues(last, at);
    this.#isNewLine = false;
    if (goesOn) {
      last.length += ticks;
      last.heard += ticks;
    } else this.#runs.push({ at, length: ticks, heard: ticks, lag: undefined });
    this.#lastAgentAt = Math.max(this.#lastAgentAt, at + ticks);
  }

  #cut(at: number): void {
    for (let index = this.#runs.length - 1; index >= 0; index -= 1) {
      const run = this.#runs[index];
      if (run === undefined || run.at + run.heard <= at) break;
      run.heard = Math.max(0, at - run.at);
    }
    this.#lastAgentAt = Math.min(this.#lastAgentAt, at);
  }

  #lag(at: number, lag: number): void {
    if (lag > LONGEST_LAG_TICKS) return;
    const run = this.#runs.findLast((each) => each.at < at);
    // The least of them: what delays a mark on its way delays no sound.
    if (run !== undefined) run.lag = Math.min(lag, run.lag ?? lag);
  }

  #endPause(at: number): void {
    const pause = this.#pauses.at(-1);
    if (pause !== undefined && pause.to === Number.POSITIVE_INFINITY) pause.to = at;
  }
}

/** What the first reading has found. */
export interface Heard {
  /** Of the recording, in ticks. */
  readonly length: number;
  /** Those that there is audio of. */
  readonly formats: readonly AudioFormat[];
  readonly pauses: readonly Span[];
  readonly steps: readonly Step[];
  readonly runs: readonly PlacedRun[];
}

interface PlacedRun {
  /** As it stands on the tape. */
  readonly sentAt: number;
  readonly length: number;
  readonly at: number;
  readonly heard: number;
}

/** Where a piece of audio belongs, in ticks; `isNext`: right behind the piece before. `length` is what of it was heard. */
export interface Place {
  readonly at: number;
  readonly isNext: boolean;
  readonly length: number;
}

/** The second reading: asked for each piece in the same order. */
export class Places {
  readonly #heard: Heard;
  #line: LineFormats = { inbound: MULAW_8K, outbound: MULAW_8K };
  #pieces = 0;
  #step = 0;
  #callerAt = 0;
  #run = -1;
  #said = 0;

  constructor(heard: Heard) {
    this.#heard = heard;
  }

  get line(): LineFormats {
    return this.#line;
  }

  change(bytes: Uint8Array): void {
    this.#line = readLine(bytes);
  }

  /** Nothing is heard of what came while the recording was paused, even if it was said before: it came late, and may be what the pause is for. */
  ofCaller(length: number, cameAt: number): Place {
    const step = this.#heard.steps[this.#step];
    const isNext = step?.piece !== this.#pieces;
    if (step !== undefined && !isNext) {
      this.#step += 1;
      this.#callerAt = step.at;
    }
    this.#pieces += 1;
    const at = this.#callerAt;
    const ticks = ticksOf(length, this.#line.inbound);
    this.#callerAt += ticks;
    const isPaused = this.#heard.pauses.some(({ from, to }) => from < cameAt && cameAt <= to);
    return { at, isNext, length: isPaused ? 0 : ticks };
  }

  ofAgent(length: number): Place {
    const { runs } = this.#heard;
    const isNext = this.#run >= 0 && this.#said < (runs[this.#run]?.length ?? 0);
    if (!isNext) {
      this.#run += 1;
      this.#said = 0;
    }
    const run = runs[this.#run];
    const ticks = ticksOf(length, this.#line.outbound);
    const said = this.#said;
    this.#said += ticks;
    if (run === undefined) return { at: 0, isNext, length: 0 };
    return { at: run.at + said, isNext, length: Math.max(0, Math.min(ticks, run.heard - said)) };
  }
}

/** Sounds lie one behind the other. What no mark tells the time of is as late as what is near it. */
function placed(runs: readonly Run[]): PlacedRun[] {
  let lag = runs.find((run) => run.lag !== undefined)?.lag ?? 0;
  let end = 0;
  return runs.map((run) => {
    lag = run.lag ?? lag;
    const at = Math.max(run.at + lag, end);
    if (run.heard > 0) end = at + run.heard;
    return { sentAt: run.at, length: run.length, at, heard: run.heard };
  });
}

function continues(run: Run, at: number): boolean {
  return run.heard === run.length && Math.abs(run.at + run.length - at) <= SAME_TICKS;
}

function ticksOf(bytes: number, format: AudioFormat): number {
  return (bytes / bytesPerMs(format)) * TICKS_PER_MS;
}

export function readLine(bytes: Uint8Array): LineFormats {
  return JSON.parse(Buffer.from(bytes).toString('utf8')) as LineFormats;
}
