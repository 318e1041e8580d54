import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ProviderError } from '../../src/base/errors.js';
import { createLogger, describeThrown, type Logger, logThrown, withFields } from '../../src/base/log.js';
import { RecordedLogger } from '../support/recorded-logger.js';

it('fields of a logger are on each of its lines, unless the line has its own', () => {
  const logger = new RecordedLogger();
  const named = withFields(logger, { callId: 'call-1', a: 1 });
  for (const level of ['debug', 'info', 'warn', 'error'] as const) named[level]({ a: 2 }, level);
  expect(logger.lines).toEqual(
    ['debug', 'info', 'warn', 'error'].map((level) => ({
      level,
      fields: { callId: 'call-1', a: 2 },
      sentence: level,
    })),
  );
});

describe('what the application threw', () => {
  const HERE = fileURLToPath(import.meta.url);
  const own = fileURLToPath(new URL('../../src/engines/pipeline/speaking/reply.js', import.meta.url));
  const withStack = (message: string, ...frames: string[]) =>
    Object.assign(new Error(message), {
      stack: [`Error: ${message}`, ...frames.map((frame) => `    at ${frame}`)].join('\n'),
    });

  it('is told by its place, and whole at level debug', () => {
    const logger = new RecordedLogger();
    const thrown = new TypeError('no such customer: +15550100', { cause: new Error('the database said no') });
    logThrown({ logger, thrown }, { callId: 'call-1' }, 'a tool failed');
    expect(logger.lines).toEqual([
      {
        level: 'warn',
        fields: {
          callId: 'call-1',
          error: 'TypeError',
          at: expect.any(Array),
          hint: 'log level debug shows the message',
        },
        sentence: 'a tool failed',
      },
      {
        level: 'debug',
        fields: { callId: 'call-1', thrown: expect.stringContaining('no such customer: +15550100') },
        sentence: 'a tool failed',
      },
    ]);
    const [warning, whole] = logger.lines;
    expect(warning?.fields.at).toContainEqual(expect.stringMatching(/log\.test\.ts:\d+:\d+$/));
    expect(JSON.stringify(warning)).not.toMatch(/customer|15550100|database/);
    expect(whole?.fields.thrown).toContain('the database said no');
    expect(whole?.fields.thrown).toContain(HERE);
  });

  it('is told at the level that is asked for', () => {
    const logger = new RecordedLogger();
    logThrown({ logger, level: 'error', thrown: 'a text' }, {}, 'a callback failed');
    expect(logger.lines).toEqual([
      {
        level: 'error',
        fields: { error: 'string', hint: 'log level debug shows the message' },
        sentence: 'a callback failed',
      },
      { level: 'debug', fields: { thrown: 'a text' }, sentence: 'a callback failed' },
    ]);
  });

  it('has the first three frames that are neither of Node nor of this package', () => {
    const thrown = withStack(
      'mine',
      'Array.map (<anonymous>)',
      'node:internal/timers:581:17',
      `push (${own}:10:5)`,
      `async push (${new URL(`file://${own}`).href}:10:5)`,
      'execute (file:///app/my%20tools.js:12:11)',
      'async /app/with (brackets)/agent.js:3:1',
      'async Object.run (C:\\app\\run.js:4:2)',
      '/app/main.js:1:1',
    );
    expect(describeThrown(thrown)).toEqual({
      error: 'Error',
      at: ['file:///app/my%20tools.js:12:11', '/app/with (brackets)/agent.js:3:1', 'C:\\app\\run.js:4:2'],
    });
  });

  it('shows nothing of a message that looks like a frame, or that was changed', () => {
    const message = 'no\n    at caller (/+15550100:1:1)';
    const thrown = withStack(message, '/app/tools.js:1:1');
    expect(describeThrown(thrown)).toEqual({ error: 'Error', at: ['/app/tools.js:1:1'] });
    thrown.message = 'another one';
    expect(describeThrown(thrown)).toEqual({ error: 'Error' });
  });

  it('is our own sentence where the error is ours', () => {
    const error = new ProviderError('It did not answer.', { status: null, retryable: true });
    expect(describeThrown(error)).toEqual({
      error: 'ProviderError',
      code: 'PROVIDER_FAILED',
      message: 'It did not answer.',
    });
  });

  it('is shown without its properties: HTTP clients put headers and bodies there', () => {
    const logger = new RecordedLogger();
    const config = { headers: { authorization: 'Bearer secret' }, data: '{"phone":"+15550100"}' };
    const thrown = Object.assign(new Error('Request failed', { cause: { config } }), { config });
    logThrown({ logger, thrown }, {}, 'a tool failed');
    logThrown({ logger, thrown: { config } }, {}, 'a tool failed');
    expect(logger.lines[1]?.fields.thrown).toContain('Request failed');
    expect(JSON.stringify(logger.lines)).not.toMatch(/secret|15550100/);
  });

  it.each<[string, unknown]>([
    [
      'its stack',
      Object.defineProperty(new Error('x'), 'stack', {
        get() {
          throw new Error('no stack');
        },
      }),
    ],
    ['its text', Object.create(null)],
    [
      'anything of it',
      new Proxy(new Error('x'), {
        get() {
          throw new Error('no');
        },
        getPrototypeOf() {
          throw new Error('no');
        },
      }),
    ],
    ['a stack that is not text', Object.assign(new Error('x'), { stack: 7, name: null })],
  ])('may throw when somebody looks at %s', (_, thrown) => {
    const logger = new RecordedLogger();
    logThrown({ logger, thrown }, { callId: 'call-1' }, 'a tool failed');
    expect(logger.lines.map(({ level }) => level)).toEqual(['warn', 'debug']);
  });

  it('is shown to the cause that is its own cause', () => {
    const logger = new RecordedLogger();
    const thrown = new Error('x');
    thrown.cause = thrown;
    logThrown({ logger, thrown }, {}, 'a tool failed');
    expect(logger.lines[1]?.fields.thrown).toHaveLength(8000);
  });

  it('is shown to a bound', () => {
    const logger = new RecordedLogger();
    logThrown({ logger, thrown: new Error('x'.repeat(100_000)) }, {}, 'a tool failed');
    expect(logger.lines[1]?.fields.thrown).toHaveLength(8000);
  });
});

describe('the default logger', () => {
  let folder: string;
  let fd: number;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'offhook-log-'));
    fd = openSync(join(folder, 'log'), 'a');
  });
  afterEach(() => {
    closeSync(fd);
    rmSync(folder, { recursive: true });
  });
  /** The lines of the file, once there are so many. */
  const written = async (count: number): Promise<Record<string, unknown>[]> => {
    for (;;) {
      const lines = readFileSync(join(folder, 'log'), 'utf8').split('\n').slice(0, -1);
      if (lines.length >= count) return lines.map((line) => JSON.parse(line));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };

  it('writes the lines that pino writes, from its level up', async () => {
    const own = createLogger({ level: 'info', fd });
    const log = pino({ base: null }, pino.destination({ fd, sync: true }));
    for (const logger of [own, log] satisfies Logger[]) {
      logger.debug({}, 'not written');
      logger.warn({ callId: 'call-1', count: 2, none: undefined }, 'a sentence');
    }
    const [first, second] = await written(2);
    expect(first).toEqual({ ...second, time: expect.any(Number) });
    expect(first).toMatchObject({
      level: 40,
      callId: 'call-1',
      count: 2,
      msg: 'a sentence',
    });
  });

  it('keeps the sentence where the fields cannot be read', async () => {
    const logger = createLogger({ level: 'debug', fd });
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    logger.error(cycle, 'a cycle');
    logger.info({ big: 12n }, 'a big number');
    const [first, second] = await written(2);
    expect(first).toMatchObject({ level: 50, unreadableFields: true, msg: 'a cycle' });
    expect(second).toMatchObject({ big: '12', msg: 'a big number' });
  });

  it('loses no line of a process that exits', () => {
    const program = `
      import { createLogger } from ${JSON.stringify(new URL('../../dist/base/log.js', import.meta.url).href)};
      const logger = createLogger({ level: 'info' });
      for (let n = 0; n < 2000; n++) logger.info({ n }, 'a line');
      process.exit(0);`;
    const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
    });
    expect(stderr.trim().split('\n')).toHaveLength(2000);
  });

  it('drops and counts what nobody reads, and never waits', async () => {
    const program = `
      import { createLogger } from ${JSON.stringify(new URL('../../dist/base/log.js', import.meta.url).href)};
      const logger = createLogger({ level: 'info' });
      const text = 'x'.repeat(1000);
      for (let n = 0; n < 20000; n++) logger.info({ text }, 'a line');
      process.stdout.write('went on');
      process.stdin.once('data', () => setInterval(() => logger.info({}, 'later'), 20));`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program]);
    await once(child.stdout, 'data');
    let droppedLines: number | undefined;
    let text = '';
    child.stdin.write('read');
    for await (const chunk of child.stderr.setEncoding('utf8')) {
      text += chunk;
      droppedLines = Number(/"droppedLines":(\d+)/.exec(text)?.[1] ?? Number.NaN);
      if (droppedLines > 0) break;
      // Whole lines have been looked at; the next chunk ends the last one.
      text = text.slice(text.lastIndexOf('\n') + 1);
    }
    child.kill();
    expect(droppedLines).toBeGreaterThan(1000);
  });
});
