// Every provider over TLS, against a vendor whose certificate nobody has signed.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  emulateAnthropic,
  emulateAssemblyAI,
  emulateCartesia,
  emulateChatCompletions,
  emulateDeepgram,
  emulateDeepgramAura,
  emulateElevenLabs,
  emulateElevenLabsAgents,
  emulateGeminiLive,
  emulateOpenAIRealtime,
  emulateOpenAISpeech,
  emulateOpenAITranscription,
  type Emulator,
} from '../../src/testing/index.js';
import { describeNeeding } from '../support/describe-needing.js';
import { hasOpenssl } from '../support/openssl.js';

const CHILD = fileURLToPath(new URL('./tls-child.mjs', import.meta.url));
const utterances = ['Good morning to you.'];
const tls = true;

interface Vendor {
  readonly stage: 'stt' | 'llm' | 'tts' | 'realtime';
  readonly name: string;
  start(): Promise<Emulator>;
  /** What comes behind the emulator's address. @default '' */
  readonly path?: string;
  readonly options?: object;
  readonly came: string;
}

const VENDORS: readonly Vendor[] = [
  {
    stage: 'stt',
    name: 'DeepgramSpeechToText',
    start: () => emulateDeepgram({ tls, utterances }),
    came: 'Good morning to you.',
  },
  {
    stage: 'stt',
    name: 'AssemblyAISpeechToText',
    start: () => emulateAssemblyAI({ tls, utterances }),
    came: 'Good morning to you.',
  },
  {
    stage: 'stt',
    name: 'OpenAITranscription',
    start: () => emulateOpenAITranscription({ tls, utterances }),
    path: '/v1',
    options: { model: 'whisper' },
    came: 'Good morning to you.',
  },
  {
    stage: 'llm',
    name: 'ChatCompletions',
    start: () => emulateChatCompletions({ tls }),
    path: '/v1',
    came: 'You said: Good morning to you.',
  },
  {
    stage: 'llm',
    name: 'AnthropicMessages',
    start: () => emulateAnthropic({ tls }),
    came: 'You said: Good morning to you.',
  },
  { stage: 'tts', name: 'DeepgramAura', start: () => emulateDeepgramAura({ tls }), came: 'speech' },
  { stage: 'tts', name: 'ElevenLabsTextToSpeech', start: () => emulateElevenLabs({ tls }), came: 'speech' },
  { stage: 'tts', name: 'CartesiaTextToSpeech', start: () => emulateCartesia({ tls }), came: 'speech' },
  {
    stage: 'tts',
    name: 'OpenAISpeech',
    start: () => emulateOpenAISpeech({ tls }),
    path: '/v1',
    options: { model: 'kokoro', voice: 'af_bella' },
    came: 'speech',
  },
  {
    stage: 'realtime',
    name: 'OpenAIRealtime',
    start: () => emulateOpenAIRealtime({ tls, utterances }),
    path: '/v1',
    came: 'You said: Good morning to you.',
  },
  {
    stage: 'realtime',
    name: 'GeminiLive',
    start: () => emulateGeminiLive({ tls, utterances }),
    came: 'You said: Good morning to you.',
  },
  {
    stage: 'realtime',
    name: 'ElevenLabsAgents',
    // Its signed address is fetched over https first.
    start: () => emulateElevenLabsAgents({ tls, utterances, isPrivate: true, inputFormat: 'pcm_16000' }),
    options: { agentId: 'agent-1' },
    came: 'You said: Good morning to you.',
  },
];

interface Outcome {
  readonly came?: string;
  readonly code?: string;
  readonly retryable?: boolean;
  readonly message?: string;
}

let emulators: readonly Emulator[] = [];
/** By the name of the provider: in a process that was told of the certificate, and in one that was not. */
let trusting = new Map<string, Outcome>();
let distrusting = new Map<string, Outcome>();

async function runSessions(environment: Readonly<Record<string, string>>): Promise<Map<string, Outcome>> {
  const tasks = VENDORS.map(({ stage, name, path = '', options = {} }, index) => ({
    stage,
    name,
    options: { apiKey: 'test-key', baseUrl: `${emulators[index]?.url}${path}`, ...options },
  }));
  const { stdout } = await promisify(execFile)(process.execPath, [CHILD, JSON.stringify(tasks)], {
    env: { ...process.env, ...environment },
  });
  const outcomes = JSON.parse(stdout) as Outcome[];
  return new Map(VENDORS.map(({ name }, index) => [name, outcomes[index] ?? {}]));
}

beforeAll(async () => {
  if (!hasOpenssl) return;
  emulators = await Promise.all(VENDORS.map((vendor) => vendor.start()));
  const folder = await mkdtemp(join(tmpdir(), 'offhook-certificate-'));
  const file = join(folder, 'certificate.pem');
  await writeFile(file, emulators[0]?.certificate ?? '');
  trusting = await runSessions({ NODE_EXTRA_CA_CERTS: file });
  distrusting = await runSessions({});
  await rm(folder, { recursive: true });
});
afterAll(() => Promise.all(emulators.map((emulator) => emulator.close())));

describeNeeding('openssl', hasOpenssl).each(VENDORS)('$name over TLS', ({ name, came }) => {
  it('holds a whole session', () => {
    expect(trusting.get(name)).toEqual({ came });
    expect(emulators.flatMap(({ violations }) => violations)).toEqual([]);
  });

  it('says that a certificate is not trusted, and does not try again', () => {
    expect(distrusting.get(name)).toMatchObject({ code: 'PROVIDER_FAILED', retryable: false });
    expect(distrusting.get(name)?.message).toMatch(
      /certificate that is not trusted here \(DEPTH_ZERO_SELF_SIGNED_CERT\); NODE_EXTRA_CA_CERTS/,
    );
  });
});
