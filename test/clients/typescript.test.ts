// A program with a client that is generated from the document which the server gives: as the compiler takes it, and at work.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Client } from 'openapi-fetch';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { CallsPage } from '../../src/contract/dashboard-api.js';
import { type PhoneWithCalls, startPhoneWithCalls, TOKEN } from './phone-with-calls.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PROGRAM = `${ROOT}test/clients/typescript-client.ts`;
const TYPES = `${ROOT}test/clients/offhook-api.d.ts`;
const GENERATOR = `${ROOT}node_modules/openapi-typescript/bin/cli.js`;

type Api = Client<Record<string, never>>;
/** The compiler looks at the program with its types, which are not there when this file is compiled. */
interface Program {
  connect(baseUrl: string, token: string): Api;
  readHistory(api: Api, limit: number): AsyncIterable<CallRecord>;
  readCall(api: Api, callId: string): Promise<CallRecord>;
  hangUp(api: Api, callId: string): Promise<string>;
  endFirstCall(api: Api): Promise<object | undefined>;
}

/** As a reader of the page makes them. */
async function generateTypes(url: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'offhook-types-'));
  try {
    const file = join(folder, 'offhook-api.d.ts');
    const document = `${url}/api/openapi.json?token=${encodeURIComponent(TOKEN)}`;
    await promisify(execFile)(process.execPath, [GENERATOR, document, '--output', file], { cwd: folder });
    return await readFile(file, 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The lines that the compiler complains of, with what it says: in the types, then in each of these programs. */
function complaintsOf(programs: readonly string[], types: string): string[][] {
  const paths = programs.map((_, index) => PROGRAM.replace('.ts', `-${index}.ts`));
  const files = new Map([
    [TYPES, types],
    ...paths.map((path, index) => [path, programs[index] ?? ''] as const),
  ]);
  const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, ts.sys.readFile) as { config: object };
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, ROOT);
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile: readText, getSourceFile } = host;
  host.fileExists = (path) => files.has(path) || fileExists.call(host, path);
  host.readFile = (path) => files.get(path) ?? readText.call(host, path);
  host.getSourceFile = (path, version) => {
    const text = files.get(path);
    return text === undefined
      ? getSourceFile.call(host, path, version)
      : ts.createSourceFile(path, text, version);
  };
  const program = ts.createProgram([TYPES, ...paths], options, host);
  return [TYPES, ...paths].map((path) =>
    ts.getPreEmitDiagnostics(program, program.getSourceFile(path)).map(({ messageText, file, start = 0 }) => {
      const { line = 0 } = file?.getLineAndCharacterOfPosition(start) ?? {};
      return `${file?.text.split('\n')[line]?.trim()}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
    }),
  );
}

describe('a TypeScript client generated from the OpenAPI document', { timeout: 120_000 }, () => {
  let phone: PhoneWithCalls;
  let types: string;
  let program: Program;
  let api: Api;

  beforeAll(async () => {
    phone = await startPhoneWithCalls();
    types = await generateTypes(phone.url);
    program = (await import(PROGRAM)) as Program;
    api = program.connect(phone.url, TOKEN);
  }, 120_000);
  afterAll(() => phone[Symbol.asyncDispose]());

  it('is one that the compiler takes, and that it refuses with a wrong path, field, word or parameter', async () => {
    const good = await readFile(PROGRAM, 'utf8');
    const mistakes = [
      // None of them hides another of its row.
      { '/hangup': '/hang-up', '{ limit }': '{ pageSize: limit }', "'call.ended'": "'call.over'" },
      { 'data.nextCursor': 'data.nextPage', "'operator-hangup'": "'operator-hung-up'" },
      { 'error.error.code': 'error.code', 'message.active[0]': 'message.calls[0]' },
    ];
    const programs = mistakes.map((row) =>
      Object.entries(row).reduce((text, [right, wrong]) => {
        expect(text).toContain(right);
        return text.replaceAll(right, wrong);
      }, good),
    );
    const [ofTypes, ofGood, ...ofWrong] = complaintsOf([good, ...programs], types);
    expect([ofTypes, ofGood]).toEqual([[], []]);
    const unseen = mistakes.flatMap((row, index) =>
      Object.values(row).filter((wrong) => !ofWrong[index]?.some((line) => line.includes(wrong))),
    );
    expect(unseen).toEqual([]);
  });

  it('reads the history page by page, and one call of it', async () => {
    const read: string[] = [];
    for await (const { callId } of program.readHistory(api, 2)) read.push(callId);
    const { calls } = await phone.read<CallsPage>('/api/dashboard/calls');
    expect(calls.map(({ caller }) => caller).toSorted()).toEqual(phone.callers);
    expect(read).toEqual(calls.map(({ callId }) => callId));
    const [, last] = calls;
    const record = await program.readCall(api, last?.callId ?? '');
    expect(record).toEqual(await phone.read<CallRecord>(`/api/dashboard/calls/${last?.callId}`));
    expect(record).toMatchObject({ endReason: 'caller-hangup', caller: last?.caller });
  });

  it('is refused without the token, and told what is wrong', async () => {
    const stranger = program.connect(phone.url, 'another-token');
    await expect(program.readHistory(stranger, 2)[Symbol.asyncIterator]().next()).rejects.toThrow(
      /^AUTH_REQUIRED: The dashboard token/,
    );
    await expect(program.readHistory(api, 0)[Symbol.asyncIterator]().next()).rejects.toThrow(
      /^REQUEST_INVALID: Query parameter "limit"/,
    );
    await expect(program.readCall(api, 'none')).rejects.toThrow(/^NOT_FOUND: No such call/);
    await expect(program.endFirstCall(stranger)).rejects.toThrow(/^AUTH_REQUIRED/);
  });

  it('follows events, and hangs up a live call', async () => {
    const {
      calls: [live],
    } = await phone.read<{ calls: CallRecord[] }>('/api/dashboard/active');
    expect(await program.endFirstCall(api)).toMatchObject({ type: 'call.ended', callId: live?.callId });
    expect(await phone.read('/api/dashboard/active')).toEqual({ calls: [] });
    await expect(program.hangUp(api, 'none')).rejects.toThrow(/^NOT_FOUND/);
    expect(await program.endFirstCall(api)).toBeUndefined();
  });
});
