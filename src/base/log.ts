// The logger that rooms are handed. Any pino-compatible logger fits; the default one is pino on standard error.
import { pino } from 'pino';

/** A line of the log: fields, then a static sentence. */
export type LogMethod = (fields: Record<string, unknown>, sentence: string) => void;

/** What a logger must offer. A pino instance does. */
export interface Logger {
  debug: LogMethod;
  info: LogMethod;
  warn: LogMethod;
  error: LogMethod;
}

/** The default logger: JSON lines on standard error. `level` is a pino level, `silent` turns it off. */
export function createLogger(options: { level: string }): Logger {
  return pino(
    { name: 'offhook', level: options.level, base: null },
    pino.destination({ fd: 2, sync: false }),
  );
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
  if (!(error instanceof Error)) return { error: typeof error };
  const code = (error as { code?: unknown }).code;
  const known = typeof code === 'string' ? { code } : {};
  const own = Symbol.for('offhook.error') in error ? { message: error.message } : {};
  return { error: error.name, ...known, ...own };
}
