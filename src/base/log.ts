// The logger that rooms are handed. Any pino-compatible logger fits; the default one writes the same JSON lines to standard error.
import { fileURLToPath } from 'node:url';
import { require } from './commonjs.js';

/** A line of the log: fields, then a static sentence. */
export type LogMethod = (fields: Record<string, unknown>, sentence: string) => void;

/** What a logger must offer. A pino instance does. */
export interface Logger {
  debug: LogMethod;
  info: LogMethod;
  warn: LogMethod;
  error: LogMethod;
}

/** The levels of the default logger, with the numbers that pino gives them. */
const LEVELS = { debug: 20, info: 30, warn: 40, error: 50 } as const;

/** Lines that wait for a slow reader of standard error, in bytes of text. Later ones are dropped and counted. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/**
 * The default logger: JSON lines on standard error, as pino writes them.
 * @param level what is below it is not written
 * @param fd the file descriptor to write to, standard error unless told
 */
export function createLogger({ level, fd = 2 }: { level: keyof Logger; fd?: number }): Logger {
  const write = (lines.get(fd) ?? lines.set(fd, openLines(fd)).get(fd))!;
  const method = (name: keyof Logger): LogMethod => {
    if (LEVELS[name] < LEVELS[level]) return () => {};
    return (fields, msg) => write({ level: LEVELS[name], time: Date.now() }, fields, msg);
  };
  return { debug: method('debug'), info: method('info'), warn: method('warn'), error: method('error') };
}

type WriteLine = (head: Record<string, unknown>, fields: Record<string, unknown>, msg: string) => void;

/** By file descriptor: all loggers of a process write to one queue. */
const lines = new Map<number, WriteLine>();

function openLines(fd: number): WriteLine {
  // Who brings a logger of their own does without.
  const { SonicBoom } = require('sonic-boom') as typeof import('sonic-boom');
  // Written beside the event loop: a reader that stands still must not hold up a call.
  const out = new SonicBoom({ fd, sync: false, maxLength: MAX_WAITING_BYTES });
  let dropped = 0;
  out.on('drop', () => dropped++);
  // A closed pipe or a full disk: there is no place left to tell it.
  out.on('error', () => {});
  process.once('exit', () => orIfItThrows(() => out.flushSync(), undefined));
  return (head, fields, msg) => {
    const lost = dropped;
    out.write(`${jsonLine(head, lost === 0 ? fields : { ...fields, droppedLines: lost }, msg)}\n`);
    if (dropped === lost) dropped = 0;
  };
}

function jsonLine(head: Record<string, unknown>, fields: Record<string, unknown>, msg: string): string {
  const plain = (_key: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
  try {
    return JSON.stringify({ ...head, ...fields, msg }, plain);
  } catch {
    // A cycle, or a getter that throws.
    return JSON.stringify({ ...head, unreadableFields: true, msg });
  }
}

/** A logger that says nothing. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
};

/** The same logger, but one whose failure is felt by nobody: a logger of the application may throw. */
export function guardLogger(logger: Logger): Logger {
  const guard =
    (level: keyof Logger): LogMethod =>
    (fields, sentence) => {
      try {
        logger[level](fields, sentence);
      } catch {
        // Nobody is left to tell.
      }
    };
  return { debug: guard('debug'), info: guard('info'), warn: guard('warn'), error: guard('error') };
}

/** The same logger with `fields` on every line. A line's own fields outrank them. */
export function withFields(logger: Logger, fields: Readonly<Record<string, unknown>>): Logger {
  const add =
    (level: keyof Logger): LogMethod =>
    (own, sentence) =>
      logger[level]({ ...fields, ...own }, sentence);
  return { debug: add('debug'), info: add('info'), warn: add('warn'), error: add('error') };
}

/** An error as it may be logged: its class, code and sentence. Foreign errors carry URLs, headers and keys, so only their class and code are kept. */
export function describeError(error: unknown): {
  error: string;
  code?: string;
  message?: string;
} {
  return orIfItThrows(() => describe(error), { error: typeof error });
}

function describe(error: unknown): ReturnType<typeof describeError> {
  if (!(error instanceof Error)) return { error: typeof error };
  const code = (error as { code?: unknown }).code;
  const known = typeof code === 'string' ? { code } : {};
  const own = Symbol.for('offhook.error') in error ? { message: error.message } : {};
  return { error: error.name, ...known, ...own };
}

/** Files of this package, as stacks name them: as addresses, or as paths. */
const OWN_URL = import.meta.url.replace(/base\/log\.[jt]s$/, '');
const OWN_FILES = [OWN_URL, fileURLToPath(OWN_URL)];

const FRAME = /^ {4}at (?:.* \()?(?:async )?((?:file:|\/|[A-Za-z]:[\\/]).*:\d+:\d+)\)?$/;
const MAX_FRAMES = 3;
/** What is longer is no line of a stack. */
const MAX_FRAME_CHARS = 1000;

/** An error of the application's own is shown up to this length, in characters. */
const MAX_SHOWN_CHARS = 8000;

/** What code of the application threw, as it may be logged: as `describeError` has it, and where it comes from. */
export function describeThrown(error: unknown): ReturnType<typeof describeError> & { at?: string[] } {
  const described = describeError(error);
  if (described.message !== undefined) return described;
  const at = orIfItThrows(() => framesOf(error), []);
  return at.length === 0 ? described : { ...described, at };
}

/**
 * Logs what code of the application threw: where, as `describeThrown` has it, and the whole of it at level debug. A message may say
 * anything, a caller's words too, so it is for those alone who ask for that level.
 */
export function logThrown(
  { logger, level = 'warn', thrown }: { logger: Logger; level?: 'warn' | 'error'; thrown: unknown },
  fields: Record<string, unknown>,
  sentence: string,
): void {
  const described = describeThrown(thrown);
  const hint = described.message === undefined ? { hint: 'log level debug shows the message' } : {};
  logger[level]({ ...fields, ...described, ...hint }, sentence);
  logger.debug({ ...fields, thrown: show(thrown) }, sentence);
}

/** Its stack and those of its causes. Other properties are not shown: errors of HTTP clients have headers, keys and bodies there. */
function show(thrown: unknown): string {
  let shown = '';
  let each = thrown;
  do {
    const [stack, cause] = orIfItThrows(() => partsOf(each), [`(${typeof each})`, undefined]);
    shown += `${shown === '' ? '' : '\nbecause of '}${stack}`;
    each = cause;
  } while (each !== undefined && shown.length < MAX_SHOWN_CHARS);
  return shown.slice(0, MAX_SHOWN_CHARS);
}

function partsOf(thrown: unknown): [text: string, cause: unknown] {
  if (thrown instanceof Error) return [String(thrown.stack ?? thrown), thrown.cause];
  return [typeof thrown === 'object' && thrown !== null ? '(an object)' : String(thrown), undefined];
}

/** The first frames that are neither Node's nor ours, as `file:line:column`. */
function framesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const { stack, message } = error;
  const start = stack?.indexOf(message) ?? -1;
  // Where the message ends nobody knows otherwise, and its lines could look like frames.
  if (stack === undefined || start === -1) return [];
  const lines = stack.slice(start + message.length).split('\n');
  return lines
    .flatMap((line) => (line.length > MAX_FRAME_CHARS ? [] : (FRAME.exec(line)?.[1] ?? [])))
    .filter((place) => !OWN_FILES.some((own) => place.startsWith(own)))
    .slice(0, MAX_FRAMES);
}

/** What was thrown may throw itself, when it is looked at. */
function orIfItThrows<T>(look: () => T, otherwise: T): T {
  try {
    return look();
  } catch {
    return otherwise;
  }
}
