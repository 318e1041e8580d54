import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import type { OnMessage } from '../../src/engines/responder/responder.js';
import { CallRig } from './call-rig.js';
import { soon } from '../support/soon.js';

const APOLOGY = /something went wrong/;

describe('a call whose onMessage', () => {
  it.each<[string, OnMessage]>([
    [
      'throws',
      () => {
        throw new Error('mine');
      },
    ],
    [
      'breaks in the middle',
      async function* () {
        yield 'We are open from eight to six. ';
        throw new Error('mine');
      },
    ],
    [
      'gives nothing but empty pieces, for ever',
      async function* () {
        for (;;) yield '';
      },
    ],
    ['returns what is not text', () => ({ text: 'Hello' }) as unknown as string],
  ])('%s costs a turn each time, and the call with the third in a row', async (_, onMessage) => {
    let isGood = false;
    const rig = await new CallRig({ onMessage: (data) => (isGood ? 'Fine.' : onMessage(data)) }).start();
    const ask = async () => {
      await rig.says('Hello?');
      await rig.quiet(8000);
      return rig.turns.at(-1)?.agentText;
    };
    expect(await ask()).toMatch(/something went wrong. Could you say that again\?$/);
    expect(await ask()).toMatch(APOLOGY);
    isGood = true;
    expect(await ask()).toBe('Fine.');
    isGood = false;
    expect(await ask()).toMatch(APOLOGY);
    expect(await ask()).toMatch(APOLOGY);
    expect(rig.ended).toEqual([]);
    expect(rig.facts.filter(({ type }) => type === 'incident.noted')).toHaveLength(4);
    await ask();
    expect(rig.voice.spoken.at(-1)).toMatch(/call again later/);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { code: 'PROVIDER_FAILED' } }]);
    rig.engine.close();
    expect(rig.clock.pending).toBe(0);
  });

  it('fails says so in the language of the agent, whatever it says when the call cannot go on', async () => {
    const onMessage: OnMessage = () => {
      throw new Error('mine');
    };
    const rig = await new CallRig({ onMessage, language: 'de-AT', apology: 'Bis bald.' }).start();
    await rig.says('Hallo?');
    await rig.quiet(8000);
    expect(rig.turns.at(-1)?.agentText).toMatch(/Könnten Sie das noch einmal sagen\?$/);
    for (let more = 0; more < 2; more += 1) {
      await rig.says('Hallo?');
      await rig.quiet(8000);
    }
    expect(rig.voice.spoken.at(-1)).toBe('Bis bald.');
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
  });

  it('breaks in a sentence has the apology alone said again behind a sound that cut it off', async () => {
    const onMessage: OnMessage = async function* () {
      yield 'We are open and';
      throw new Error('mine');
    };
    const rig = await new CallRig({ onMessage }).start();
    await rig.says('Hello?');
    await rig.quiet(600);
    await rig.voiced(700);
    await rig.quiet(8000);
    expect(rig.voice.spoken.length).toBeGreaterThan(2);
    expect(rig.voice.spoken.join(' ')).not.toContain('open');
  });

  it('fails is replaced at once where another engine can answer', async () => {
    const rig = new CallRig({ onMessage: () => Promise.reject(new Error('mine')), hasFallback: true });
    await rig.start();
    await rig.says('Hello?');
    await rig.quiet(1000);
    expect(rig.voice.spoken).toEqual([]);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
  });

  it('never answers apologizes after 30 s, and goes on', async () => {
    let signal: AbortSignal | undefined;
    const onMessage: OnMessage = (data) => {
      signal = data.signal;
      return new Promise(() => {});
    };
    const rig = await new CallRig({ onMessage }).start();
    await rig.says('Hello?');
    await rig.clock.advanceAsync(29_000);
    expect(signal?.aborted).toBe(false);
    await rig.clock.advanceAsync(9000);
    expect(signal?.aborted).toBe(true);
    expect(rig.turns).toMatchObject([{ userText: 'Hello?', agentText: expect.stringMatching(APOLOGY) }]);
    expect(rig.ended).toEqual([]);
  });

  it('never stops talking is cut off', async () => {
    let pieces = 0;
    const onMessage: OnMessage = async function* () {
      for (;;) {
        pieces += 1;
        yield 'More and more. ';
      }
    };
    const rig = await new CallRig({ onMessage }).start();
    await rig.says('Hello?');
    await rig.quiet(1000);
    expect(pieces).toBeLessThan(1000);
    expect(rig.ended).toEqual([]);
    rig.engine.close();
  });

  it('answers after the caller has gone on is not heard', async () => {
    const answers: ((text: string) => void)[] = [];
    const onMessage: OnMessage = () => new Promise((resolve) => void answers.push(resolve));
    const rig = await new CallRig({ onMessage }).start();
    await rig.says('What is the time?');
    await rig.says('No, the date.', 700);
    expect(answers).toHaveLength(2);
    answers[0]?.('It is noon.');
    await rig.quiet(500);
    expect(rig.voice.spoken).toEqual([]);
    answers[1]?.('It is the first of May.');
    await rig.quiet(3000);
    expect(rig.turns).toMatchObject([
      { userText: 'What is the time? No, the date.', agentText: 'It is the first of May.' },
    ]);
  });

  it('is a socket connects it with the start and closes it with the end', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await new Promise<void>((resolve) => server.once('listening', resolve));
    const url = new URL(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const until = (count: number) => soon(() => expect(server.clients.size).toBe(count));
    const rig = await new CallRig({ onMessage: url }).start();
    await until(1);
    rig.engine.close();
    await until(0);
    server.close();
  });

  it('answers has no tools', async () => {
    const rig = await new CallRig({
      onMessage: () => 'Hello.',
      transferTargets: { sales: '+15550123' },
    }).start();
    await rig.says('Hello?');
    await rig.quiet(1000);
    expect(rig.turns).toMatchObject([{ agentText: 'Hello.', toolCalls: [] }]);
  });
});
