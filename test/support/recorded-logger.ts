// A logger that keeps its lines.
import type { Logger } from '../../src/base/log.js';

export interface LogLine {
  level: keyof Logger;
  fields: Record<string, unknown>;
  sentence: string;
}

export class RecordedLogger implements Logger {
  readonly lines: LogLine[] = [];
  readonly debug = this.#keep('debug');
  readonly info = this.#keep('info');
  readonly warn = this.#keep('warn');
  readonly error = this.#keep('error');

  /** Sentences of one level. */
  sentences(level: keyof Logger): string[] {
    return this.lines.filter((line) => line.level === level).map((line) => line.sentence);
  }

  /** All lines as one text, to look for what must not be there. */
  get text(): string {
    return JSON.stringify(this.lines);
  }

  #keep(level: keyof Logger) {
    return (fields: Record<string, unknown>, sentence: string): void => {
      this.lines.push({ level, fields, sentence });
    };
  }
}
