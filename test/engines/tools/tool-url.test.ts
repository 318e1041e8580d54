import { describe, expect, it } from 'vitest';
import { ToolError } from '../../../src/engines/tools/tool.js';
import { ToolUrl } from '../../../src/engines/tools/tool-url.js';

const made = (template: string, known: readonly string[] = ['order', 'shop']) =>
  new ToolUrl(template, { tool: 'look_up', known });
const filled = (template: string, args: object) => made(template).fill(args);

describe('ToolUrl', () => {
  it('stays as it is without places, whatever the arguments', () => {
    const { url, isForeign } = filled('http://10.0.0.5:8080/orders?full=1', { order: '7' });
    expect(url.href).toBe('http://10.0.0.5:8080/orders?full=1');
    expect(isForeign).toBe(false);
  });

  it('fills path and query, one segment each', () => {
    const { url, isForeign } = filled('https://shop.example.com/orders/{order}?of={shop}', {
      order: '../../admin?x=1#/',
      shop: 'Zürich & Co',
    });
    expect(url.href).toBe(
      'https://shop.example.com/orders/..%2F..%2Fadmin%3Fx%3D1%23%2F?of=Z%C3%BCrich%20%26%20Co',
    );
    expect(url.host).toBe('shop.example.com');
    expect(isForeign).toBe(false);
  });

  it('takes numbers and truth values', () => {
    expect(filled('https://example.com/{order}/{shop}', { order: 7, shop: true }).url.pathname).toBe(
      '/7/true',
    );
  });

  it('says that the model has chosen the host', () => {
    const { url, isForeign } = filled('https://{shop}.example.com/x', { shop: 'north' });
    expect(url.hostname).toBe('north.example.com');
    expect(isForeign).toBe(true);
    expect(filled('https://{shop}/x', { shop: '2130706433' }).url.hostname).toBe('127.0.0.1');
  });

  it.each<[string, object]>([
    ['https://example.com/{order}', {}],
    ['https://example.com/{order}', { order: '' }],
    ['https://example.com/{order}', { order: { id: 1 } }],
    ['https://example.com/{order}', { order: 'x'.repeat(501) }],
    ['https://example.com/{order}', { order: '..' }],
    ['https://example.com/{order}', { order: '.' }],
    ['https://example.com/{order}', { order: '\ud800' }],
    ['https://{shop}/', { shop: 'user@127.0.0.1' }],
    ['https://{shop}/', { shop: '127.0.0.1:22' }],
    ['https://{shop}/', { shop: 'a/b' }],
    ['https://{shop}/', { shop: '256.256.256.256' }],
  ])('refuses %s with %o', (template, args) => {
    expect(() => filled(template, args)).toThrow(ToolError);
  });

  it.each([
    'ftp://example.com/',
    'example.com',
    '{shop}://example.com/',
    'https://{shop}@example.com/',
    'https://user:{shop}@example.com/',
    'https://example.com:{shop}/',
    'https://example.com/{other}',
  ])('does not begin with %s', (template) => {
    expect(() => made(template)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  });
});
