// Changes one line of the sources at a time and looks whether a test notices: `npm run mutants -- --room calls --count 20 [--seed 1]`.
// A room is a folder under src, a file without its ending, or a line of it (`base/clock:115`); several may be named, each gets `--count`
// changes; without one all rooms do.
// Runs only the test files of the same folder, and those that import the changed file on the shortest ways, until the first failure. Prints survivors. A change that has a
// run go on without end is noticed, if the same run without it ends in time; if not, nobody knows, and it is counted as timed out.
// `--out FILE` adds each change and which test noticed, as JSON lines. `--from FILE` makes those changes again wherever their lines still
// are, and fails if one survives that was noticed then.
import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import ts from 'typescript';
import { root } from './setup.mjs';

/** Ways from tests to the changed file, in imports, may be so much longer than the shortest. */
const MORE_THAN_SHORTEST = 1;
const MOST_TEST_FILES = 25;
/** They run first, and the others only if they notice nothing. */
const NEAREST_TEST_FILES = 3;
const LONGEST_RUN_MS = 120_000;
/** They run in processes of their own, as built files, or wait for minutes. */
const LEFT_OUT = /[-/]worker\.ts$|\.generated\.|\/index\.ts$|dashboard\/ui/;
const SLOW_TESTS = /^test\/(e2e|live|conformance)\/|browser|crash|\.deep\./;
/** They bring no code along, so that a test behind one would notice nothing. */
const IMPORTS_OF_TYPES = /^(import|export) type [^;=]* from '[^']*';/gm;
/** What runs the built files does not see the change, and fails where nothing is built. */
const RUNS_BUILT_FILES = /'(\.\.\/)+dist\//;

/** The operators that are exchanged. */
const OTHERS = new Map([
  ['===', '!=='],
  ['!==', '==='],
  ['<', '<='],
  ['<=', '<'],
  ['>', '>='],
  ['>=', '>'],
  ['&&', '||'],
  ['||', '&&'],
  ['-', '+'],
  ['+=', '-='],
]);

/**
 * `column` is where in the `text` of the line the change begins, `nth` which of the equal lines of the file it is.
 * @typedef {{ file: string, line: number, nth: number, column: number, text: string, before: string, after: string }} Mutant
 */
/** `by`: the test file that failed, or those of the run that did not end. @typedef {{ end: 'killed' | 'survived' | 'timed out', by: string[] }} Verdict */
/** @typedef {Mutant & Verdict} Outcome */

const { rooms, count, seed, from, out } = readOptions();
const sources = filesIn('src');
const tests = filesIn('test');
const importers = readImporters();
const random = createRandom(seed);
const scratch = mkdtempSync(join(tmpdir(), 'mutants-'));
/** Whether a test file passes where nothing is changed: one that does not would notice everything. @type {Map<string, boolean>} */
const soundness = new Map();
/** The same of several at a time: whether they end within the limit. @type {Map<string, boolean>} */
const punctuality = new Map();
let restore = () => {};
/** @type {import('node:child_process').ChildProcess | undefined} */
let child;

process.on('exit', () => rmSync(scratch, { recursive: true }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    killChild();
    restore();
    process.exit(130);
  });
}

/** @type {Outcome[]} */
const earlier =
  from === undefined
    ? []
    : readLines(from)
        .filter(Boolean)
        .map((line) => JSON.parse(line));
const mutants = from === undefined ? rooms.flatMap(chosenIn) : earlier.flatMap(whereItIsNow);
if (mutants.length === 0) fail('nothing to change there');

/** @type {Outcome[]} */
const outcomes = [];
for (const mutant of mutants) {
  const outcome = { ...mutant, ...(await verdictOn(mutant)) };
  outcomes.push(outcome);
  if (out !== undefined) appendFileSync(out, `${JSON.stringify(outcome)}\n`);
  console.log(
    `${(outcome.end === 'killed' ? 'killed' : outcome.end.toUpperCase()).padEnd(9)} ${describe(outcome)}`,
  );
}
const [killed, survivors, unknown] = [endedAs('killed'), endedAs('survived'), endedAs('timed out')];
console.log(`\n${killed.length} of ${outcomes.length} killed, ${unknown.length} timed out.`);
for (const mutant of unknown) console.log(`\ntimed out: ${describe(mutant)}\n  ran: ${mutant.by.join(' ')}`);
for (const mutant of survivors) {
  console.log(
    `\nsurvived: ${describe(mutant)}\n  ran: ${testsOf(mutant.file).join(' ') || 'no test imports it'}`,
  );
}
if (from !== undefined) compare();

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        room: { type: 'string', multiple: true },
        count: { type: 'string', default: '20' },
        seed: { type: 'string', default: '1' },
        from: { type: 'string' },
        out: { type: 'string' },
        help: { type: 'boolean' },
      },
    });
    const asked = { ...values, count: Number(values.count), seed: Number(values.seed) };
    if (!values.help && Number.isInteger(asked.count) && Number.isInteger(asked.seed))
      return { ...asked, rooms: values.room ?? allRooms() };
  } catch (error) {
    console.error(String(error));
  }
  return fail(
    'usage: npm run mutants -- [--room ROOM]... [--count 20] [--seed 1] [--out FILE] | --from FILE [--out FILE]',
  );
}

/** @param {Verdict['end']} wanted */
function endedAs(wanted) {
  return outcomes.filter(({ end }) => end === wanted);
}

function allRooms() {
  const entries = readdirSync(join(root, 'src'), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

/** What was killed in the earlier run and survives now is a test that was lost. */
function compare() {
  console.log(`${earlier.length - outcomes.length} of ${earlier.length} lines are gone.`);
  const wasKilled = new Set(earlier.filter(({ end }) => end === 'killed').map(placeOf));
  const lost = survivors.filter((mutant) => wasKilled.has(placeOf(mutant)));
  for (const mutant of lost) console.log(`killed then, survives now: ${describe(mutant)}`);
  if (lost.length > 0) process.exitCode = 1;
}

/** @param {string} sentence @returns {never} */
function fail(sentence) {
  console.error(sentence);
  process.exit(2);
}

/** @param {string} folder @returns {string[]} */
function filesIn(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return filesIn(path);
    return /\.tsx?$/.test(entry.name) ? [path] : [];
  });
}

/** @param {string} room @returns {Mutant[]} */
function chosenIn(room) {
  const [path, asked] = room.split(':');
  const ofRoom = [`src/${path}/`, `src/${path}.`];
  const files = sources.filter(
    (file) => ofRoom.some((start) => file.startsWith(start)) && !LEFT_OUT.test(file),
  );
  const all = files.flatMap(mutantsOf).filter(({ line }) => asked === undefined || line === Number(asked));
  return shuffled(all).slice(0, count);
}

/** The same change, on the line with the same words. @param {Outcome} earlier @returns {Mutant[]} */
function whereItIsNow({ end: _, by: __, ...mutant }) {
  if (!sources.includes(mutant.file)) return [];
  const line = linesThatRead(mutant.text, readLines(join(root, mutant.file)))[mutant.nth];
  return line === undefined ? [] : [{ ...mutant, line }];
}

/** @param {string} wanted @param {readonly string[]} lines */
function linesThatRead(wanted, lines) {
  return lines.flatMap((text, index) => (text === wanted ? [index + 1] : []));
}

/** @param {string} path */
function readLines(path) {
  return readFileSync(path, 'utf8').split('\n');
}

/** Every file of sources and tests, and who imports it. */
function readImporters() {
  /** @type {Map<string, string[]>} */
  const known = new Map([...sources, ...tests].map((file) => [file, /** @type {string[]} */ ([])]));
  for (const file of known.keys()) {
    const code = readFileSync(join(root, file), 'utf8').replace(IMPORTS_OF_TYPES, '');
    const { importedFiles } = ts.preProcessFile(code, true, true);
    for (const { fileName } of importedFiles) {
      if (!fileName.startsWith('.')) continue;
      const path = relative(root, resolve(root, dirname(file), fileName)).replace(/\.jsx?$/, '');
      (known.get(`${path}.ts`) ?? known.get(`${path}.tsx`))?.push(file);
    }
  }
  return known;
}

/** Those that import the file on the shortest ways, and before them all of its own folder that import it at all. @param {string} file @returns {string[]} */
function testsOf(file) {
  const ways = new Map([[file, 0]]);
  for (const [at, way] of ways) {
    for (const importer of importers.get(at) ?? []) if (!ways.has(importer)) ways.set(importer, way + 1);
  }
  const found = [...ways].filter(([path]) => path.endsWith('.test.ts') && !isLeftOut(path));
  const nearest = Math.min(...found.map(([, way]) => way));
  const folder = dirname(file).replace(/^src/, 'test');
  const isOfFolder = (/** @type {string} */ path) => path.startsWith(`${folder}/`);
  return found
    .filter(([path, way]) => isOfFolder(path) || way <= nearest + MORE_THAN_SHORTEST)
    .sort(
      ([one, oneWay], [other, otherWay]) =>
        Number(isOfFolder(other)) - Number(isOfFolder(one)) || oneWay - otherWay,
    )
    .slice(0, MOST_TEST_FILES)
    .map(([path]) => path);
}

/** @param {string} test */
function isLeftOut(test) {
  return SLOW_TESTS.test(test) || RUNS_BUILT_FILES.test(readFileSync(join(root, test), 'utf8'));
}

/** All changes of one place that a file can have. @param {string} file @returns {Mutant[]} */
function mutantsOf(file) {
  const text = readFileSync(join(root, file), 'utf8');
  const lines = text.split('\n');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  /** @type {Mutant[]} */
  const found = [];
  /** @param {ts.Node} node @param {string} after */
  const change = (node, after) => {
    const from = node.getStart(source);
    const { line: index, character: column } = source.getLineAndCharacterOfPosition(from);
    const before = text.slice(from, node.end);
    if (before.includes('\n')) return;
    const [line, words] = [index + 1, lines[index] ?? ''];
    const nth = linesThatRead(words, lines).indexOf(line);
    found.push({ file, line, nth, column, text: words, before, after });
  };
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    const word = node.getText(source);
    if (ts.isBinaryExpression(node)) {
      const other = OTHERS.get(node.operatorToken.getText(source));
      if (other !== undefined) change(node.operatorToken, other);
    } else if (word === 'true' || word === 'false') change(node, word === 'true' ? 'false' : 'true');
    else if (ts.isNumericLiteral(node)) change(node, String(Number(word.replaceAll('_', '')) + 1));
    else if (ts.isExpressionStatement(node) && canBeLeftOut(node.expression)) change(node, ';');
    else if (ts.isIfStatement(node)) change(node.expression, `!(${node.expression.getText(source)})`);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Calls, and what is set. @param {ts.Expression} expression */
function canBeLeftOut(expression) {
  if (ts.isCallExpression(expression)) return true;
  return ts.isBinaryExpression(expression) && expression.operatorToken.kind === ts.SyntaxKind.EqualsToken;
}

/** The nearest tests first. @param {Mutant} mutant @returns {Promise<Verdict>} */
async function verdictOn(mutant) {
  const chosen = testsOf(mutant.file).filter((test) => soundness.get(test) !== false);
  /** @type {string[]} */
  const unknown = [];
  for (const batch of [chosen.slice(0, NEAREST_TEST_FILES), chosen.slice(NEAREST_TEST_FILES)]) {
    const run = await withChange(mutant, () => runTests(batch));
    if (run === 'passed') continue;
    if (run !== 'cut') return (await isSound(run)) ? { end: 'killed', by: [run] } : verdictOn(mutant);
    if (await isPunctual(batch)) return { end: 'killed', by: batch };
    unknown.push(...batch);
  }
  return unknown.length === 0 ? { end: 'survived', by: [] } : { end: 'timed out', by: unknown };
}

/** @template Result @param {Mutant} mutant @param {() => Promise<Result>} task @returns {Promise<Result>} */
async function withChange({ file, line, column, before, after }, task) {
  const path = join(root, file);
  const unchanged = readFileSync(path, 'utf8');
  const lines = unchanged.split('\n');
  const text = lines[line - 1] ?? '';
  lines[line - 1] = text.slice(0, column) + after + text.slice(column + before.length);
  restore = () => writeFileSync(path, unchanged);
  try {
    writeFileSync(path, lines.join('\n'));
    return await task();
  } finally {
    restore();
    restore = () => {};
  }
}

/** @param {string} test */
async function isSound(test) {
  const isKnown = soundness.get(test);
  if (isKnown !== undefined) return isKnown;
  const passes = (await runTests([test])) === 'passed';
  soundness.set(test, passes);
  if (!passes) console.log(`left out, as it fails without any change: ${test}`);
  return passes;
}

/** @param {string[]} batch */
async function isPunctual(batch) {
  const isKnown = punctuality.get(batch.join());
  if (isKnown !== undefined) return isKnown;
  const ends = (await runTests(batch)) !== 'cut';
  punctuality.set(batch.join(), ends);
  return ends;
}

/** Until the first failure: the test file that failed. @param {string[]} chosen @returns {Promise<string>} */
function runTests(chosen) {
  if (chosen.length === 0) return Promise.resolve('passed');
  const outputFile = join(scratch, 'report.json');
  rmSync(outputFile, { force: true });
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts', '--bail=1'];
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile=${outputFile}`];
  return new Promise((done) => {
    let isCut = false;
    child = spawn(process.execPath, [...vitest, ...reporters, ...chosen], {
      cwd: root,
      stdio: 'ignore',
      detached: true,
    });
    const timer = setTimeout(() => {
      isCut = true;
      killChild();
    }, LONGEST_RUN_MS);
    child.on('exit', (code) => {
      clearTimeout(timer);
      child = undefined;
      if (isCut) done('cut');
      else done(code === 0 ? 'passed' : failedIn(outputFile, chosen));
    });
  });
}

/** Its workers too: one that is in a loop without end hears of nothing. */
function killChild() {
  if (child?.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
}

/** A run that broke off has no report: the nearest test stands for it. @param {string} report @param {string[]} chosen */
function failedIn(report, chosen) {
  let failed;
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    failed = testResults.find((/** @type {{ status: string }} */ { status }) => status === 'failed');
  } catch {}
  return failed === undefined ? /** @type {string} */ (chosen[0]) : relative(root, failed.name);
}

/** @param {Mutant} mutant */
function describe({ file, line, column, before, after }) {
  return `${file}:${line}:${column + 1} ${before} -> ${after}`;
}

/** Of a change in every run. @param {Mutant} mutant */
function placeOf({ file, text, nth, column, before, after }) {
  return JSON.stringify([file, text, nth, column, before, after]);
}

/** Mulberry32. @param {number} start */
function createRandom(start) {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** @template Item @param {Item[]} items */
function shuffled(items) {
  for (let index = items.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random() * (index + 1));
    const [one, another] = /** @type {[Item, Item]} */ ([items[index], items[other]]);
    items[index] = another;
    items[other] = one;
  }
  return items;
}
