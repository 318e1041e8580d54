import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ToolCallAssembly } from '../../../src/providers/llm/tool-call-assembly.js';
import { readArguments } from '../../../src/providers/wire/tool-arguments.js';

type Piece = { index?: number; id?: string; function?: { name?: string; arguments?: unknown } };

function assemble(...chunks: Piece[][]) {
  const assembly = new ToolCallAssembly();
  for (const chunk of chunks) assembly.push(chunk);
  return assembly.finish().map(({ id, name, arguments: args }) => [id, name, args]);
}

const call = (index: number | undefined, id: string | undefined, name: string, text: unknown): Piece => ({
  ...(index === undefined ? {} : { index }),
  ...(id === undefined ? {} : { id }),
  function: { name, arguments: text },
});

describe('ToolCallAssembly', () => {
  it('joins fragments by index, also when they take turns', () => {
    expect(
      assemble(
        [call(0, 'a', 'one', '')],
        [call(1, 'b', 'two', '')],
        [{ index: 0, function: { arguments: '{"x":' } }],
        [{ index: 1, function: { arguments: '{"y":2}' } }],
        [{ index: 0, function: { arguments: '1}' } }],
      ),
    ).toEqual([
      ['a', 'one', { x: 1 }],
      ['b', 'two', { y: 2 }],
    ]);
  });

  it('begins a new call for a new id at the same index', () => {
    expect(assemble([call(0, 'a', 'one', '{}')], [call(0, 'b', 'one', '{"x":1}')])).toEqual([
      ['a', 'one', {}],
      ['b', 'one', { x: 1 }],
    ]);
  });

  it('takes calls without index in the order of their appearance', () => {
    expect(
      assemble([call(undefined, 'a', 'one', '{}'), call(undefined, 'b', 'two', '{}')]).map(([id]) => id),
    ).toEqual(['a', 'b']);
  });

  it('makes ids where there are none, and they differ', () => {
    const calls = assemble([call(0, undefined, 'one', '{}'), call(1, undefined, 'one', '{}')]);
    expect(calls.map(([, name]) => name)).toEqual(['one', 'one']);
    expect(calls[0]?.[0]).toMatch(/^call_/);
    expect(calls[0]?.[0]).not.toBe(calls[1]?.[0]);
  });

  it('tells calls apart that have neither index nor id', () => {
    const pieces = [
      call(undefined, undefined, 'one', '{"x":1}'),
      call(undefined, undefined, 'one', '{"x":2}'),
      call(undefined, undefined, 'two', ''),
    ];
    expect(assemble(pieces).map(([, name, args]) => [name, args])).toEqual([
      ['one', { x: 1 }],
      ['one', { x: 2 }],
      ['two', {}],
    ]);
  });

  it('goes on with a call whose name is repeated in every fragment', () => {
    const pieces = ['', '{"x"', ':1}'].map((text) => [call(0, undefined, 'one', text)]);
    expect(assemble(...pieces).map(([, name, args]) => [name, args])).toEqual([['one', { x: 1 }]]);
  });

  it('knows the end of nested arguments from braces within them and in their texts', () => {
    const written = ['{"x":{"y":[{}]}', ',"z":"}\\"}"', ',"w":1}', '{"x":2}'];
    const pieces = written.map((text) => [call(0, undefined, 'one', text)]);
    expect(assemble(...pieces).map(([, , args]) => args)).toEqual([
      { x: { y: [{}] }, z: '}"}', w: 1 },
      { x: 2 },
    ]);
  });

  it('takes empty arguments as none, and arguments that came as an object', () => {
    expect(assemble([call(0, 'a', 'one', ''), call(1, 'b', 'two', { x: 1 })])).toEqual([
      ['a', 'one', {}],
      ['b', 'two', { x: 1 }],
    ]);
  });

  it.each(['{"x":', '[1]', '"text"', 'null', 'nonsense'])('says that %s are no arguments', (text) => {
    const assembly = new ToolCallAssembly();
    assembly.push([call(0, 'a', 'one', text)]);
    expect(assembly.finish()).toEqual([{ id: 'a', name: 'one', arguments: null, argumentsText: text }]);
  });

  it('never throws, and gives ids and names always', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.jsonValue(), fc.array(fc.jsonValue()))), (chunks) => {
        const assembly = new ToolCallAssembly();
        for (const chunk of chunks) assembly.push(chunk);
        for (const { id, name } of assembly.finish()) expect(id !== '' && name !== '').toBe(true);
      }),
    );
  });
});

describe('arguments that are no text', () => {
  it.each<[unknown, Record<string, unknown> | null, string]>([
    [{ day: 'Friday' }, { day: 'Friday' }, '{"day":"Friday"}'],
    [undefined, {}, '{}'],
    [null, {}, '{}'],
    ['', {}, '{}'],
    [7, null, '7'],
    [[1], null, '[1]'],
    [true, null, 'true'],
    ['"Friday"', null, '"Friday"'],
  ])('%j', (written, args, argumentsText) => {
    expect(readArguments(written)).toEqual({ arguments: args, argumentsText });
    const assembly = new ToolCallAssembly();
    assembly.push([{ index: 0, id: 'a', function: { name: 'find', arguments: written } }]);
    expect(assembly.finish()).toEqual([{ id: 'a', name: 'find', arguments: args, argumentsText }]);
  });
});
