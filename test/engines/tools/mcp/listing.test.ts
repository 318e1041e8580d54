// What a server says of its tools, as far as the model, the log and the application get to see it.
import { describe, expect, it } from 'vitest';
import { toOffered } from '../../../../src/engines/tools/mcp/listing.js';
import { checkMcpOptions, type McpOptions } from '../../../../src/engines/tools/mcp/options.js';
import type { ListedTool } from '../../../../src/engines/tools/mcp/session.js';
import { RecordedLogger } from '../../../support/recorded-logger.js';

const OBJECT = { type: 'object', properties: {} };

function offer(tools: readonly (Partial<ListedTool> & { name: string })[], options: McpOptions = {}) {
  const logger = new RecordedLogger();
  const listed = tools.map((tool) => ({ inputSchema: OBJECT, ...tool }));
  const checked = checkMcpOptions({ url: 'https://shop.example.com/mcp', ...options });
  return { offered: toOffered(listed, checked, logger), logger };
}

const nested = (levels: number): object => (levels === 0 ? {} : { properties: { a: nested(levels - 1) } });

describe('tools of an MCP server, as they are listed', () => {
  it('are offered with their schema, whatever words it has, without what only a validator reads', () => {
    const inputSchema = {
      ...OBJECT,
      $schema: 'urn:x',
      if: { not: {} },
      format: 'date',
      patternProperties: {},
    };
    const { $schema: _, ...parameters } = inputSchema;
    const { offered } = offer([{ name: 'book', description: 'Books.', inputSchema }]);
    expect(offered.map(({ definition }) => definition)).toEqual([
      { name: 'book', description: 'Books.', parameters },
    ]);
  });

  it('are described by their title, or their name, where there is no description', () => {
    const { offered } = offer([
      { name: 'a', title: 'Finds' },
      { name: 'b', description: ' ' },
    ]);
    expect(offered.map(({ definition }) => definition.description)).toEqual(['Finds', 'b']);
  });

  it('have descriptions that are cut, without control characters', () => {
    const { offered } = offer([{ name: 'a', description: `\u001b]0;x\u0007${'y'.repeat(5000)}` }]);
    const [text = ''] = offered.map(({ definition }) => definition.description);
    expect(text).toHaveLength(1023);
    expect(text).toMatch(/^\]0;x y+$/);
  });

  it.each([
    ['a name of other characters', { name: '<img src=x>\u001b[2J' }, /other characters/],
    ['a long name', { name: 'a'.repeat(65) }, /longer than 64/],
    ['a name of letters that only look like it', { name: 'se\u0430rch' }, /other characters/],
    ['no object as arguments', { name: 'a', inputSchema: { type: 'array' } }, /no object/],
    [
      'a schema that is nested deep',
      { name: 'a', inputSchema: { ...OBJECT, ...nested(40) } },
      /nested deeper/,
    ],
    [
      'a long schema',
      { name: 'a', inputSchema: { ...OBJECT, title: 'x'.repeat(20_000) } },
      /longer than 16384/,
    ],
  ])('are left out with %s, and refused where they are allowed by name', (_, tool, why) => {
    const { offered, logger } = offer([tool, { name: 'good' }]);
    expect(offered.map(({ definition }) => definition.name)).toEqual(['good']);
    expect(logger.lines).toEqual([
      {
        level: 'warn',
        sentence: 'a tool of an MCP server is left out',
        fields: { server: 'shop.example.com', tool: expect.any(String), why: expect.stringMatching(why) },
      },
    ]);
    expect(String(logger.lines[0]?.fields.tool)).not.toContain('\u001b');
    expect(String(logger.lines[0]?.fields.tool).length).toBeLessThan(70);
    expect(() => offer([tool], { allow: [tool.name] })).toThrow(why);
  });

  it('are refused where there are too many, or too much is said of them', () => {
    const many = Array.from({ length: 101 }, (_, index) => ({ name: `t${index}` }));
    expect(() => offer(many)).toThrow(/lists 101 tools, more than 100/);
    expect(offer(many, { allow: ['t100'] }).offered).toHaveLength(1);
    const large = many.slice(0, 10).map((tool) => ({
      ...tool,
      inputSchema: { ...OBJECT, title: 'x'.repeat(16_000) },
    }));
    expect(() => offer(large)).toThrow(/more than 131072/);
  });

  it('are refused where two have one name', () => {
    expect(() => offer([{ name: 'a.b' }, { name: 'a/b' }])).toThrow(/two tools named a_b/);
  });

  it('name at most twenty of those that are there, where one is missing', () => {
    const many = Array.from({ length: 30 }, (_, index) => ({ name: `t${index}\n` }));
    expect(() => offer(many, { allow: ['x'] })).toThrow(/names "x".*It has: "t0", .*"t19", and 10 more\.$/);
  });
});
