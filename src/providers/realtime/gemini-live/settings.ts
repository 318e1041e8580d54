// The settings of a session and its conversation in the words of the service. Source: Google, Live API reference.
import type { ChatMessage, ToolDefinition } from '../../language-model.js';
import type { RealtimeContext } from '../../realtime-model.js';
import { type Json, parseObject } from '../../wire/json.js';
import { toParameters } from './schema.js';

/** What becomes of the model's turn while a tool runs. */
export type ToolBehavior = 'blocking' | 'when-idle' | 'interrupt';

/** What the recipe has settled. */
export interface LiveSettings {
  readonly model: string;
  readonly voice: string;
  readonly language: string | undefined;
  readonly startSensitivity: 'high' | 'low';
  readonly endSensitivity: 'high' | 'low';
  readonly prefixPaddingMs: number;
  readonly silenceMs: number;
  /** Without it the service ends a conversation after a quarter of an hour. */
  readonly compression: boolean;
  readonly transcription: boolean;
  readonly toolBehavior: ToolBehavior;
}

/** The first message of a connection. `handle`: of the session that it goes on with. */
export function toSetup(settings: LiveSettings, context: RealtimeContext, handle: string | undefined): Json {
  const { voice, language, compression, transcription, toolBehavior } = settings;
  const { tools } = context;
  const functionDeclarations = tools.map((tool) => toDeclaration(tool, toolBehavior));
  return {
    setup: {
      model: `models/${settings.model}`,
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: {
          voiceConfig: { prebuiltVoiceConfig: { voiceName: voice } },
          ...(language === undefined ? {} : { languageCode: language }),
        },
      },
      ...toInstruction(context),
      ...(tools.length === 0 ? {} : { tools: [{ functionDeclarations }] }),
      realtimeInputConfig: {
        automaticActivityDetection: {
          disabled: false,
          startOfSpeechSensitivity: `START_SENSITIVITY_${settings.startSensitivity.toUpperCase()}`,
          endOfSpeechSensitivity: `END_SENSITIVITY_${settings.endSensitivity.toUpperCase()}`,
          prefixPaddingMs: settings.prefixPaddingMs,
          silenceDurationMs: settings.silenceMs,
        },
        // Cannot change in a session: who may not interrupt is not heard while the model makes its answer.
        activityHandling: 'START_OF_ACTIVITY_INTERRUPTS',
      },
      ...(transcription ? { inputAudioTranscription: {} } : {}),
      outputAudioTranscription: {},
      sessionResumption: handle === undefined ? {} : { handle },
      ...(compression ? { contextWindowCompression: { slidingWindow: {} } } : {}),
    },
  };
}

/** The models change their language by themselves: what the agent's own is they are told in words. */
function toInstruction({ instructions, language }: RealtimeContext): Json {
  const wish =
    language === undefined ? '' : `Speak the language "${language}" unless the caller wants another one.`;
  const text = [instructions, wish].filter((part) => part !== '').join('\n\n');
  return text === '' ? {} : { systemInstruction: { parts: [{ text }] } };
}

function toDeclaration({ name, description, parameters }: ToolDefinition, behavior: ToolBehavior): Json {
  const schema = toParameters(parameters);
  return {
    name,
    description,
    ...(schema === undefined ? {} : { parameters: schema }),
    behavior: behavior === 'blocking' ? 'BLOCKING' : 'NON_BLOCKING',
  };
}

export function toAudio(base64: string): string {
  return `{"realtimeInput":{"audio":{"data":"${base64}","mimeType":"audio/pcm;rate=16000"}}}`;
}

/** Asks for `text` and nothing else. */
export function toSaying(text: string): Json {
  return {
    realtimeInput: {
      text: `Say exactly this, word for word, and nothing before or after it: ${JSON.stringify(text)}`,
    },
  };
}

/** Adds to the conversation, and asks for an answer or not. */
export function toContent(turns: readonly Json[], options: { asks: boolean }): Json {
  return {
    clientContent: { ...(turns.length === 0 ? {} : { turns }), turnComplete: options.asks },
  };
}

export interface ToolResult {
  readonly id: string;
  readonly name: string;
  readonly result: string;
}

export function toToolResponse(results: readonly ToolResult[], behavior: ToolBehavior): Json {
  const scheduling = behavior === 'when-idle' ? 'WHEN_IDLE' : 'INTERRUPT';
  const functionResponses = results.map(({ id, name, result }) => ({
    id,
    name,
    response: parseObject(result) ?? { result },
    ...(behavior === 'blocking' ? {} : { scheduling }),
  }));
  return { toolResponse: { functionResponses } };
}

export function toTurn(role: 'user' | 'assistant' | 'system', text: string): Json {
  if (role === 'assistant') return { role: 'model', parts: [{ text }] };
  // There are two roles: a note of ours is told apart from the caller's words by its brackets.
  return { role: 'user', parts: [{ text: role === 'system' ? `[${text}]` : text }] };
}

/** A result that has no call on this connection any more. */
export function toLateResult({ name, result }: Omit<ToolResult, 'id'>): Json {
  return toTurn('system', `Result of the tool ${name}: ${result}`);
}

/** A conversation as turns, in order. */
export function toTurns(messages: readonly ChatMessage[]): Json[] {
  const names = new Map<string, string>();
  return messages.flatMap((message) => {
    if (message.role === 'tool') {
      const name = names.get(message.toolCallId) ?? 'tool';
      return [toLateResult({ name, result: message.content })];
    }
    if (message.role === 'assistant') for (const { id, name } of message.toolCalls ?? []) names.set(id, name);
    return message.content === '' ? [] : [toTurn(message.role, message.content)];
  });
}
