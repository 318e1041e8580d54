// What spans say of calls. Never words of a caller or an agent, keys, or more of a number than its last four digits.
// Source: OpenTelemetry semantic conventions for generative AI, 1.41.
import type { Attributes } from '@opentelemetry/api';
import { maskPhone } from '../base/redact.js';
import type { CallEventOf, CallIdentity } from '../contract/call-event.js';
import type { CallProviders, Cost, ToolCall, Turn, Usage } from '../contract/call-record.js';
import type { StageName } from './span-times.js';

/** Of an error whose sentence is not for spans, and that has no code. */
const OTHER_ERROR = '_OTHER';

export function identityAttributes(callId: string, identity: CallIdentity): Attributes {
  const { carrier, carrierCallId, direction, caller, callee, agent } = identity;
  return {
    'gen_ai.conversation.id': callId,
    'offhook.call.id': callId,
    'offhook.call.carrier': carrier,
    'offhook.call.direction': direction,
    'offhook.call.caller': maskPhone(caller),
    'offhook.call.callee': maskPhone(callee),
    ...(agent === undefined ? {} : { 'gen_ai.agent.name': agent }),
    ...(carrierCallId === null ? {} : { 'offhook.call.carrier_call_id': carrierCallId }),
  };
}

export function endAttributes({ endReason, outcome, error }: CallEventOf<'call.ended'>): Attributes {
  return {
    'offhook.call.end_reason': endReason,
    'offhook.call.outcome': outcome,
    ...(error === null ? {} : { 'error.type': error.code }),
  };
}

/** What a call has used so far. */
export function usageAttributes(cost: Cost, usage: Usage | null): Attributes {
  const spent = { 'offhook.cost.usd': cost.total, 'offhook.cost.estimated': cost.estimated };
  if (usage === null) return spent;
  return {
    ...spent,
    ...tokenAttributes(usage),
    'offhook.usage.stt_seconds': usage.sttSeconds,
    'offhook.usage.tts_characters': usage.ttsCharacters,
  };
}

export type Tokens = Pick<Usage, 'llmInputTokens' | 'llmOutputTokens' | 'llmCachedTokens'>;

export function tokenAttributes({ llmInputTokens, llmOutputTokens, llmCachedTokens }: Tokens): Attributes {
  return {
    'gen_ai.usage.input_tokens': llmInputTokens,
    'gen_ai.usage.output_tokens': llmOutputTokens,
    'gen_ai.usage.cache_read.input_tokens': llmCachedTokens,
  };
}

export function turnAttributes(callId: string, turn: Turn, provider: CallProviders): Attributes {
  const { totalMs, heardMs } = turn.latency;
  return {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.conversation.id': callId,
    ...modelAttributes(provider.engine ?? provider.llm),
    ...(turn.agent === null ? {} : { 'gen_ai.agent.name': turn.agent }),
    'offhook.turn.index': turn.index,
    'offhook.turn.interrupted': turn.interrupted,
    ...(totalMs === null ? {} : { 'offhook.turn.latency_ms': totalMs }),
    ...(heardMs === null ? {} : { 'offhook.turn.heard_ms': heardMs }),
    ...(turn.fillerMs === null ? {} : { 'offhook.turn.filler_ms': turn.fillerMs }),
  };
}

/** Name and attributes of a stage's span. */
export function describeStage(
  stage: StageName,
  { latency }: Turn,
  provider: CallProviders,
): { name: string; attributes: Attributes } {
  if (stage === 'stt' || stage === 'tts')
    return { name: stage, attributes: { 'offhook.stage': stage, ...modelAttributes(provider[stage]) } };
  if (stage !== 'llm') return { name: stage, attributes: { 'offhook.stage': stage } };
  const model = modelAttributes(provider.llm);
  const { 'gen_ai.request.model': modelName } = model;
  const firstTokenMs = latency.llmFirstTokenMs;
  return {
    name: typeof modelName === 'string' ? `chat ${modelName}` : 'chat',
    attributes: {
      'offhook.stage': stage,
      'gen_ai.operation.name': 'chat',
      ...model,
      ...(firstTokenMs === null ? {} : { 'gen_ai.response.time_to_first_chunk': firstTokenMs / 1000 }),
    },
  };
}

export function toolAttributes({ name, error }: ToolCall): Attributes {
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.type': 'function',
    ...(error === null ? {} : { 'error.type': OTHER_ERROR }),
  };
}

/** Providers are named `vendor/model`, or by their vendor alone. */
function modelAttributes(name: string | null): Attributes {
  if (name === null) return {};
  const end = name.indexOf('/');
  if (end === -1) return { 'gen_ai.provider.name': name };
  return { 'gen_ai.provider.name': name.slice(0, end), 'gen_ai.request.model': name.slice(end + 1) };
}
