// The files of new projects, run as they stand: their tests, and their servers without and with what `.env.example` lists.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../../src/base/log.js';
import { type Project, projectFiles } from '../../../src/cli/init/project.js';
import * as offhook from '../../../src/index.js';
import * as llm from '../../../src/providers/llm/index.js';
import * as realtime from '../../../src/providers/realtime/index.js';
import * as stt from '../../../src/providers/stt/index.js';
import * as tts from '../../../src/providers/tts/index.js';
import * as testing from '../../../src/testing/index.js';
import { freePort } from '../../support/free-port.js';
import { bodyOf, runBody } from '../../support/program-body.js';
import { PROJECTS } from './made-projects.js';

type Signal = () => Promise<void>;

/** What closes what a test has opened, in the order of `t.after`. */
const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
  vi.unstubAllEnvs();
});

/** The program's modules: the package, and what the machine gives it. */
async function surroundingsOf(files: ReadonlyMap<string, string>, foreign: Readonly<Record<string, object>>) {
  class Client extends offhook.Offhook {
    override async serve(options: offhook.ServeOptions) {
      open.push(() => this.disconnect());
      const ours = { logger: silentLogger, host: '127.0.0.1', dataDir: false, dashboardUrl: false } as const;
      return super.serve({ port: await freePort(), manageWebhook: false, ...options, ...ours });
    }
  }
  const modules: Record<string, object> = {
    offhook: { ...offhook, Offhook: Client },
    'offhook/llm': llm,
    'offhook/realtime': realtime,
    'offhook/stt': stt,
    'offhook/testing': testing,
    'offhook/tts': tts,
    ...foreign,
  };
  const load = async (name: string) => modules[name] ?? ((await import(name)) as object);
  const agent = `${bodyOf(files.get('agent.js') ?? '')}\nreturn { greeting, start };`;
  modules['./agent.js'] = (await runBody(agent, { load })) as object;
  return { load };
}

/** `npm test`. */
async function runTests(project: Project): Promise<string[]> {
  const files = projectFiles(project);
  const tests: [title: string, run: (t: object) => Promise<void>][] = [];
  const env = { TEST_PORT: String(await freePort()) };
  const surroundings = await surroundingsOf(files, {
    'node:process': { env },
    'node:test': { test: (...each: (typeof tests)[number]) => tests.push(each) },
  });
  await runBody(bodyOf(files.get('agent.test.js') ?? ''), surroundings);
  const t = { after: (close: () => unknown) => open.push(close) };
  for (const [, run] of tests) await run(t);
  return tests.map(([title]) => title);
}

/** `npm start`, with what it prints. */
async function startServer(project: Project) {
  const files = projectFiles(project);
  const signals = new Map<string, Signal>();
  const process = {
    env: globalThis.process.env,
    exitCode: undefined as number | undefined,
    once: (signal: string, handler: Signal) => signals.set(signal, handler),
  };
  const surroundings = await surroundingsOf(files, {
    'node:process': { default: process, env: process.env },
    'node:fs': { existsSync: () => false },
  });
  const [out, errors]: [unknown[], unknown[]] = [[], []];
  const console = { log: (text: unknown) => out.push(text), error: (text: unknown) => errors.push(text) };
  await runBody(bodyOf(files.get('server.js') ?? ''), { ...surroundings, console });
  return { out, errors, signals, exitCode: process.exitCode };
}

/** Names of the variables that `.env.example` lists, each with a line before it that says where to get it. */
function listedVariables(project: Project): string[] {
  const text = projectFiles(project).get('.env.example') ?? '';
  const names = [...text.matchAll(/^([A-Z_]+)=$/gm)].map(([, name = '']) => name);
  expect([...text.matchAll(/^# [^\n]+\.\n[A-Z_]+=$/gm)]).toHaveLength(names.length);
  return names;
}

/** Something that each variable can be, the more telling ones by name. */
const VALUES: Readonly<Record<string, string>> = {
  CARRIER_A_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
  CARRIER_B_PUBLIC_KEY: Buffer.alloc(32, 1).toString('base64'),
  PHONE_NUMBER: '+15005550010',
  WEBHOOK_HOST: 'voice.example.com',
  VLLM_BASE_URL: 'http://127.0.0.1:8001/v1',
};

describe.each(PROJECTS)('a project with %s', (_title, project) => {
  it('has a test that passes without a key', async () => {
    expect(await runTests(project)).toEqual(['greets the caller and answers a question']);
  });

  it('says all that is missing when it is started without a .env', async () => {
    for (const name of listedVariables(project)) vi.stubEnv(name, '');
    const { exitCode, errors, out } = await startServer(project);
    expect(errors).toEqual([
      `CONFIG_MISSING: Set ${listedVariables(project).join(', ')} in .env, a copy of .env.example.`,
    ]);
    expect([exitCode, out]).toEqual([1, []]);
  });

  it('serves with what .env.example lists, and nothing else', async () => {
    for (const name of listedVariables(project)) vi.stubEnv(name, VALUES[name] ?? 'any-text-without-blanks');
    const { exitCode, errors, out, signals } = await startServer(project);
    expect(errors).toEqual([]);
    expect(out).toEqual([expect.stringMatching(/^Answering calls\. The dashboard is at http/)]);
    expect(exitCode).toBeUndefined();
    await signals.get('SIGTERM')?.();
  });
});

it('an error of the server is told with its code', async () => {
  const [[, project] = []] = PROJECTS;
  if (project === undefined) throw new Error('there is no project');
  for (const name of listedVariables(project)) vi.stubEnv(name, 'any-text-without-blanks');
  const { exitCode, errors } = await startServer(project);
  expect(errors).toEqual([expect.stringMatching(/^CONFIG_INVALID: accountSid/)]);
  expect(exitCode).toBe(1);
});
