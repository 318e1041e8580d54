import { describe, expect, it } from 'vitest';
import { NodeKiller, type NodeKillerOptions } from '../../../src/testing/demo/kill-nodes.js';
import { FakeClock } from '../../support/fake-clock.js';

type Stream = { path: string; playback: { lastSoundMs: number | undefined } };

/** One of a node, by its name, which is silent yet. */
const streamAt = (path: string): Stream => ({ path, playback: { lastSoundMs: undefined } });

function start(names: readonly string[]) {
  const clock = new FakeClock();
  const did: string[] = [];
  const lines: string[] = [];
  const nodes = names.map((name) => ({
    name,
    kill: async () => void did.push(`kill ${name}`),
    start: async () => void did.push(`start ${name}`),
  }));
  const legs: { isOver: boolean; stream: Stream | undefined }[] = [];
  const killer = new NodeKiller({
    clock,
    print: (line) => lines.push(line),
    simulator: { legs } as unknown as NodeKillerOptions['simulator'],
    cluster: { nodes, nodeOf: ({ path }) => nodes.find(({ name }) => name === path) },
  });
  const ring = (name: string) => {
    const leg = { isOver: false, stream: streamAt(name) as Stream | undefined };
    legs.push(leg);
    return leg;
  };
  const stopping = new AbortController();
  return { clock, did, lines, killer, ring, stopping };
}

describe('NodeKiller', () => {
  it('says where calls went on, and how long callers heard nobody', async () => {
    const { clock, lines, killer, ring, stopping } = start(['server 1', 'server 2', 'server 3']);
    const [one, two, over, silent, elsewhere] = [
      'server 1',
      'server 1',
      'server 1',
      'server 1',
      'server 2',
    ].map(ring);
    if (one?.stream) one.stream.playback.lastSoundMs = 100;
    const killing = killer.kill(stopping.signal);
    // The old stream was heard, and is not closed yet.
    await clock.advanceAsync(400);
    for (const leg of [one, two, over, silent]) if (leg) leg.stream = undefined;
    await clock.advanceAsync(400);
    if (one) one.stream = { ...streamAt('server 2'), playback: { lastSoundMs: 10 } };
    if (two) two.stream = streamAt('server 3');
    if (over) over.isOver = true;
    await clock.advanceAsync(1200);
    if (two?.stream) two.stream.playback.lastSoundMs = 10;
    await clock.advanceAsync(14_000);
    await killing;
    expect(lines).toEqual([
      'server 1 killed with 4 calls up: 1 ended, 1 not heard again, 1 went on at server 2, 1 went on at server 3, silence up to 2.0 s, back after 5.0 s',
    ]);
    expect(killer.summary()).toEqual(['kills       1, silence up to 2.0 s']);
    expect(elsewhere?.isOver).toBe(false);
  });

  it('takes one after the other', async () => {
    const { clock, did, lines, killer, stopping } = start(['server 1', 'server 2']);
    for (let count = 0; count < 3; count += 1) {
      const killing = killer.kill(stopping.signal);
      await clock.advanceAsync(5000);
      await killing;
    }
    const both = ['kill server 1', 'start server 1', 'kill server 2', 'start server 2'];
    expect(did).toEqual([...both, 'kill server 1', 'start server 1']);
    expect(lines[1]).toBe('server 2 killed with 0 calls up: back after 5.0 s');
    expect(killer.summary()).toEqual(['kills       3']);
  });

  it('does not start a node again where the demo ends', async () => {
    const { did, lines, killer, stopping, ring } = start(['server 1', 'server 2']);
    ring('server 1');
    const killing = killer.kill(stopping.signal);
    stopping.abort();
    await killing;
    expect([did, lines]).toEqual([['kill server 1'], []]);
  });
});
