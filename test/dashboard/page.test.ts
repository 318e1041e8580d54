import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPage, loadPage } from '../../src/dashboard/page.js';
import { type DashboardServer, errorCodeOf, send, startDashboard } from '../support/dashboard-server.js';
import { buildPage } from '../support/page-build.js';

describe('the page', () => {
  let server: DashboardServer;
  beforeAll(async () => {
    await buildPage();
    server = await startDashboard();
  });
  afterAll(() => server.close());

  it('is one file: nothing in it points outside', () => {
    const html = loadPage()?.html ?? '';
    const markup = html.replace(/<(script|style)[^>]*>[\s\S]*?<\/\1>/g, '');
    expect(markup.match(/<script|\b(src|srcset|action|on\w+)=|href="(?!data:)/g)).toBeNull();
    expect(html.match(/<script type="module">/g)).toHaveLength(1);
    expect(html.match(/@import|url\((?!["']?(data:|#))|\bimport\s*\(/g)).toBeNull();
    const addresses = html.match(/\b(https?:)?\/\/[\w.-]+\.\w+[^"'`\s]*/g) ?? [];
    // Names of XML dialects, never fetched.
    expect(addresses.filter((address) => !address.startsWith('http://www.w3.org/'))).toEqual([]);
  });

  it('stays small', () => {
    const html = loadPage()?.html ?? '';
    expect(html.length).toBeLessThan(160_000);
    expect(gzipSync(html).length).toBeLessThan(50_000);
  });

  it.each(['/', '/dashboard', '/?x=1'])('is served at %s, fenced in by its own hashes', async (path) => {
    const answer = await send(server.url + path);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    const policy = String(answer.headers['content-security-policy']);
    const [, script = ''] = /<script type="module">([\s\S]*?)<\/script>/.exec(answer.text) ?? [];
    expect(script.length).toBeGreaterThan(10_000);
    expect(policy).toContain(`script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`);
    const rules = policy.split('; ').filter((rule) => !/^(script|style)-src /.test(rule));
    expect(rules).toEqual([
      "default-src 'none'",
      "connect-src 'self'",
      "media-src 'self'",
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(answer.headers).toMatchObject({
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-store',
    });
  });

  it('leads a trailing slash back to where relative addresses hold', async () => {
    const answer = await send(`${server.url}/dashboard/`);
    expect([answer.status, answer.headers.location]).toEqual([308, '../dashboard']);
  });

  it('is gone when it is turned off, and the API is not', async () => {
    const bare = await startDashboard({ page: false });
    for (const path of ['/', '/dashboard']) {
      const answer = await send(bare.url + path);
      expect([path, answer.status, errorCodeOf(answer)]).toEqual([path, 404, 'NOT_FOUND']);
    }
    expect((await send(`${bare.url}/api/dashboard/aggregates`)).status).toBe(200);
    await bare.close();
  });

  it('allows nothing inline where there is nothing inline', () => {
    expect(createPage('<p>x</p>').headers['Content-Security-Policy']).toContain("script-src 'none'");
  });
});
