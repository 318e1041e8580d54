import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { document, element, escapeXml } from '../../../src/carriers/carrier-a/xml.js';

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** What an XML reader makes of an attribute value. */
function read(value: string): string {
  return value
    .replace(/[\t\n\r]/g, ' ')
    .replace(/&(?:#(\d+)|(\w+));/g, (_, code?: string, name?: string) =>
      code === undefined ? (NAMED[name ?? ''] ?? '?') : String.fromCodePoint(Number(code)),
    );
}

/** Characters that XML 1.0 can hold. Source: its production 2, Char. */
function isXmlCharacter(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd;
  return !(code >= 0xd800 && code <= 0xdfff) && code !== 0xfffe && code !== 0xffff;
}

describe('escapeXml', () => {
  it.each([
    ['<a b="c">\'&', '&lt;a b=&quot;c&quot;&gt;&apos;&amp;'],
    ['&amp;', '&amp;amp;'],
    [']]>', ']]&gt;'],
    ['a\tb\r\nc', 'a&#9;b&#13;&#10;c'],
    ['a\u0000\u0001\u001f\u000bb', 'ab'],
    ['a\ud800b\udc00c', 'abc'],
    ['\ufffe\uffff', ''],
    ['😀é', '😀é'],
  ])('writes %j as %s', (value, escaped) => {
    expect(escapeXml(value)).toBe(escaped);
  });

  it('is read back as what XML can hold of the value, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        const escaped = escapeXml(value);
        expect(escaped).not.toMatch(/[<>"']|&(?!(amp|lt|gt|quot|apos|#9|#10|#13);)/);
        expect(read(escaped)).toBe([...value].filter(isXmlCharacter).join(''));
      }),
    );
  });
});

describe('element', () => {
  it('escapes attributes and leaves out those without a value', () => {
    expect(element('Dial', { a: '"<', b: undefined, c: 7 }, escapeXml('<x>'))).toBe(
      '<Dial a="&quot;&lt;" c="7">&lt;x&gt;</Dial>',
    );
  });

  it('closes itself when it holds nothing', () => {
    expect(element('Hangup')).toBe('<Hangup/>');
    expect(document('Response', [])).toBe('<?xml version="1.0" encoding="UTF-8"?>\n<Response></Response>');
  });
});
