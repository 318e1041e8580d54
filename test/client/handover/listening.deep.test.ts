// Somebody who listens in to a call as it moves to the next process, each of them a process of its own.
import { describe, expect, it } from 'vitest';
import { SIMULATED_CARRIERS } from '../../../src/contract/call-record.js';
import { asksUpon } from '../../support/asking-caller.js';
import { eventually } from '../../support/carrier-phone.js';
import { Deploy } from '../../support/deploy.js';

const TOKEN = 'a-token-of-16-or-more';
const OFFERED = { dashboardToken: TOKEN, listenIn: true };
const WAV_HEADER_BYTES = 44;
/** Below it is no speech: 16-bit samples. */
const LOUD = 1000;

function ask(port: number, callId: string, method = 'GET'): Promise<Response> {
  const url = `http://127.0.0.1:${port}/api/dashboard/calls/${callId}/listen`;
  return fetch(url, { method, headers: { authorization: `Bearer ${TOKEN}` } });
}

/** What has come of a stream so far; `over` resolves as it ends. */
function collect({ body }: Response) {
  const pieces: Uint8Array[] = [];
  const read = async () => {
    for await (const piece of body ?? []) pieces.push(piece);
  };
  /** How loud each side was at its loudest. */
  const peaks = (): [caller: number, agent: number] => {
    const bytes = Buffer.concat(pieces).subarray(WAV_HEADER_BYTES);
    const loudest: [number, number] = [0, 0];
    for (let at = 0; at + 4 <= bytes.length; at += 4)
      for (const side of [0, 1] as const)
        loudest[side] = Math.max(loudest[side], Math.abs(bytes.readInt16LE(at + 2 * side)));
    return loudest;
  };
  return { over: read(), peaks };
}

describe.each(SIMULATED_CARRIERS)('who listens in to a call that moves to the next process, on %s', (id) => {
  it('is told the end of the stream, and hears both sides from the next one', async () => {
    await using deploy = await Deploy.on(id);
    const old = await deploy.fork({}, OFFERED);
    deploy.proxy.switchTo(old.port);
    const hasMoved = new AbortController();
    const calling = deploy.simulator.call({ script: asksUpon(hasMoved.signal) });
    const { callId } = await eventually('the call', () =>
      old.facts.find(({ type }) => type === 'call.started'),
    );
    expect((await ask(old.port, callId, 'HEAD')).status).toBe(200);
    const first = collect(await ask(old.port, callId));
    await eventually('the greeting', () => (first.peaks()[1] > LOUD ? true : undefined));
    const next = await deploy.fork({}, OFFERED);
    deploy.proxy.switchTo(next.port);
    await first.over;
    await eventually('the reason', () => (old.log.join('').includes('"reason":"moved"') ? true : undefined));
    const again = await eventually('the stream of the next process', async () => {
      const answer = await ask(next.port, callId);
      if (answer.status === 200) return answer;
      expect(answer.status).toBe(409);
      await answer.text();
      return undefined;
    });
    const second = collect(again);
    hasMoved.abort();
    await calling;
    await second.over;
    expect(second.peaks()[0]).toBeGreaterThan(LOUD);
    expect(second.peaks()[1]).toBeGreaterThan(LOUD);
    expect((await ask(next.port, callId, 'HEAD')).status).toBe(409);
    await eventually('the end', () => next.ended[0]);
    expect(next.ended.map((record) => [record.callId, record.endReason])).toEqual([
      [callId, 'caller-hangup'],
    ]);
  });
});
