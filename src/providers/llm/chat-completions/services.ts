// Services that speak the Chat Completions dialect: where they are, what their keys are called, and in what they differ.
import type { AccessNames } from '../../wire/access.js';

/** Where servers of one dialect differ. */
export interface ChatDialect {
  /** Name of the field that limits an answer. */
  readonly maxTokensField: 'max_completion_tokens' | 'max_tokens';
  /** Role of the system prompt. */
  readonly systemRole: 'developer' | 'system';
  /** `stream_options` of a request; undefined leaves it out. A server that refuses it is not sent it again. */
  readonly streamOptions: Readonly<Record<string, boolean>> | undefined;
}

export interface ChatServiceFacts {
  readonly access: AccessNames;
  readonly keyRequired: boolean;
  /** Undefined where the caller must choose. */
  readonly defaultModel: string | undefined;
  readonly dialect: ChatDialect;
}

const USAGE = { include_usage: true };

const COMMON: ChatDialect = { maxTokensField: 'max_tokens', systemRole: 'system', streamOptions: USAGE };

function hosted(
  vendor: string,
  variables: string,
  defaultBaseUrl: string,
  defaultModel?: string,
): ChatServiceFacts {
  return {
    access: {
      vendor,
      keyVariables: [`${variables}_API_KEY`],
      baseUrlVariable: `${variables}_BASE_URL`,
      defaultBaseUrl,
    },
    keyRequired: true,
    defaultModel,
    dialect: COMMON,
  };
}

function local(vendor: string, variables: string, defaultBaseUrl: string | undefined): ChatServiceFacts {
  return {
    access: {
      vendor,
      keyVariables: [`${variables}_API_KEY`],
      baseUrlVariable: `${variables}_BASE_URL`,
      defaultBaseUrl,
    },
    keyRequired: false,
    defaultModel: undefined,
    dialect: COMMON,
  };
}

export const CHAT_SERVICES = {
  openai: {
    ...hosted('OpenAI', 'OPENAI', 'https://api.openai.com/v1', 'gpt-6-luna'),
    dialect: {
      maxTokensField: 'max_completion_tokens',
      systemRole: 'developer',
      // Padding against eavesdroppers who measure packets costs bandwidth and time on a call.
      streamOptions: { include_usage: true, include_obfuscation: false },
    },
  },
  groq: hosted('Groq', 'GROQ', 'https://api.groq.com/openai/v1', 'openai/gpt-oss-20b'),
  cerebras: hosted('Cerebras', 'CEREBRAS', 'https://api.cerebras.ai/v1'),
  xai: hosted('xAI', 'XAI', 'https://api.x.ai/v1'),
  openrouter: hosted('OpenRouter', 'OPENROUTER', 'https://openrouter.ai/api/v1'),
  ollama: local('Ollama', 'OLLAMA', 'http://127.0.0.1:11434/v1'),
  vllm: local('vLLM', 'VLLM', 'http://127.0.0.1:8000/v1'),
  lmstudio: local('LM Studio', 'LMSTUDIO', 'http://127.0.0.1:1234/v1'),
  llamacpp: local('llama.cpp', 'LLAMACPP', 'http://127.0.0.1:8080/v1'),
  compatible: local('The language model', 'CHAT', undefined),
} as const satisfies Readonly<Record<string, ChatServiceFacts>>;

/** `compatible` is any other server of the dialect: it needs `baseUrl` and `model`. */
export type ChatService = keyof typeof CHAT_SERVICES;
