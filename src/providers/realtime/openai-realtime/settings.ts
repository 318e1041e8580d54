// The settings of a session in the words of the service. Source: OpenAI, Realtime client events, session.update (GA).
import type { ChatMessage, ToolDefinition } from '../../language-model.js';
import type { RealtimeContext } from '../../realtime-model.js';
import type { Json } from '../../wire/json.js';
import { toArgumentsText } from '../../wire/tool-arguments.js';
import { toFormat } from './formats.js';

/** Who decides when the caller has finished. */
export type TurnDetection =
  | {
      readonly type: 'server_vad';
      readonly threshold: number;
      readonly prefix_padding_ms: number;
      readonly silence_duration_ms: number;
    }
  | { readonly type: 'semantic_vad'; readonly eagerness: string };

/** What the recipe has settled. */
export interface SessionSettings {
  readonly voice: string;
  readonly speed: number | undefined;
  readonly language: string | undefined;
  readonly turnDetection: TurnDetection;
  /** Model of the caller's text; undefined asks for none. */
  readonly transcription: string | undefined;
  readonly noiseReduction: string | undefined;
  readonly maxOutputTokens: number;
  readonly reasoningEffort: string | undefined;
  readonly extraSession: Json;
}

export function toSession(settings: SessionSettings, context: RealtimeContext): Json {
  const { formats, instructions, tools, interruptible } = context;
  const language = settings.language ?? context.language?.split('-')[0];
  const { transcription: model, noiseReduction, speed, reasoningEffort, turnDetection } = settings;
  return {
    type: 'realtime',
    output_modalities: ['audio'],
    instructions,
    audio: {
      input: {
        format: toFormat(formats.input),
        noise_reduction: noiseReduction === undefined ? null : { type: noiseReduction },
        transcription:
          model === undefined ? null : { model, ...(language === undefined ? {} : { language }) },
        turn_detection: toTurnDetection(turnDetection, { interruptible }),
      },
      output: {
        format: toFormat(formats.output),
        voice: settings.voice,
        ...(speed === undefined ? {} : { speed }),
      },
    },
    ...(tools.length === 0 ? {} : { tools: tools.map(toTool), tool_choice: 'auto' }),
    max_output_tokens: settings.maxOutputTokens,
    // Drops old turns in blocks, which keeps the start of the prompt the same, and so in the service's cache.
    truncation: { type: 'retention_ratio', retention_ratio: 0.8 },
    ...(reasoningEffort === undefined ? {} : { reasoning: { effort: reasoningEffort } }),
    ...settings.extraSession,
  };
}

/** A caller who cannot interrupt is answered when we ask for it, which is when the model has finished. */
export function toTurnDetection(detection: TurnDetection, options: { interruptible: boolean }): Json {
  const { interruptible } = options;
  return { ...detection, create_response: interruptible, interrupt_response: interruptible };
}

function toTool({ name, description, parameters }: ToolDefinition): Json {
  return { type: 'function', name, description, parameters };
}

/** A conversation as items, in order. */
export function toItems(messages: readonly ChatMessage[]): Json[] {
  return messages.flatMap((message) => {
    if (message.role === 'tool') return [toResult(message.toolCallId, message.content)];
    const said = message.content === '' ? [] : [toMessage(message.role, message.content)];
    if (message.role !== 'assistant') return said;
    const calls = (message.toolCalls ?? []).map((call) => ({
      type: 'function_call',
      call_id: call.id,
      name: call.name,
      arguments: toArgumentsText(call),
    }));
    return [...said, ...calls];
  });
}

export function toMessage(role: 'user' | 'assistant' | 'system', text: string): Json {
  const type = role === 'assistant' ? 'output_text' : 'input_text';
  return { type: 'message', role, content: [{ type, text }] };
}

export function toResult(callId: string, output: string): Json {
  return { type: 'function_call_output', call_id: callId, output };
}

/** A call takes one result: what comes of it behind that is a note. */
export function toLateResult(callId: string, output: string): Json {
  return toMessage('system', `The tool call ${callId} has given: ${output}`);
}

/** Asks for `text` and nothing else, without looking at the conversation: what is said is an answer to nobody. */
export function toSaying(text: string): Json {
  return {
    instructions: `Say exactly this, word for word, and nothing before or after it: ${JSON.stringify(text)}`,
    input: [],
    tool_choice: 'none',
  };
}
