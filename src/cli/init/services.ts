// What a new project can be made of: carriers, and the vendors of each voice mode. How their objects are made, in the project and in its
// test, and where people get what they need.

/** A variable of the project's `.env`. */
export interface Variable {
  readonly name: string;
  /** What it is, and where to get it. */
  readonly source: string;
}

/** An option of a constructor, as code. */
export interface ServiceOption {
  readonly name: string;
  readonly code: string;
  /** What the test passes. @default `code` */
  readonly codeInTest?: string;
}

/** A service of one vendor. */
export interface Service {
  /** The value of the flag. */
  readonly id: string;
  readonly label: string;
  readonly className: string;
  readonly options: readonly ServiceOption[];
  /** Options that only the test needs, as code. */
  readonly moreInTest?: string;
  readonly variables: readonly Variable[];
  /** Function of `offhook/testing` that emulates it. */
  readonly emulator: string;
  readonly emulatorOptions?: string;
  /** What follows the emulator's address. */
  readonly path: '' | '/v1';
}

export type Stage = 'stt' | 'llm' | 'tts' | 'realtime';

function key(name: string, source: string): Variable {
  return { name: `${name}_API_KEY`, source };
}

const DEEPGRAM = key('DEEPGRAM', 'Deepgram: an API key, from console.deepgram.com.');
const OPENAI = key('OPENAI', 'OpenAI: an API key, from platform.openai.com/api-keys.');
const ELEVENLABS = key('ELEVENLABS', 'ElevenLabs: an API key, from elevenlabs.io/app/settings/api-keys.');

function fromEnvironment(name: string, variable: string, inTest = 'any'): ServiceOption {
  return { name, code: `env.${variable} ?? ''`, codeInTest: `'${inTest}'` };
}

/** A language model of the Chat Completions protocol. Without `isComplete`, the model has to be named. */
function chat(
  id: string,
  label: string,
  variables: readonly Variable[],
  { isComplete = false }: { isComplete?: boolean } = {},
): Service {
  const model = {
    name: 'LLM_MODEL',
    source: `${label}: the name of the model, as ${label} lists it. It should call tools.`,
  };
  return {
    id,
    label,
    className: 'ChatCompletions',
    options: [
      ...(id === 'openai' ? [] : [{ name: 'service', code: `'${id}'` }]),
      ...(isComplete ? [] : [fromEnvironment('model', model.name)]),
    ],
    variables: isComplete ? variables : [...variables, model],
    emulator: 'emulateChatCompletions',
    ...(id !== 'openai' && { emulatorOptions: "dialect: 'common'" }),
    path: '/v1',
  };
}

function plain(
  service: Pick<Service, 'id' | 'label' | 'className' | 'emulator' | 'variables'> & Partial<Service>,
): Service {
  return { options: [], path: '', ...service };
}

/** In each list, the first one is the default. */
export const SERVICES: Readonly<Record<Stage, readonly [Service, ...Service[]]>> = {
  stt: [
    plain({
      id: 'deepgram',
      label: 'Deepgram',
      className: 'DeepgramSpeechToText',
      emulator: 'emulateDeepgram',
      variables: [DEEPGRAM],
    }),
    plain({
      id: 'assemblyai',
      label: 'AssemblyAI',
      className: 'AssemblyAISpeechToText',
      emulator: 'emulateAssemblyAI',
      variables: [key('ASSEMBLYAI', 'AssemblyAI: an API key, from www.assemblyai.com/dashboard.')],
    }),
    plain({
      id: 'openai',
      label: 'OpenAI',
      className: 'OpenAITranscription',
      emulator: 'emulateOpenAITranscription',
      moreInTest: "model: 'any'",
      variables: [OPENAI],
      path: '/v1',
    }),
  ],
  llm: [
    chat('openai', 'OpenAI', [OPENAI], { isComplete: true }),
    plain({
      id: 'anthropic',
      label: 'Anthropic',
      className: 'AnthropicMessages',
      emulator: 'emulateAnthropic',
      variables: [key('ANTHROPIC', 'Anthropic: an API key, from console.anthropic.com/settings/keys.')],
    }),
    chat('groq', 'Groq', [key('GROQ', 'Groq: an API key, from console.groq.com/keys.')], {
      isComplete: true,
    }),
    chat('cerebras', 'Cerebras', [key('CEREBRAS', 'Cerebras: an API key, from cloud.cerebras.ai.')]),
    chat('xai', 'xAI', [key('XAI', 'xAI: an API key, from console.x.ai.')]),
    chat('openrouter', 'OpenRouter', [
      key('OPENROUTER', 'OpenRouter: an API key, from openrouter.ai/settings/keys.'),
    ]),
    chat('ollama', 'Ollama', []),
    chat('vllm', 'vLLM', [
      {
        name: 'VLLM_BASE_URL',
        source:
          'vLLM: the address of your server, such as http://127.0.0.1:8001/v1. Port 8000, its default, is that of this phone.',
      },
    ]),
    chat('lmstudio', 'LM Studio', []),
    chat('llamacpp', 'llama.cpp', []),
  ],
  tts: [
    plain({
      id: 'elevenlabs',
      label: 'ElevenLabs',
      className: 'ElevenLabsTextToSpeech',
      emulator: 'emulateElevenLabs',
      variables: [ELEVENLABS],
    }),
    plain({
      id: 'cartesia',
      label: 'Cartesia',
      className: 'CartesiaTextToSpeech',
      emulator: 'emulateCartesia',
      variables: [key('CARTESIA', 'Cartesia: an API key, from play.cartesia.ai/keys.')],
    }),
    plain({
      id: 'deepgram',
      label: 'Deepgram Aura',
      className: 'DeepgramAura',
      emulator: 'emulateDeepgramAura',
      variables: [DEEPGRAM],
    }),
    plain({
      id: 'openai',
      label: 'OpenAI',
      className: 'OpenAISpeech',
      emulator: 'emulateOpenAISpeech',
      path: '/v1',
      options: [fromEnvironment('model', 'TTS_MODEL'), fromEnvironment('voice', 'TTS_VOICE')],
      variables: [
        OPENAI,
        { name: 'TTS_MODEL', source: "OpenAI: the name of a speech model, from OpenAI's list of models." },
        { name: 'TTS_VOICE', source: 'OpenAI: the name of a voice of that model.' },
      ],
    }),
  ],
  realtime: [
    plain({
      id: 'openai',
      label: 'OpenAI Realtime',
      className: 'OpenAIRealtime',
      emulator: 'emulateOpenAIRealtime',
      variables: [OPENAI],
      path: '/v1',
    }),
    plain({
      id: 'gemini',
      label: 'Google Gemini Live',
      className: 'GeminiLive',
      emulator: 'emulateGeminiLive',
      variables: [key('GEMINI', 'Google: an API key, from aistudio.google.com/apikey.')],
    }),
    plain({
      id: 'elevenlabs',
      label: 'ElevenLabs Agents',
      className: 'ElevenLabsAgents',
      emulator: 'emulateElevenLabsAgents',
      options: [fromEnvironment('agentId', 'ELEVENLABS_AGENT_ID', 'agent-1')],
      variables: [
        ELEVENLABS,
        {
          name: 'ELEVENLABS_AGENT_ID',
          source:
            'ElevenLabs: the ID of the agent that you configured there. Its security settings must allow overrides of prompt, first message and language.',
        },
      ],
    }),
  ],
};

/** A carrier of a new project. */
export interface CarrierService {
  readonly id: string;
  readonly className: string;
  readonly variables: readonly Variable[];
  readonly simulator: string;
  /** Names and values of the account in the test. */
  readonly account: Readonly<Record<string, string>>;
  /** Options of its constructor in the test, as code. */
  readonly optionsInTest: string;
  /** The last step, at the carrier. */
  readonly lastStep: string;
}

/** By id, without the firms: those are in the registry of the carriers. */
export const CARRIER_SERVICES: Readonly<Record<'carrier-a' | 'carrier-b', CarrierService>> = {
  'carrier-a': {
    id: 'carrier-a',
    className: 'CarrierA',
    variables: [
      { name: 'CARRIER_A_ACCOUNT_SID', source: 'the Account SID, on the first page of the console.' },
      { name: 'CARRIER_A_AUTH_TOKEN', source: 'the Auth Token, on the same page.' },
    ],
    simulator: 'startCarrierASimulator',
    account: { accountSid: 'AC00000000000000000000000000000000', authToken: 'any-text-without-blanks' },
    optionsInTest: '...account, baseUrl: carrier.url',
    lastStep: 'The server sets the voice URL of your number when it starts.',
  },
  'carrier-b': {
    id: 'carrier-b',
    className: 'CarrierB',
    variables: [
      { name: 'CARRIER_B_API_KEY', source: "an API key, on the account's pages of API keys." },
      { name: 'CARRIER_B_PUBLIC_KEY', source: 'the public key, on the same pages.' },
    ],
    simulator: 'startCarrierBSimulator',
    account: { apiKey: 'any-text-without-blanks', connectionId: '1234567890' },
    optionsInTest: '...account, publicKey: carrier.publicKey, baseUrl: carrier.url',
    lastStep:
      "In the carrier's portal, create a Call Control application, give it your number, and set its webhook URL to `https://WEBHOOK_HOST/webhooks/carrier-b/voice`, API version 2.",
  },
};
