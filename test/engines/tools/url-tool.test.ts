import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { resultOf, toToolCall } from '../../../src/conversation/tools.js';
import { called, NO_TURNS, toolSettled } from '../../../src/conversation/turns.js';
import { OperatorEndpoint } from '../../../src/engines/responder/operator-endpoint.js';
import type { JsonObject } from '../../../src/providers/language-model.js';
import { FakeClock } from '../../support/fake-clock.js';
import { A_CALL } from '../a-call.js';
import { answers, OperatorServer } from '../operator-server.js';
import { soon } from '../../support/soon.js';
import { toolBoxWith } from './tool-box-rig.js';

const until = (condition: () => boolean) => soon(() => expect(condition()).toBe(true));

function run(url: string, clock = new FakeClock(), args: JsonObject = { day: 'Friday' }) {
  const parameters = { type: 'object', properties: { day: { type: 'string' } } };
  const { box, start } = toolBoxWith({ parameters, url }, clock);
  const { call, run: running } = start(args);
  const at = () => ({ now: clock.now(), wall: clock.wallNow() });
  const { settlement } = running;
  let { turns } = called(NO_TURNS, [{ call, endsCall: false, joins: undefined, settlement }], at());
  running.onSettled((result) => {
    turns = toolSettled(turns, { id: 'tool-1', settlement: result, at: at() }).turns;
  });
  const state = () => {
    const tool = turns.tools['tool-1'];
    if (tool === undefined) throw new Error('nothing was called');
    return tool;
  };
  const done = {
    settled: running.settled,
    get resultText() {
      return resultOf(state());
    },
    get record() {
      return toToolCall('tool-1', state());
    },
  };
  return { box, done, clock };
}

describe('a tool that is an address', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('gets the call and the arguments, signed, and gives its answer', async () => {
    vi.stubEnv('OFFHOOK_WEBHOOK_SECRET', 'a secret');
    await using operator = await OperatorServer.start(answers('application/json', '{"booked":true}'));
    const { done } = run(operator.url);
    await done.settled;
    expect(done.resultText).toBe('{"booked":true}');
    expect(done.record.error).toBeNull();
    const [{ body = '', headers } = {}] = operator.received;
    expect(JSON.parse(body)).toEqual({
      ...A_CALL,
      idempotencyKey: 'c.tool-1',
      name: 'book',
      arguments: { day: 'Friday' },
    });
    const mac = createHmac('sha256', 'a secret').update(body).digest('hex');
    expect(headers?.['x-offhook-signature']).toBe(`sha256=${mac}`);
  });

  it('may answer with text, and with more than a model is given', async () => {
    await using operator = await OperatorServer.start(answers('text/plain', 'ab'.repeat(3_000_000)));
    const { done } = run(operator.url);
    await done.settled;
    expect(done.resultText.length).toBeLessThan(17_000);
    expect(done.resultText).toMatch(/^abab[\s\S]*cut off/);
    expect(done.record.error).toMatch(/too long/);
  });

  it.each<[string, string, string, number, RegExp]>([
    ['an error', 'text/plain', 'secret', 500, /status 500/],
    ['JSON that is none', 'application/json', '{"secret"', 200, /valid JSON/],
    ['HTML', 'text/html', '<p>secret</p>', 200, /neither JSON nor plain text/],
  ])('says so when the answer is %s', async (_, type, body, status, sentence) => {
    await using operator = await OperatorServer.start(answers(type, body, status));
    const { done } = run(operator.url);
    await done.settled;
    expect(done.record.error).toMatch(sentence);
    expect(done.resultText).toBe(JSON.stringify({ error: done.record.error }));
    expect(done.resultText).not.toContain('secret');
  });

  it('reads nothing of an answer that it does not understand, and leaves no connection behind', async () => {
    let closed = false;
    await using operator = await OperatorServer.start((response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.write('<p>');
      response.once('close', () => {
        closed = true;
      });
    });
    const { done } = run(operator.url);
    await done.settled;
    await until(() => closed);
    expect(done.record.error).toMatch(/neither JSON nor plain text/);
  });

  it('has the argument in its path where it has a place for it', async () => {
    await using operator = await OperatorServer.start(answers('text/plain', 'yes'));
    const { done } = run(`${operator.url}/days/{day}`);
    await done.settled;
    expect(done.resultText).toBe('yes');
    expect(operator.received[0]?.path).toMatch(/\/days\/Friday$/);
  });

  it.each([
    ['a name', 'localhost', 'http://{day}:PORT/'],
    ['an address', '127.0.0.1', 'http://{day}:PORT/'],
    ['an address in another form', '2130706433', 'http://{day}:PORT/'],
  ])('reaches no private host by %s that the model chose', async (_, day, template) => {
    await using operator = await OperatorServer.start(answers('text/plain', 'secret'));
    const { done } = run(template.replace('PORT', new URL(operator.url).port), new FakeClock(), { day });
    await done.settled;
    expect(done.record.error).toBe("The tool's address is not a public one.");
    expect(done.resultText).not.toContain('secret');
    expect(operator.received).toEqual([]);
  });

  it('tells whom the model has chosen whose call it is, and nothing of what is known of the caller', async () => {
    const post = vi.spyOn(OperatorEndpoint.prototype, 'post').mockRejectedValue(new Error('offline'));
    onTestFinished(() => post.mockRestore());
    await run('https://{day}.example.com/').done.settled;
    const [{ publicOnly, body } = { body: '{}' }] = post.mock.calls[0] ?? [];
    const { variables: _, ...told } = A_CALL;
    expect(publicOnly).toBe(true);
    expect(JSON.parse(body)).toEqual({
      ...told,
      idempotencyKey: 'c.tool-1',
      name: 'book',
      arguments: { day: 'Friday' },
    });
  });

  it('does not follow redirects', async () => {
    await using other = await OperatorServer.start();
    await using operator = await OperatorServer.start((response) => {
      response.writeHead(308, { location: other.url });
      response.end();
    });
    const { done } = run(operator.url);
    await done.settled;
    expect(done.record.error).toMatch(/redirect/);
    expect(other.received).toEqual([]);
  });

  it('is given up after its time, and when the call ends', async () => {
    await using operator = await OperatorServer.start(() => {});
    const slow = run(operator.url);
    await until(() => operator.received.length === 1);
    await slow.clock.advanceAsync(10_100);
    await slow.done.settled;
    expect(slow.done.record).toMatchObject({ error: 'The tool did not answer in time.', durationMs: 10_000 });
    const ended = run(operator.url);
    await until(() => operator.received.length === 2);
    ended.box.close();
    expect(ended.done.record.error).toMatch(/call ended/);
    await until(() => operator.cutOff === 2);
    expect(slow.clock.pending + ended.clock.pending).toBe(0);
  });
});
