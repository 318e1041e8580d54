import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Room -> rooms it may import from. `carriers:contract` stands for the contract files of a wing alone. */
const TABLE: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  base: ['contract'],
  transcoder: ['base'],
  tunnels: ['base'],
  audio: ['base', 'transcoder'],
  events: ['contract', 'base'],
  carriers: ['contract', 'base', 'audio', 'transcoder'],
  providers: ['contract', 'base', 'audio', 'transcoder'],
  stores: ['contract', 'base', 'events'],
  engines: ['contract', 'base', 'audio', 'transcoder', 'providers:contract'],
  calls: [
    'contract',
    'base',
    'audio',
    'events',
    'transcoder',
    'carriers:contract',
    'providers:contract',
    'engines',
  ],
  dashboard: ['contract', 'base', 'events', 'stores:contract'],
  observability: ['contract', 'base', 'events'],
  server: ['contract', 'base', 'carriers:contract', 'calls', 'dashboard', 'stores:contract'],
};

/** Top-level files and rooms that may import anything, and that no room may import. */
const OUTSIDE = new Set(['client', 'options', 'index', 'cli', 'testing']);

const WING_CONTRACTS: Readonly<Record<string, readonly string[]>> = {
  carriers: ['carriers/carrier.ts'],
  stores: ['stores/call-store.ts'],
  providers: [
    'providers/speech-to-text.ts',
    'providers/language-model.ts',
    'providers/text-to-speech.ts',
    'providers/realtime-model.ts',
    'providers/patience.ts',
    'providers/remedy.ts',
    'providers/circuits.ts',
  ],
};

/** Folders whose members must not know each other. */
const WINGS = ['carriers', 'providers/stt', 'providers/llm', 'providers/tts', 'providers/realtime'];

interface Edge {
  from: string;
  to: string;
}

function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return sourceFiles(path);
    return /\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

const files = sourceFiles('src').map((file) => file.slice('src/'.length));
const text = new Map(files.map((file) => [file, readFileSync(join(root, 'src', file), 'utf8')]));

function importsOf(file: string): string[] {
  return ts.preProcessFile(text.get(file) ?? '', true, true).importedFiles.map((found) => found.fileName);
}

function target(file: string, specifier: string): string {
  const path = relative(join(root, 'src'), resolve(root, 'src', dirname(file), specifier));
  const bare = path.replace(/\.(js|jsx)$/, '');
  return files.find((other) => other === `${bare}.ts` || other === `${bare}.tsx` || other === path) ?? path;
}

const edges: Edge[] = files.flatMap((from) =>
  importsOf(from)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => ({ from, to: target(from, specifier) })),
);

/** The room of a file: its top folder, or its bare name for a file on the top level. */
function room(file: string): string {
  return file.includes('/') ? (file.split('/')[0] ?? '') : file.replace(/\.ts$/, '');
}

function isAllowed({ from, to }: Edge): boolean {
  const here = room(from);
  const there = room(to);
  if (here === there || OUTSIDE.has(here)) return true;
  const allowed = TABLE[here] ?? [];
  if (allowed.includes(there)) return true;
  return allowed.includes(`${there}:contract`) && (WING_CONTRACTS[there] ?? []).includes(to);
}

function show(edge: Edge): string {
  return `${edge.from} -> ${edge.to}`;
}

describe('import directions', () => {
  it('knows every room', () => {
    const rooms = new Set(files.map(room));
    expect([...rooms].filter((name) => !(name in TABLE) && !OUTSIDE.has(name))).toEqual([]);
  });

  it('resolves every relative import to a file', () => {
    expect(edges.filter((edge) => !files.includes(edge.to) && !edge.to.endsWith('.css')).map(show)).toEqual(
      [],
    );
  });

  it('follow the table', () => {
    expect(edges.filter((edge) => !isAllowed(edge)).map(show)).toEqual([]);
  });

  it('never lead from one member of a wing to another', () => {
    const member = (wing: string, file: string) =>
      file.startsWith(`${wing}/`) && file.slice(wing.length + 1).includes('/')
        ? file.slice(wing.length + 1).split('/')[0]
        : undefined;
    const crossing = WINGS.flatMap((wing) =>
      edges.filter(({ from, to }) => {
        const [here, there] = [member(wing, from), member(wing, to)];
        return here !== undefined && there !== undefined && here !== there;
      }),
    );
    expect(crossing.map(show)).toEqual([]);
  });

  it('have no cycle', () => {
    const next = new Map<string, string[]>();
    for (const { from, to } of edges) next.set(from, [...(next.get(from) ?? []), to]);
    const state = new Map<string, 'open' | 'done'>();
    const cycles: string[] = [];
    const visit = (file: string, path: string[]) => {
      if (state.get(file) === 'done') return;
      if (state.get(file) === 'open') {
        cycles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
        return;
      }
      state.set(file, 'open');
      for (const other of next.get(file) ?? []) visit(other, [...path, file]);
      state.set(file, 'done');
    };
    for (const file of files) visit(file, []);
    expect(cycles).toEqual([]);
  });

  it('keep Node out of the page, and everything but facts', () => {
    const page = files.filter((file) => file.startsWith('dashboard/ui/'));
    const foreign = edges.filter(
      ({ from, to }) => page.includes(from) && !/^(dashboard\/ui|contract|events)\//.test(to),
    );
    expect(foreign.map(show)).toEqual([]);
    const shared = ['events/reduce.ts', 'events/summarize.ts', 'events/call-filter.ts', ...page];
    expect(shared.filter((file) => importsOf(file).some((name) => name.startsWith('node:')))).toEqual([]);
  });
});

describe('what stands only in its place', () => {
  const outside = (pattern: RegExp, isPlace: (file: string) => boolean) =>
    files.filter((file) => pattern.test(text.get(file) ?? '') && !isPlace(file));

  it('only base/env.ts reads the environment', () => {
    expect(outside(/process\.env/, (file) => file === 'base/env.ts')).toEqual([]);
  });

  it('only the doors import express', () => {
    const uses = (file: string) => importsOf(file).includes('express');
    const isDoor = (file: string) => file.startsWith('server/') || file === 'dashboard/router.ts';
    expect(files.filter((file) => uses(file) && !isDoor(file) && !file.startsWith('testing/'))).toEqual([]);
  });

  it('only streams, providers, the responder and testing import ws', () => {
    const uses = (file: string) => importsOf(file).includes('ws');
    const isPlace = (file: string) =>
      ['server/streams.ts', 'engines/responder-socket.ts'].includes(file) ||
      /^(providers|testing)\//.test(file);
    expect(files.filter((file) => uses(file) && !isPlace(file))).toEqual([]);
  });

  it('only a carrier, its contract and the front door say its vendor or its name', () => {
    const isPlace = (file: string) =>
      /^(carriers|testing)\//.test(file) || ['index.ts', 'contract/call-record.ts'].includes(file);
    expect(outside(/twilio|telnyx/i, isPlace)).toEqual([]);
    expect(
      outside(/carrier-[ab]\b|Carrier[AB]\b/, (file) => isPlace(file) || OUTSIDE.has(room(file))),
    ).toEqual([]);
  });
});

describe('the size of things', () => {
  it('no file has more than 400 lines', () => {
    const long = files.filter(
      (file) =>
        !file.includes('.generated.') &&
        !file.endsWith('filters.ts') &&
        (text.get(file) ?? '').split('\n').length > 400,
    );
    expect(long).toEqual([]);
  });
});
