import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
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
  conversation: ['contract', 'base:pure'],
  engines: ['contract', 'base', 'audio', 'transcoder', 'providers:contract', 'conversation'],
  calls: [
    'contract',
    'base',
    'audio',
    'events',
    'transcoder',
    'carriers:contract',
    'providers:contract',
    'conversation',
    'engines',
  ],
  dashboard: ['contract', 'base', 'events', 'stores:contract'],
  recordings: ['contract', 'base', 'audio', 'transcoder'],
  cluster: ['contract', 'base'],
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

/** Files of the floor that know nothing but their arguments. */
const PURE: readonly string[] = ['base/owed-words.ts', 'base/speakable.ts', 'base/trailing.ts'];

/** Folders whose members must not know each other, and the members: what their files or folders are called, or begin with. */
const WINGS: Readonly<Record<string, readonly string[]>> = {
  carriers: ['carrier-a', 'carrier-b'],
  stores: ['disk', 'memory'],
  cluster: ['memory', 'redis'],
  'providers/stt': ['assemblyai', 'deepgram', 'openai', 'simulated'],
  'providers/llm': ['ai-sdk', 'anthropic', 'chat', 'scripted'],
  'providers/tts': ['cartesia', 'deepgram', 'elevenlabs', 'flite', 'openai'],
  'providers/realtime': ['elevenlabs', 'gemini', 'openai'],
};

/** Files of a wing that choose among its members. */
const CHOOSERS = new Set(['index.ts', 'open-store.ts', 'open-coordinator.ts']);

/** AI vendors, and the files and folders of `providers` that may name them, by what they begin with. */
const VENDORS: Readonly<Record<string, readonly string[]>> = {
  anthropic: ['anthropic'],
  assemblyai: ['assemblyai'],
  cartesia: ['cartesia'],
  deepgram: ['deepgram'],
  elevenlabs: ['elevenlabs'],
  gemini: ['gemini'],
  google: ['gemini'],
  groq: ['chat'],
  ollama: ['chat'],
  // Others speak its dialect, or hand its models in.
  openai: ['openai', 'chat', 'ai-sdk'],
};

/** What speaks for no vendor, or for many. */
const NO_VENDORS: readonly string[] = ['ai-sdk', 'chat', 'flite', 'scripted', 'simulated'];

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

/** The wing that a file belongs to, and its member there; undefined for what the members share. */
function wingOf(file: string): { name: string; member: string | undefined } | undefined {
  const name = Object.keys(WINGS).find((wing) => file.startsWith(`${wing}/`));
  if (name === undefined) return undefined;
  const [own = ''] = file.slice(name.length + 1).split(/[/.]/);
  return { name, member: WINGS[name]?.find((each) => own === each || own.startsWith(`${each}-`)) };
}

/** Rooms whose files are a wing, or serve one. */
function isInWings(file: string): boolean {
  return ['carriers', 'stores', 'providers'].includes(room(file));
}

function isAllowed({ from, to }: Edge): boolean {
  const here = room(from);
  const there = room(to);
  if (here === there || OUTSIDE.has(here)) return true;
  const allowed = TABLE[here] ?? [];
  if (allowed.includes(there)) return true;
  if (allowed.includes(`${there}:pure`) && PURE.includes(to)) return true;
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

  it('never lead from one member of a wing to another, nor from what its members share to one of them', () => {
    const crossing = edges.filter(({ from, to }) => {
      const [here, there] = [wingOf(from), wingOf(to)];
      if (there?.member === undefined || CHOOSERS.has(basename(from))) return false;
      return here?.name === there.name ? here.member !== there.member : isInWings(from);
    });
    expect(crossing.map(show)).toEqual([]);
  });

  it('know all that a wing offers as files of its members', () => {
    const offered = Object.keys(WINGS).flatMap((wing) =>
      edges.filter(({ from, to }) => from === `${wing}/index.ts` && to.startsWith(`${wing}/`)),
    );
    /** Contracts, and what members of an application need as well as ours. */
    const shared = [
      'stores/call-store.ts',
      'stores/queries.ts',
      'carriers/carrier.ts',
      'carriers/setting.ts',
    ];
    const strangers = offered.filter(({ to }) => wingOf(to)?.member === undefined);
    expect(strangers.filter(({ to }) => !shared.includes(to)).map(show)).toEqual([]);
  });

  it('lead to a folder where a member is more than one file', () => {
    for (const [wing, members] of Object.entries(WINGS))
      for (const member of members) {
        const beside = files.filter(
          (file) =>
            dirname(file) === wing && wingOf(file)?.member === member && !CHOOSERS.has(basename(file)),
        );
        expect(beside.length, `${wing}: ${beside.join(', ')}`).toBeLessThan(2);
      }
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

  it('only the page imports express', () => {
    const doors = ['server/page-app.ts', 'dashboard/router.ts'];
    const uses = (file: string) => importsOf(file).includes('express');
    expect(files.filter((file) => uses(file) && !doors.includes(file))).toEqual([]);
  });

  it.each([
    ['server/page-app.ts', 'the page'],
    ['dashboard/router.ts', 'the API'],
    ['client/runtime.ts', 'what serves'],
    ['stores/disk-store.ts', 'the disk'],
  ])('%s is loaded when it is needed: %s', (file) => {
    const atOnce = new RegExp(`^(import|export) (?!type )[^;]*/${basename(file, '.ts')}\\.js'`, 'm');
    const uses = (from: string) =>
      edges.some((edge) => edge.from === from && edge.to === file) && atOnce.test(text.get(from) ?? '');
    // Who imports these has them on purpose: entry points, and what a command does.
    const isOwn = (from: string) => /^(cli|testing)\/|^stores\/index\.ts$/.test(from);
    expect(files.filter((from) => uses(from) && !isOwn(from))).toEqual([]);
  });

  it('every vendor of a provider is known by its name', () => {
    const members = Object.entries(WINGS).flatMap(([wing, names]) =>
      wing.startsWith('providers/') ? names : [],
    );
    expect(members.filter((name) => !(name in VENDORS) && !NO_VENDORS.includes(name))).toEqual([]);
  });

  it('only streams, providers, the responder and testing import ws', () => {
    const uses = (file: string) => importsOf(file).includes('ws');
    const isPlace = (file: string) =>
      ['server/streams.ts', 'engines/responder/socket.ts'].includes(file) ||
      /^(providers|testing)\//.test(file);
    expect(files.filter((file) => uses(file) && !isPlace(file))).toEqual([]);
  });

  it('only a vendor has its name, and who puts them together', () => {
    for (const [vendor, prefixes] of Object.entries(VENDORS)) {
      const isPlace = (file: string) =>
        OUTSIDE.has(room(file)) ||
        (room(file) === 'providers' &&
          (basename(file) === 'index.ts' ||
            file.split('/').some((part) => prefixes.some((prefix) => part.startsWith(prefix)))));
      expect(outside(new RegExp(vendor, 'i'), isPlace), vendor).toEqual([]);
    }
  });

  it('only a carrier, its contract, the front door and one option of the command line say its vendor or its name', () => {
    const isPlace = (file: string) =>
      /^(carriers|testing)\//.test(file) ||
      ['index.ts', 'contract/call-record.ts', 'cli/carrier-option.ts'].includes(file);
    expect(outside(/twilio|telnyx/i, isPlace)).toEqual([]);
    for (const own of ['a', 'b']) {
      const isOther = (file: string) =>
        file.startsWith('carriers/') && !file.startsWith(`carriers/carrier-${own}/`);
      const name = new RegExp(`carrier[- _]?${own}\\b`, 'i');
      expect(outside(name, (file) => !isOther(file) || file === 'carriers/index.ts')).toEqual([]);
    }
    expect(
      outside(/carrier-[ab]\b|Carrier[AB]\b/, (file) => isPlace(file) || OUTSIDE.has(room(file))),
    ).toEqual([]);
  });
});

/** What others ask of the parts of a conversation. */
const QUESTIONS = [
  'answerIn',
  'awaitedIn',
  'historyOf',
  'indexOf',
  'isHeardOut',
  'newsIn',
  'nextToolIds',
  'notesIn',
  'repeatableIn',
  'requestOf',
  'runningIn',
];

/** What a file imports of another, types left out. */
function valuesOf(from: string, to: string): string[] {
  return ts
    .createSourceFile('source.ts', text.get(from) ?? '', ts.ScriptTarget.Latest)
    .statements.filter(ts.isImportDeclaration)
    .flatMap(({ importClause, moduleSpecifier }) => {
      const specifier = (moduleSpecifier as ts.StringLiteral).text;
      if (!specifier.startsWith('.') || target(from, specifier) !== to) return [];
      if (importClause === undefined || importClause.phaseModifier === ts.SyntaxKind.TypeKeyword) return [];
      const { namedBindings } = importClause;
      if (namedBindings === undefined || ts.isNamespaceImport(namedBindings)) return ['all of it'];
      return namedBindings.elements.flatMap(({ isTypeOnly, name, propertyName }) =>
        isTypeOnly ? [] : [(propertyName ?? name).text],
      );
    });
}

describe('the conversation', () => {
  const own = files.filter((file) => room(file) === 'conversation');

  it('is state and steps: no clock, no promise, no object that changes', () => {
    expect(own).not.toEqual([]);
    const impure =
      /\b(class|new|this|async|await|Promise|Date|performance|setTimeout|setInterval|setImmediate|process|Math\.random)\b/;
    expect(own.filter((file) => impure.test(withoutComments(text.get(file) ?? '')))).toEqual([]);
  });

  it('is changed by one step: of what its parts do to it, nobody else knows', () => {
    const parts = /^conversation\/(caller-words|floor-step|history|idle|latency|trouble|turns|watch)\.ts$/;
    const changing = edges
      .filter(({ from, to }) => room(from) !== 'conversation' && !OUTSIDE.has(room(from)) && parts.test(to))
      .flatMap(({ from, to }) => valuesOf(from, to).map((name) => `${from}: ${name}`));
    const asked = changing.filter((each) => !QUESTIONS.includes(each.slice(each.indexOf(': ') + 2)));
    expect(asked).toEqual([]);
  });

  it('never names a voice mode', () => {
    expect(own.filter((file) => /pipeline|realtime/i.test(text.get(file) ?? ''))).toEqual([]);
  });
});

/** Who holds more than others, and how much: none of these figures may rise. */
const LARGEST_FIELDS: Readonly<Record<string, number>> = {
  'carrier-a/leg.ts': 14,
  'carrier-b/leg.ts': 16,
  'engines/realtime/speech.ts': 13,
  'audio/pacer.ts': 13,
  'stt/assemblyai/session.ts': 13,
};
const LARGEST_HANDLERS: Readonly<Record<string, number>> = {
  'engines/pipeline/call.ts': 47,
  'calls/call-session.ts': 22,
  'engines/realtime/call.ts': 20,
  'elevenlabs-agents/session.ts': 17,
  'gemini-live/session.ts': 16,
  'stt/deepgram/session.ts': 15,
};

function boundOf(file: string, largest: Readonly<Record<string, number>>): number {
  return Object.entries(largest).find(([end]) => file.endsWith(`/${end}`) || file === end)?.[1] ?? 12;
}

const classes = new Map<string, readonly ts.ClassDeclaration[]>();

function classesOf(file: string): readonly ts.ClassDeclaration[] {
  const found = classes.get(file) ?? parsedClasses(text.get(file) ?? '');
  classes.set(file, found);
  return found;
}

function parsedClasses(source: string): readonly ts.ClassDeclaration[] {
  if (!/\bclass\b/.test(source)) return [];
  return ts
    .createSourceFile('source.ts', source, ts.ScriptTarget.Latest)
    .statements.filter(ts.isClassDeclaration);
}

function isMutable(member: ts.ClassElement): boolean {
  if (!ts.isPropertyDeclaration(member)) return false;
  const fixed = [ts.SyntaxKind.ReadonlyKeyword, ts.SyntaxKind.StaticKeyword];
  return member.modifiers?.some(({ kind }) => fixed.includes(kind)) !== true;
}

function handlersIn(node: ts.Node): number {
  let count = ts.isArrowFunction(node) ? 1 : 0;
  ts.forEachChild(node, (child) => {
    count += handlersIn(child);
  });
  return count;
}

describe('the size of things', () => {
  it('a class has a dozen fields that change at most', () => {
    const large = files.flatMap((file) =>
      classesOf(file).flatMap(({ members, name }) => {
        const count = members.filter(isMutable).length;
        return count > boundOf(file, LARGEST_FIELDS) ? [`${file} ${name?.text}: ${count}`] : [];
      }),
    );
    expect(large).toEqual([]);
  });

  it('a class hands out a dozen handlers at most as it is made', () => {
    const large = files.flatMap((file) =>
      classesOf(file).flatMap(({ members, name }) => {
        const count = members
          .filter(ts.isConstructorDeclaration)
          .reduce((sum, made) => sum + handlersIn(made), 0);
        return count > boundOf(file, LARGEST_HANDLERS) ? [`${file} ${name?.text}: ${count}`] : [];
      }),
    );
    expect(large).toEqual([]);
  });
});

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/\/\/.*$/gm, '');
}

describe.each(['package-lock.json', 'docs/site/package-lock.json'])('%s', (path) => {
  const lock = readFileSync(join(root, path), 'utf8');
  const { packages } = JSON.parse(lock) as {
    packages: Record<string, { version?: string; optionalDependencies?: Record<string, string> }>;
  };

  it('names the packages of every platform, as `node scripts/complete-lockfile.mjs` has it', () => {
    const wanted = Object.values(packages).flatMap((owner) =>
      Object.entries(owner.optionalDependencies ?? {}),
    );
    expect(wanted.length).toBeGreaterThan(0);
    expect(wanted.filter(([name]) => packages[`node_modules/${name}`] === undefined)).toEqual([]);
  });

  it('leaves to the machine which registry to ask', () => {
    expect(lock).not.toContain('"resolved"');
  });
});
