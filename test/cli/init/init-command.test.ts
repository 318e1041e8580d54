import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoppedError } from '../../../src/cli/context.js';
import { itRefusesArguments, runCommand } from '../run-command.js';

const FILES = [
  '.env.example',
  '.gitignore',
  'README.md',
  'agent.js',
  'agent.test.js',
  'package.json',
  'server.js',
];

let parent: string;
let folder: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'offhook-init-'));
  folder = join(parent, 'my Agent');
});
afterEach(async () => {
  await rm(parent, { recursive: true });
});

const run = (...args: string[]) => runCommand(['init', ...args]);
const read = (name: string) => readFile(join(folder, name), 'utf8');

/** On a terminal where somebody types these lines. */
async function runAsked(args: readonly string[], ...answers: string[]) {
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    const answer = answers.shift();
    if (answer === undefined) throw new StoppedError('Stopped. Nothing was written.');
    return answer;
  };
  const result = await runCommand(['init', ...args], new AbortController().signal, ask);
  return { ...result, questions, left: answers };
}

describe('offhook init', () => {
  it('writes a project of the first choices with --yes, and says what comes next', async () => {
    const { code, out, errors } = await run(folder, '--yes');
    expect([code, errors]).toEqual([0, '']);
    expect((await readdir(folder)).toSorted()).toEqual(FILES);
    expect(out).toMatch(/npm install[\s\S]*npm test[\s\S]*cp \.env\.example \.env[\s\S]*npm start/);
    expect(await read('agent.js')).toMatch(
      /new CarrierA\(\)[\s\S]*new DeepgramSpeechToText\(\)[\s\S]*new ChatCompletions\(\)[\s\S]*new ElevenLabsTextToSpeech\(\)/,
    );
    expect(JSON.parse(await read('package.json'))).toMatchObject({
      name: 'my-agent',
      type: 'module',
      scripts: { start: expect.any(String), test: expect.any(String) },
      dependencies: { offhook: expect.stringMatching(/^file:/) },
    });
    expect((await read('.gitignore')).split('\n')).toContain('.env');
  });

  it('asks nothing where flags say all', async () => {
    const flags = ['--carrier', 'carrier-b', '--stt', 'openai', '--llm', 'groq', '--tts', 'openai'];
    const { code, questions } = await runAsked([folder, ...flags]);
    expect([code, questions]).toEqual([0, []]);
    expect(await read('agent.js')).toContain("new ChatCompletions({ service: 'groq' })");
    const variables = [...(await read('.env.example')).matchAll(/^(\w+)=$/gm)].map(([, name]) => name);
    expect(variables).toEqual([
      'CARRIER_B_API_KEY',
      'CARRIER_B_PUBLIC_KEY',
      'PHONE_NUMBER',
      'OPENAI_API_KEY',
      'GROQ_API_KEY',
      'TTS_MODEL',
      'TTS_VOICE',
      'WEBHOOK_HOST',
      'DASHBOARD_TOKEN',
    ]);
  });

  it('asks what is left open: by number, by name, by the firm, and again when nobody has that name', async () => {
    const { code, out, questions, left } = await runAsked([], folder, 'telnyx', '7', '2', 'gemini');
    expect([code, left]).toEqual([0, []]);
    expect(questions).toHaveLength(5);
    expect(out).toMatch(/1 {2}Twilio \(carrier-a\)\n {2}2 {2}Telnyx \(carrier-b\)/);
    expect(out).toContain('That is none of them: a number from 1 to 2, please.');
    expect(await read('agent.js')).toMatch(/new CarrierB\(\)[\s\S]*engine: new GeminiLive\(\)/);
  });

  it('takes the first choice for an empty line', async () => {
    expect(await runAsked([folder], '', '', '', '', '')).toMatchObject({ code: 0, left: [] });
    expect(await read('agent.js')).toContain('new ChatCompletions()');
  });

  it('writes nothing when it is stopped in the middle', async () => {
    const { code, errors } = await runAsked([folder], '1', '1');
    expect([code, errors]).toEqual([1, 'Stopped. Nothing was written.']);
    expect(await readdir(parent)).toEqual([]);
  });

  it('says without a terminal which flag is missing', async () => {
    const { code, errors } = await run(folder, '--carrier', 'carrier-a', '--stt', 'deepgram');
    expect([code, errors]).toEqual([2, expect.stringMatching(/--llm is missing: openai, .*--yes/)]);
    expect(await readdir(parent)).toEqual([]);
  });

  it('touches nothing in a folder that has one of its files', async () => {
    await mkdir(folder);
    await writeFile(join(folder, 'README.md'), 'mine');
    const { code, errors } = await run(folder, '--yes');
    expect([code, errors]).toEqual([1, expect.stringMatching(/README\.md is already in .*my Agent/)]);
    expect(await readdir(folder)).toEqual(['README.md']);
    expect(await read('README.md')).toBe('mine');
  });

  it('takes a package from where it is told', async () => {
    const tarball = join(parent, 'offhook-9.9.9.tgz');
    await writeFile(tarball, '');
    await run(folder, '--yes', '--offhook', relative('', tarball));
    expect(JSON.parse(await read('package.json'))).toMatchObject({
      dependencies: { offhook: 'file:../offhook-9.9.9.tgz' },
    });
  });

  it('never names the project as the package that it depends on', async () => {
    folder = join(parent, 'offhook');
    await run(folder, '--yes');
    expect(JSON.parse(await read('package.json'))).toMatchObject({ name: 'phone-agent' });
  });

  itRefusesArguments(run, [
    [['x', '--carrier', 'pigeon'], /Allowed choices are carrier-a, carrier-b/],
    [['x', '--tts', 'choir'], /Allowed choices are elevenlabs, /],
    [['x', '--mode', 'realtime', '--llm', 'openai'], /--llm belongs to a pipeline/],
    [['x', '--realtime', 'openai', '--stt', 'openai'], /--stt belongs to a pipeline/],
    [['x', '--mode', 'pipeline', '--realtime', 'openai'], /--realtime names a realtime model/],
    [['x', '--yes', '--offhook', ' '], /--offhook is empty/],
    [['x', '--yes', '--offhook', './gone.tgz'], /--offhook: there is no .*gone\.tgz/],
    [[' ', '--yes'], /The folder has no name/],
  ]);
});
