import { describe, expect, it } from 'vitest';
import { mcp } from '../../../../src/engines/tools/mcp/mcp.js';
import { checkMcpOptions, type McpOptions } from '../../../../src/engines/tools/mcp/options.js';
import { loadMcpSdk } from '../../../../src/engines/tools/mcp/sdk.js';

const URL_ = 'https://shop.example.com/mcp?key=abc';

describe('mcp()', () => {
  it('is called after the host or the program, without what could be a key', () => {
    expect(mcp({ url: URL_ }).name).toBe('shop.example.com');
    expect(mcp({ command: '/usr/bin/node', args: ['--key=abc'] }).name).toBe('node');
    expect(mcp({ url: URL_, name: 'shop' }).name).toBe('shop');
  });

  it.each<[string, string[], string]>([
    ['/usr/bin/node', ['lib/orders.js', '--key', 'abc'], 'orders.js'],
    ['node', ['--import', './tracing.js', '--enable-source-maps', 'orders.mjs'], 'orders.mjs'],
    ['node', ['-e', 'run("abc")'], 'node'],
    ['node', ['--key=abc.js', 'abc def.js'], 'node'],
    ['python3.12', ['-u', 'orders.py'], 'orders.py'],
    ['python', ['-m', 'shop.orders'], 'shop.orders'],
    ['deno', ['run', '--allow-net', 'orders.ts'], 'orders.ts'],
    ['java', ['-jar', '/opt/orders.jar'], 'orders.jar'],
    ['npx', ['-y', '@shop/orders-server@1.2.0', '/srv'], 'orders-server'],
    ['npx.cmd', ['orders-server'], 'orders-server'],
    ['uvx', ['orders-server==1.2.0'], 'orders-server'],
    ['npx', ['--registry', 'abc', 'orders'], 'npx'],
    ['npx', ['https://abc@git.example.com/orders'], 'npx'],
    ['npx', [], 'npx'],
    ['orders', ['settings.js'], 'orders'],
  ])('is called after what an interpreter runs: %s %j', (command, args, name) => {
    expect(mcp({ command, args }).name).toBe(name);
  });

  it('has defaults', () => {
    expect(checkMcpOptions({ command: 'node' })).toEqual({
      name: 'node',
      server: { type: 'stdio', command: 'node', args: [], cwd: undefined, env: {} },
      allow: undefined,
      prefix: '',
      timeoutMs: 10_000,
      startTimeoutMs: 10_000,
    });
  });

  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /mcp\(\) takes an object, such as \{ url: '/],
    ['neither address nor program', {}, /needs url, the address of a server, or command, a program/],
    ['both', { url: URL_, command: 'node' }, /takes url or command: one, not both/],
    ['a strange name', { url: URL_, allowed: [] }, /no option "allowed". Did you mean allow\?/],
    ['another scheme', { url: 'ftp://a' }, /must begin with http/],
    ['a password', { url: 'https://a:secret@b' }, /must not contain a password/],
    ['a program with headers', { command: 'node', headers: {} }, /headers of mcp\(\) goes with url only/],
    ['an address with arguments', { url: URL_, args: [] }, /args of mcp\(\) goes with command only/],
    ['an address with an environment', { url: URL_, env: {} }, /env of mcp\(\) goes with command only/],
    [
      'start headers beside headers',
      { url: URL_, headers: {}, startHeaders: {} },
      /function in headers only/,
    ],
    [
      'a header of the protocol',
      { url: URL_, headers: { 'Mcp-Session-Id': 'a' } },
      /which the protocol sets/,
    ],
    ['a header that is none', { url: URL_, headers: { a: 'b\r\nc: d' } }, /"a" that is no HTTP header/],
    ['a header name that is none', { url: URL_, headers: { 'a b': 'c' } }, /"a b" that is no HTTP header/],
    ['headers that are none', { url: URL_, headers: 'a' }, /headers of mcp\(\) must be an object/],
    ['arguments that are no list', { command: 'node', args: 'a' }, /args of mcp\(\) must be a list/],
    ['an environment of numbers', { command: 'node', env: { A: 1 } }, /entry "A" is not/],
    ['an environment that is none', { command: 'node', env: ['A'] }, /env of mcp\(\) must be an object/],
    [
      'a name that is none in the environment',
      { command: 'node', env: { 'A=B': 'c' } },
      /entry "A=B" is not/,
    ],
    ['an empty list of names', { url: URL_, allow: [] }, /allow of mcp\(\) must be a list of one or more/],
    ['names that are none', { url: URL_, allow: [1] }, /allow of mcp\(\) must be a list/],
    ['a strange prefix', { url: URL_, prefix: 'a.' }, /prefix of mcp\(\)/],
    ['a strange name of its own', { url: URL_, name: 'a b' }, /name of mcp\(\)/],
    [
      'a long time',
      { url: URL_, timeoutSeconds: 121 },
      /timeoutSeconds of mcp\(\) must be a number, from 0.1 to 120/,
    ],
    [
      'a short start',
      { url: URL_, startTimeoutMs: 1 },
      /startTimeoutMs of mcp\(\) must be a number, from 100/,
    ],
  ])('refuses %s', (_, options, why) => {
    expect(() => mcp(options as McpOptions)).toThrow(why);
  });

  it('shows no value of a header or variable that it refuses', () => {
    for (const options of [
      { url: URL_, headers: { a: 'secret\n' } },
      { command: 'node', env: { A: 'secret\0' } },
    ])
      expect(() => mcp(options)).toThrow(
        expect.not.objectContaining({ message: expect.stringContaining('secret') }),
      );
  });

  it('says what to install where the package is missing', async () => {
    await expect(loadMcpSdk(() => Promise.reject(new Error('ERR_MODULE_NOT_FOUND')))).rejects.toMatchObject({
      code: 'CONFIG_MISSING',
      message:
        'mcp() needs the package @modelcontextprotocol/client: npm install @modelcontextprotocol/client',
    });
  });
});
