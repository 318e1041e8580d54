// Servers on Streamable HTTP, made with the official SDK: what is listed, run, and left out.
import type { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, it, vi } from 'vitest';
import { RecordedLogger } from '../../../support/recorded-logger.js';
import { serveMcp } from '../../../support/mcp-server.js';
import { soon } from '../../../support/soon.js';
import { addEcho, openMcp } from './mcp-rig.js';

const LOST = 'The server of the tool was lost before it answered. It may have been done.';
const UNREACHABLE = 'The server of the tool cannot be reached.';

/** A tool that gives this, whatever it was asked for. */
function addGiving(server: McpServer, name: string, give: () => Promise<unknown> | unknown): void {
  server.registerTool(name, { description: name }, (async () => give()) as never);
}

describe.each(['sessions', 'modern'] as const)('an MCP server of the kind %s', (kind) => {
  it('has its tools listed as the model is offered them, and run', async () => {
    await using server = await serveMcp({ equip: addEcho, kind });
    await using rig = await openMcp({ url: server.url });
    expect(rig.opened.tools.map(({ definition }) => definition)).toEqual([
      {
        name: 'echo',
        description: 'Says it again.',
        // A word that nobody enforces here stays: the server checks its own arguments.
        parameters: {
          type: 'object',
          properties: { text: { type: 'string', format: 'uri-reference' } },
          required: ['text'],
        },
      },
    ]);
    expect(await rig.run('echo', { text: 'hello' })).toEqual({ told: 'You said hello', error: null });
  });

  it('checks the arguments itself, and the model is told its complaint', async () => {
    await using server = await serveMcp({ equip: addEcho, kind });
    await using rig = await openMcp({ url: server.url });
    const { told, error } = await rig.run('echo', { text: 5 });
    expect(told).toMatch(/text/);
    expect(error).toMatch(/^The (tool reported an error|server of the tool refused the call)\.$/);
  });

  it('gets the static headers of all requests', async () => {
    await using server = await serveMcp({ equip: addEcho, kind });
    await using rig = await openMcp({ url: server.url, headers: { Authorization: 'Bearer abc' } });
    await rig.run('echo', { text: 'hello' });
    expect(server.requests.length).toBeGreaterThan(2);
    expect(server.requests.every(({ headers }) => headers.authorization === 'Bearer abc')).toBe(true);
    expect(rig.logger.text).not.toContain('abc');
  });

  it('gets headers of each call, with its variables, in a session of the call that ends with it', async () => {
    await using server = await serveMcp({ equip: addEcho, kind });
    const headers = vi.fn(({ variables }) => ({ 'X-Customer': String(variables.customer) }));
    await using rig = await openMcp({ url: server.url, headers, startHeaders: { 'X-Start': 'yes' } });
    expect(headers).not.toHaveBeenCalled();
    expect(server.requests.every(({ headers: had }) => had['x-start'] === 'yes')).toBe(true);
    const listed = server.requests.length;
    await rig.run('echo', { text: 'one' });
    await rig.run('echo', { text: 'two' });
    await rig.run('echo', { text: 'other' }, { call: { callId: 'c2', variables: { customer: 1 } } });
    expect(headers).toHaveBeenCalledTimes(2);
    expect(headers.mock.calls[0]?.[0]).toEqual({
      callId: 'c1',
      direction: 'inbound',
      caller: '+15550100',
      callee: '+15550123',
      agent: null,
      variables: { customer: 4711 },
    });
    const called = server.requests.slice(listed);
    expect(called.every(({ headers: had }) => had['x-start'] === undefined)).toBe(true);
    const customers = called
      .filter(({ rpc }) => rpc === 'tools/call')
      .map(({ headers: had }) => had['x-customer']);
    expect(customers).toEqual(['4711', '4711', '1']);
    if (kind === 'modern') return;
    expect(server.servers.size).toBe(2);
    rig.opened.tools[0]?.release?.('c1');
    await soon(() => expect(server.servers.size).toBe(1));
    await rig.opened.close();
    expect(server.servers.size).toBe(0);
  });

  it('keeps no socket, at any time, and no session behind the end', async () => {
    await using server = await serveMcp({ equip: addEcho, kind });
    await using rig = await openMcp({ url: server.url });
    await rig.run('echo', { text: 'hello' });
    await soon(() => expect(server.sockets.size).toBe(0));
    await rig.opened.close();
    expect(server.servers.size).toBe(0);
    expect(server.requests.filter(({ method }) => method === 'GET')).toEqual([]);
    expect(rig.clock.pending).toBe(0);
    expect(await rig.run('echo', { text: 'hello' })).toMatchObject({ error: UNREACHABLE });
  });
});

describe('what an MCP tool gives', () => {
  const giving = async (content: unknown, more: object = {}) => {
    await using server = await serveMcp({
      equip: (made) => addGiving(made, 'give', () => ({ content, ...more })),
    });
    await using rig = await openMcp({ url: server.url });
    return await rig.run('give');
  };
  const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };

  it('is its text, with a note of all that is none', async () => {
    expect(await giving([{ type: 'text', text: 'Two rooms.' }, image])).toEqual({
      told: '[1 image was left out.]\nTwo rooms.',
      error: null,
    });
    const link = { type: 'resource_link', uri: 'file:///a', name: 'a' };
    const resource = { type: 'resource', resource: { uri: 'file:///a', text: 'secret' } };
    expect((await giving([image, image, link, resource])).told).toBe(
      '[2 images and 1 link and 1 resource were left out.]',
    );
  });

  it('is its structure where there is no text, and nothing where there is nothing', async () => {
    expect((await giving([], { structuredContent: { rooms: 2 } })).told).toBe('{"rooms":2}');
    expect((await giving([])).told).toBeUndefined();
  });

  it('is an error where the tool says so, whose words only the model gets', async () => {
    expect(await giving([{ type: 'text', text: 'No such\u0007 room' }], { isError: true })).toEqual({
      told: 'No such  room',
      error: 'The tool reported an error.',
    });
  });

  it('is bounded: a long text is cut, and an enormous one not read', async () => {
    const { told } = await giving([{ type: 'text', text: 'x'.repeat(100_000) }]);
    expect(String(told)).toHaveLength(16_385);
    expect(await giving([{ type: 'text', text: 'x'.repeat(2_000_000) }])).toEqual({
      told: 'The answer of the tool was too large.',
      error: 'The answer of the tool was too large.',
    });
  });

  it('has no control characters', async () => {
    expect((await giving([{ type: 'text', text: 'a\u001b[2Jb\nc\td\u0000' }])).told).toBe('a [2Jb\nc\td ');
  });
});

describe('an MCP server in trouble', () => {
  it('is one sentence when it dies during a call, and is asked again after a pause that grows', async () => {
    let arrived = () => {};
    const called = new Promise<void>((resolve) => (arrived = resolve));
    const equip = (made: McpServer) => {
      addEcho(made);
      addGiving(made, 'hang', () => {
        arrived();
        return new Promise(() => {});
      });
    };
    await using server = await serveMcp({ equip });
    await using rig = await openMcp({ url: server.url });
    const running = rig.run('hang');
    await called;
    await server.kill();
    expect(await running).toEqual({ told: LOST, error: LOST });
    await server.revive();
    // Nobody asks at once.
    const before = server.requests.length;
    expect((await rig.run('echo', { text: 'a' })).told).toBe(UNREACHABLE);
    expect(server.requests.length).toBe(before);
    rig.clock.advance(1000);
    expect((await rig.run('echo', { text: 'a' })).told).toBe('You said a');
    await server.kill();
    expect((await rig.run('echo', { text: 'a' })).told).toBe(UNREACHABLE);
    rig.clock.advance(1000);
    expect((await rig.run('echo', { text: 'a' })).told).toBe(UNREACHABLE);
    await server.revive();
    rig.clock.advance(1000);
    expect((await rig.run('echo', { text: 'a' })).told).toBe(UNREACHABLE);
    rig.clock.advance(1000);
    expect((await rig.run('echo', { text: 'a' })).told).toBe('You said a');
    expect(rig.logger.lines.filter(({ level }) => level === 'warn').map(({ fields }) => fields)).toEqual([
      { server: expect.any(String), trouble: 'ended', status: null, retryAfterMs: 1000 },
      { server: expect.any(String), trouble: 'unreachable', status: null, retryAfterMs: 1000 },
      { server: expect.any(String), trouble: 'unreachable', status: null, retryAfterMs: 2000 },
    ]);
  });

  it('gets a new session when it has forgotten the old one, and the call is made there', async () => {
    await using server = await serveMcp({ equip: addEcho });
    await using rig = await openMcp({ url: server.url });
    server.forget();
    expect((await rig.run('echo', { text: 'a' })).told).toBe('You said a');
    expect(server.opened).toBe(2);
  });

  it('is left when it hangs and shows no sign of life', async () => {
    let hangs = false;
    await using server = await serveMcp({ equip: addEcho, intercept: () => hangs });
    await using rig = await openMcp({ url: server.url });
    hangs = true;
    const late = new AbortController();
    const running = rig.run('echo', { text: 'a' }, { signal: late.signal });
    await soon(() => expect(server.requests.at(-1)?.rpc).toBe('tools/call'));
    late.abort();
    await running.catch(() => {});
    await soon(() => expect(server.requests.map(({ rpc }) => rpc)).toContain('ping'));
    rig.clock.advance(5000);
    await soon(() => expect(rig.logger.sentences('warn')).toHaveLength(1));
    hangs = false;
    rig.clock.advance(1000);
    expect((await rig.run('echo', { text: 'a' })).told).toBe('You said a');
    expect(server.opened).toBe(2);
  });

  it('keeps its session when it was only slow', async () => {
    let isSlow = true;
    await using server = await serveMcp({
      equip: (made) => {
        addEcho(made);
        addGiving(made, 'slow', () => (isSlow ? new Promise(() => {}) : { content: [] }));
      },
    });
    await using rig = await openMcp({ url: server.url });
    const late = new AbortController();
    const running = rig.run('slow', {}, { signal: late.signal });
    await soon(() => expect(server.requests.at(-1)?.rpc).toBe('tools/call'));
    late.abort();
    await running.catch(() => {});
    await soon(() => expect(server.requests.map(({ rpc }) => rpc)).toContain('ping'));
    // It has answered.
    await soon(() => expect(rig.clock.pending).toBe(0));
    // Nobody reads what it may still say.
    await soon(() => expect(server.sockets.size).toBe(0));
    isSlow = false;
    rig.clock.advance(60_000);
    expect((await rig.run('echo', { text: 'a' })).told).toBe('You said a');
    expect(server.opened).toBe(1);
  });

  it.each([
    [
      'no JSON',
      'application/json',
      '{nonsense',
      'The server of the tool gave an answer that cannot be read.',
    ],
    ['another type', 'text/html', '<p>hello', 'The server of the tool gave an answer that cannot be read.'],
    ['a stream without an answer', 'text/event-stream', 'data: {"a":1}\n\n', LOST],
    [
      'a result that is none',
      'application/json',
      '{"jsonrpc":"2.0","id":ID,"result":{"content":5}}',
      'The server of the tool gave an answer that cannot be read.',
    ],
  ])('is one sentence when it answers with %s', async (_, type, text, sentence) => {
    await using server = await serveMcp({
      equip: addEcho,
      intercept(_request, response, body) {
        if (!body.includes('tools/call')) return false;
        const { id } = JSON.parse(body) as { id: number };
        response.writeHead(200, { 'content-type': type }).end(text.replace('ID', String(id)));
        return true;
      },
    });
    await using rig = await openMcp({ url: server.url });
    expect(await rig.run('echo', { text: 'a' })).toEqual({ told: sentence, error: sentence });
  });

  it('is one sentence when it refuses, and shows nothing of its answer', async () => {
    await using server = await serveMcp({
      equip: addEcho,
      intercept(_request, response, body) {
        if (!body.includes('tools/call')) return false;
        response.writeHead(403).end('<script>secret');
        return true;
      },
    });
    await using rig = await openMcp({ url: server.url });
    const sentence = 'The server of the tool refused the request.';
    expect(await rig.run('echo', { text: 'a' })).toEqual({ told: sentence, error: sentence });
    expect(rig.logger.text).not.toContain('secret');
  });

  it('is not followed to another host', async () => {
    await using other = await serveMcp({ equip: addEcho });
    await using server = await serveMcp({
      equip: addEcho,
      intercept(_request, response) {
        response.writeHead(307, { location: other.url }).end();
        return true;
      },
    });
    await expect(openMcp({ url: server.url })).rejects.toThrow(/did not list its tools/);
    expect(other.requests).toEqual([]);
  });

  it('holds nobody up whose headers never come', async () => {
    await using server = await serveMcp({ equip: addEcho });
    await using rig = await openMcp({ url: server.url, headers: () => new Promise(() => {}) });
    const late = new AbortController();
    const running = rig.run('echo', { text: 'a' }, { signal: late.signal });
    late.abort();
    expect((await running).error).toBe(UNREACHABLE);
    await rig.opened.close();
    expect(rig.clock.pending).toBe(0);
  });

  it('is not asked where the headers of a call are wrong, and what they threw is thrown', async () => {
    await using server = await serveMcp({ equip: addEcho });
    const headers = vi.fn((): never => {
      throw new Error('no token');
    });
    await using rig = await openMcp({ url: server.url, headers });
    await expect(rig.run('echo', { text: 'a' })).rejects.toThrow('no token');
    await expect(rig.run('echo', { text: 'a' })).rejects.toThrow('no token');
    await using other = await openMcp({ url: server.url, headers: () => ({ Host: 'a' }) });
    await expect(other.run('echo', { text: 'a' })).rejects.toThrow(/must not contain "Host"/);
  });
});

describe('the list of an MCP server', () => {
  const equip = (made: McpServer) => {
    for (const name of ['search_orders', 'admin.delete']) addEcho(made, name);
  };

  it('is read once: what the server adds later is not offered, and cannot be called', async () => {
    await using server = await serveMcp({ equip });
    await using rig = await openMcp({ url: server.url, allow: ['search_orders'] });
    expect(rig.names).toEqual(['search_orders']);
    const before = rig.opened.tools;
    for (const made of server.servers.values()) {
      addEcho(made, 'later');
      made.sendToolListChanged();
    }
    await rig.run('search_orders', { text: 'a' });
    server.forget();
    await rig.run('search_orders', { text: 'a' });
    expect(rig.opened.tools).toBe(before);
    expect(server.requests.filter(({ rpc }) => rpc === 'tools/list')).toHaveLength(1);
  });

  it('has names as models take them, with the prefix', async () => {
    await using server = await serveMcp({ equip });
    await using rig = await openMcp({ url: server.url, prefix: 'shop_' });
    expect(rig.names).toEqual(['shop_search_orders', 'shop_admin_delete']);
    expect((await rig.run('shop_admin_delete', { text: 'a' })).told).toBe('You said a');
  });

  it('is refused where it has not what is allowed', async () => {
    await using server = await serveMcp({ equip });
    await expect(openMcp({ url: server.url, name: 'shop', allow: ['search_order'] })).rejects.toThrow(
      'allow of mcp() names "search_order", which the MCP server shop does not have. It has: "search_orders", "admin.delete".',
    );
    await soon(() => expect(server.servers.size).toBe(0));
  });

  it('is read page by page, and not without end', async () => {
    let pages = 0;
    await using server = await serveMcp({
      equip,
      intercept(_request, response, body) {
        if (!body.includes('tools/list')) return false;
        const { id } = JSON.parse(body) as { id: number };
        pages += 1;
        const tools = [{ name: `tool_${pages}`, inputSchema: { type: 'object' } }];
        const result = { tools, ...(pages < 3 || pages > 3 ? { nextCursor: String(pages) } : {}) };
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
        return true;
      },
    });
    await using rig = await openMcp({ url: server.url });
    expect(rig.names).toEqual(['tool_1', 'tool_2', 'tool_3']);
    await expect(openMcp({ url: server.url })).rejects.toThrow(/lists more than 1000 tools/);
    expect(pages).toBe(103);
  });

  it('has a limit on time', async () => {
    await using server = await serveMcp({
      equip,
      intercept: (_request, _response, body) => body.includes('tools/list'),
    });
    const { FakeClock } = await import('../../../support/fake-clock.js');
    const clock = new FakeClock();
    const opening = openMcp({ url: server.url, name: 'shop', startTimeoutMs: 3000 }, { clock });
    const refused = expect(opening).rejects.toThrow(
      'The MCP server shop did not list its tools within 3 s (startTimeoutMs).',
    );
    await soon(() => expect(server.requests.at(-1)?.rpc).toBe('tools/list'));
    clock.advance(3000);
    // What is left then is the goodbye, which the server does not get in the way of.
    await refused;
    await soon(() => expect(server.sockets.size).toBe(0));
    expect(clock.pending).toBe(0);
  });

  it('is given up when nobody waits for it any more', async () => {
    await using server = await serveMcp({ equip, intercept: () => true });
    const abort = new AbortController();
    const opening = openMcp({ url: server.url }, { signal: abort.signal });
    const refused = expect(opening).rejects.toThrow(/cannot be reached/);
    await soon(() => expect(server.requests).not.toEqual([]));
    abort.abort();
    await refused;
    await soon(() => expect(server.sockets.size).toBe(0));
  });

  it('is refused where nobody answers', async () => {
    await using server = await serveMcp({ equip });
    await server.kill();
    const logger = new RecordedLogger();
    await expect(openMcp({ url: server.url, name: 'shop' }, { logger })).rejects.toThrow(
      'The MCP server shop cannot be reached. Check url and headers of mcp().',
    );
    // The error says it all: nothing is tried again.
    expect(logger.lines).toEqual([]);
  });
});
