// Servers that are programs, made with the official SDK.
import { tmpdir } from 'node:os';
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../../support/data-folder.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { RecordedLogger } from '../../../support/recorded-logger.js';
import { soon } from '../../../support/soon.js';
import { openMcp } from './mcp-rig.js';

const PROGRAM = fileURLToPath(new URL('../../../support/mcp-program.mjs', import.meta.url));
const LOST = 'The server of the tool was lost before it answered. It may have been done.';
const UNREACHABLE = 'The server of the tool cannot be reached.';

const program = (...args: string[]) => ({
  command: process.execPath,
  args: [PROGRAM, ...args],
  name: 'program',
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function turnsOfTheLoop(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('an MCP server that is a program', () => {
  it('has nothing in its environment but what is named, and its folder', async () => {
    const cwd = realpathSync(tmpdir());
    await using rig = await openMcp({ ...program(), env: { SHOP_KEY: 'abc' }, cwd });
    const { told } = await rig.run('environment');
    // The system may add its own.
    expect(JSON.parse(String(told))).toEqual({ SHOP_KEY: 'abc' });
    expect((await rig.run('folder')).told).toBe(cwd);
    const [pid = 0] = JSON.parse(String((await rig.run('pids')).told)) as number[];
    expect(isRunning(pid)).toBe(true);
    await rig.opened.close();
    await turnsOfTheLoop(1);
    expect(process.getActiveResourcesInfo()).not.toContain('ProcessWrap');
    expect(isRunning(pid)).toBe(false);
    expect(rig.logger.text).not.toContain('abc');
  });

  it('may print what it likes: only messages count, and the log shows lines without control characters', async () => {
    await using rig = await openMcp(program());
    expect((await rig.run('noise')).told).toBe('done');
    await soon(() => expect(rig.logger.lines.filter(({ level }) => level === 'debug')).toHaveLength(2));
    expect(rig.logger.lines.filter(({ level }) => level === 'debug').map(({ fields }) => fields)).toEqual([
      { server: 'program', line: '[31mno end of line of a log [0m' },
      { server: 'program', line: 'next' },
    ]);
    const unreadable = 'The server of the tool gave an answer that cannot be read.';
    expect((await rig.run('nonsense')).told).toBe(unreadable);
  });

  it('is one sentence when it dies or writes without end, and is started again after a pause', async () => {
    await using rig = await openMcp(program());
    const [first] = JSON.parse(String((await rig.run('pids')).told)) as number[];
    const [died, beside] = await Promise.all([rig.run('die'), rig.run('hang')]);
    expect(died).toEqual({ told: LOST, error: LOST });
    expect(beside).toEqual({ told: LOST, error: LOST });
    expect((await rig.run('folder')).told).toBe(UNREACHABLE);
    rig.clock.advance(1000);
    const [second] = JSON.parse(String((await rig.run('pids')).told)) as number[];
    expect(second).not.toBe(first);
    expect((await rig.run('enormous')).told).toBe('The answer of the tool was too large.');
    await soon(() => {
      rig.clock.advance(500);
      expect(isRunning(second ?? 0)).toBe(false);
    });
    rig.clock.advance(1000);
    expect((await rig.run('folder')).error).toBe(null);
  });

  it('is ended when it hangs and shows no sign of life, and started again', async () => {
    await using rig = await openMcp(program());
    const [pid = 0] = JSON.parse(String((await rig.run('pids')).told)) as number[];
    const late = new AbortController();
    const running = rig.run('freeze', {}, { signal: late.signal });
    const beside = rig.run('folder');
    await turnsOfTheLoop(3);
    late.abort();
    await running.catch(() => {});
    await turnsOfTheLoop(3);
    rig.clock.advance(5000);
    await soon(() => {
      rig.clock.advance(500);
      expect(isRunning(pid)).toBe(false);
    });
    expect(rig.logger.sentences('warn')).toHaveLength(1);
    expect((await beside).told).toBe(LOST);
    rig.clock.advance(1000);
    expect((await rig.run('folder')).error).toBe(null);
  });

  it('is ended with what it has started, whatever it makes of that', async () => {
    await using rig = await openMcp(program('stubborn'));
    const pids = JSON.parse(String((await rig.run('pids')).told)) as number[];
    expect(pids.map(isRunning)).toEqual([true, true]);
    const closing = rig.opened.close();
    await soon(() => {
      rig.clock.advance(500);
      expect(pids.map(isRunning)).toEqual([false, false]);
    });
    await closing;
  });

  it('is ended where nobody waits for its tools any more, before that is said', async () => {
    const file = join(await makeFolder(), 'pid');
    const clock = new FakeClock();
    const opening = openMcp({ ...program('deaf', file), startTimeoutMs: 3000 }, { clock });
    let isRefused = false;
    opening.catch(() => (isRefused = true));
    const pid = await soon(() => Number(readFileSync(file, 'utf8')));
    clock.advance(3000);
    const seen: boolean[] = [];
    await soon(() => {
      if (isRunning(pid)) clock.advance(10);
      expect(isRefused).toBe(true);
      seen.push(isRunning(pid));
    });
    expect(seen).toEqual([false]);
  });

  it('leaves nothing of what it has started when it ends by itself', async () => {
    await using rig = await openMcp(program('parent'));
    const pids = JSON.parse(String((await rig.run('pids')).told)) as number[];
    const closing = rig.opened.close();
    await soon(() => expect(pids.map(isRunning)).toEqual([false, false]));
    await closing;
  });

  it('is refused where it says nothing, or is not there', async () => {
    const clock = new FakeClock();
    const opening = openMcp({ ...program('silent'), startTimeoutMs: 3000 }, { clock });
    const refused = expect(opening).rejects.toThrow(
      'The MCP server program did not list its tools within 3 s (startTimeoutMs).',
    );
    await soon(() => expect(clock.pending).toBeGreaterThan(0));
    clock.advance(3000);
    await refused;
    await expect(openMcp({ command: '/no/such/program' })).rejects.toThrow(
      'The MCP server program cannot be reached. There is no such program, or no such folder (ENOENT). Check command and cwd of mcp().',
    );
    await expect(openMcp({ command: 'no-such-program orders.js' })).rejects.toThrow(
      'There is no such program (ENOENT). command is the program alone: put its arguments in args.',
    );
    await expect(openMcp({ command: 'no-such-program' })).rejects.toThrow(
      'The MCP server no-such-program cannot be reached. There is no such program (ENOENT). It inherits no PATH: name PATH in env, or give the whole path as command.',
    );
    await expect(openMcp({ command: process.execPath, args: ['-e', 'process.exit(1)'] })).rejects.toThrow(
      /^The MCP server node did not list its tools\. Check command, args and env of mcp\(\); its standard error is logged at level debug\.$/,
    );
  });

  it.each<[string, string, RegExp]>([
    [
      'its last line, whole or not',
      'console.error("first");process.stderr.write("no\\tshop")',
      /It wrote: "no shop"$/,
    ],
    [
      'the error rather than what is behind it',
      'throw new TypeError("no shop")',
      /It wrote: "TypeError: no shop"$/,
    ],
    [
      'it escaped',
      String.raw`console.error('\u001b[31mno "shop"\u009b\u202e')`,
      /It wrote: "\[31mno \\"shop\\""$/,
    ],
    ['it bounded', 'console.error("x".repeat(100_000))', /It wrote: "x{200}"$/],
    [
      'it without keys',
      'console.error("denied:", process.env.SHOP_KEY, process.argv[1].slice(6), ...process.argv.slice(3))',
      /It wrote: "denied: \[SHOP_KEY\] \[key\] \[token\] \[args\[6\]\]"$/,
    ],
  ])('says why it ended with its standard error: %s', async (_, code, message) => {
    const env = { SHOP_KEY: 'abc-secret', PATH: process.env.PATH ?? '' };
    const keys = ['--key=def-secret', '--token', 'ghi-secret', 'db://shop:jkl-secret@db'];
    const failing = openMcp({ command: process.execPath, args: ['-e', code, '--', ...keys], env });
    await expect(failing).rejects.toThrow(message);
  });

  it('says what it wrote where it does not list its tools in time', async () => {
    const clock = new FakeClock();
    const logger = new RecordedLogger();
    const code = 'console.error("waiting for the shop"); setTimeout(() => {}, 60_000)';
    const opening = openMcp(
      { command: process.execPath, args: ['-e', code], startTimeoutMs: 3000 },
      { clock, logger },
    );
    const refused = expect(opening).rejects.toThrow(
      /within 3 s \(startTimeoutMs\)\. It wrote: "waiting for the shop"$/,
    );
    await soon(() => expect(logger.text).toContain('waiting'));
    clock.advance(3000);
    await soon(() => {
      clock.advance(500);
      expect(clock.pending).toBe(0);
    });
    await refused;
  });
});
