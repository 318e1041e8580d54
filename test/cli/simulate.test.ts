import { describe, expect, it } from 'vitest';
import { runCli } from '../../src/cli/program.js';

async function run(...args: string[]) {
  const out: string[] = [];
  const errors: string[] = [];
  const code = await runCli(args, {
    out: (text) => out.push(text),
    error: (text) => errors.push(text),
    signal: new AbortController().signal,
  });
  return { code, out: out.join('\n'), errors: errors.join('\n') };
}

describe('offhook simulate', () => {
  it.each([
    [['--carrier', 'carrier-c'], /carrier-a, carrier-b/],
    [['--carrier', 'carrier-b', '--auth-token', 'x'], /--auth-token belongs to --carrier carrier-a/],
    [['--api-port', '8011'], /--api-port belongs to --carrier carrier-b/],
    [['--private-key', 'x'], /--private-key belongs to --carrier carrier-b/],
    [['--carrier', 'carrier-b', '--api-key', 'x', '--private-key', 'short'], /32 bytes in base64/],
    [['--carrier', 'carrier-b'], /--api-key, or CARRIER_B_API_KEY/],
    [['--carrier', 'carrier-b', '--api-port', '0'], /from 1 to 65535/],
  ])('calls %j a usage error', async (args, sentence) => {
    const { code, errors } = await run('simulate', ...args);
    expect(errors).toMatch(sentence);
    expect(code).toBe(2);
  });

  it('says what either carrier takes', async () => {
    expect((await run('simulate', '--help')).out).toMatch(/--carrier[\s\S]*--auth-token[\s\S]*--api-port/);
  });
});
