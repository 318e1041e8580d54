import { readdirSync, readFileSync } from 'node:fs';
import { constants, getPriority } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Encoder } from '../../src/recordings/encoder.js';
import { FakeClock } from '../support/fake-clock.js';
import { level, makeFolder, openTape, play } from './rig.js';

/** Undefined for a thread that has ended meanwhile, of this file or of one before it. */
function statOf(id: string): string | undefined {
  try {
    return readFileSync(`/proc/self/task/${id}/stat`, 'latin1');
  } catch {
    return undefined;
  }
}

/** The niceness of each thread of this process, by its ID. */
function threads(): Map<string, number> {
  const stats = readdirSync('/proc/self/task').flatMap((id) => {
    const stat = statOf(id);
    if (stat === undefined) return [];
    // Behind the name, which may hold anything: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    return [[id, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])] as const];
  });
  return new Map(stats);
}

/** Makes a recording of a tape; the threads that have come since the encoder was there. */
async function rig() {
  const folder = await makeFolder();
  const { tape } = openTape(folder);
  play(tape);
  tape.caller(level(0x10, 20), 20);
  tape.end(20);
  await tape.closed;
  const clock = new FakeClock();
  const encoder = new Encoder(clock);
  onTestFinished(() => encoder.close());
  const path = join(folder, 'call.wav');
  const job = {
    callId: 'call-1',
    tapes: [join(folder, 'call-1.1.tape')],
    path,
    part: `${path}.part`,
    key: undefined,
  };
  return { clock, encoder, encode: () => encoder.encode(job) };
}

describe.runIf(process.platform === 'linux')('the thread that makes recordings', () => {
  const low = () =>
    [...threads()].filter(([, niceness]) => niceness === constants.priority.PRIORITY_LOW).map(([id]) => id);

  it('gives way to the calls, stays for the next one, and ends when there has been none for a while', async () => {
    expect(getPriority()).toBeLessThan(constants.priority.PRIORITY_LOW);
    // The system may still have that of a file before this one, which has ended.
    await expect.poll(low).toEqual([]);
    const { clock, encode } = await rig();
    expect(await encode()).toMatchObject({ durationMs: 20, trouble: undefined });
    const [thread, ...others] = low();
    expect(thread).toBeDefined();
    expect(others).toEqual([]);
    expect(getPriority()).toBeLessThan(constants.priority.PRIORITY_LOW);
    clock.advance(9000);
    expect(await encode()).toMatchObject({ durationMs: 20 });
    clock.advance(9000);
    expect(low()).toEqual([thread]);
    clock.advance(1000);
    await expect.poll(low).toEqual([]);
    expect(await encode()).toMatchObject({ durationMs: 20 });
    expect(low()).not.toEqual([thread]);
  });

  it('ends with the encoder', async () => {
    const { encode, encoder } = await rig();
    await encode();
    await encoder.close();
    await expect.poll(low).toEqual([]);
    expect(await encode()).toBeUndefined();
  });
});
