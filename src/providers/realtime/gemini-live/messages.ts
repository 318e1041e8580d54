// What the service writes, read into the few fields that are used. One message may hold several of them, and each counts.
// Source: Google, Live API reference.
import type { ModelToolCall } from '../../language-model.js';
import type { ResponseUsage } from '../../realtime-model.js';
import { type Json, parseObject, toArray, toCount, toNumber, toObject, toText } from '../../wire/json.js';
import { readArguments } from '../../wire/tool-arguments.js';

export type ServerPiece =
  | { readonly type: 'setup-complete' }
  /** `handle` is '' where the session cannot be resumed from here. */
  | { readonly type: 'resumption'; readonly handle: string }
  /** The connection will be closed. */
  | { readonly type: 'go-away' }
  | { readonly type: 'calls-cancelled'; readonly ids: readonly string[] }
  | { readonly type: 'user-text'; readonly delta: string; readonly isFinished: boolean }
  | { readonly type: 'interrupted' }
  | { readonly type: 'audio'; readonly audio: Uint8Array; readonly sampleRateHz: number | undefined }
  | { readonly type: 'text'; readonly delta: string; readonly isFinished: boolean }
  | { readonly type: 'tool-calls'; readonly calls: readonly ModelToolCall[] }
  | { readonly type: 'generation-complete' }
  | { readonly type: 'turn-complete' }
  | { readonly type: 'usage'; readonly usage: ResponseUsage }
  | { readonly type: 'other'; readonly name: string };

const KNOWN = new Set(
  'setupComplete serverContent toolCall toolCallCancellation sessionResumptionUpdate goAway usageMetadata'.split(
    ' ',
  ),
);

/** Reads one message, in the order in which its fields are to be taken. Never throws: what cannot be read is `other`. */
export function readServerMessage(text: string): ServerPiece[] {
  const message = parseObject(text);
  if (message === undefined) return [{ type: 'other', name: 'no JSON object' }];
  const unknown = Object.keys(message).filter((name) => !KNOWN.has(name));
  const usage = toObject(message.usageMetadata);
  const content = toObject(message.serverContent) ?? {};
  return [
    ...present(message.setupComplete, () => ({ type: 'setup-complete' as const })),
    ...present(message.sessionResumptionUpdate, (update) => ({
      type: 'resumption' as const,
      handle: update.resumable === true ? toText(update.newHandle) : '',
    })),
    ...present(message.goAway, () => ({ type: 'go-away' as const })),
    ...present(message.toolCallCancellation, ({ ids }) => ({
      type: 'calls-cancelled' as const,
      ids: toArray(ids).map(toText),
    })),
    ...readContent(content),
    ...present(message.toolCall, ({ functionCalls }) => ({
      type: 'tool-calls' as const,
      calls: toArray(functionCalls).flatMap(readCall),
    })),
    ...(endsBefore(content) ? [] : readEnds(content)),
    ...(usage === undefined ? [] : [{ type: 'usage' as const, usage: readUsage(usage) }]),
    ...unknown.map((name) => ({ type: 'other' as const, name: name.slice(0, 60) })),
  ];
}

function present<T>(value: unknown, read: (fields: Json) => T): T[] {
  const fields = toObject(value);
  return fields === undefined ? [] : [read(fields)];
}

/** The end is that of the turn that was interrupted: what stands beside it in the message comes behind it. */
function endsBefore({ interrupted, generationComplete, turnComplete }: Json): boolean {
  return interrupted === true && turnComplete === true && generationComplete !== true;
}

function readContent(content: Json): ServerPiece[] {
  const heard = toObject(content.inputTranscription);
  const said = toObject(content.outputTranscription);
  return [
    ...(heard === undefined ? [] : [{ type: 'user-text' as const, ...readTranscription(heard) }]),
    ...(content.interrupted === true ? [{ type: 'interrupted' as const }] : []),
    ...(endsBefore(content) ? readEnds(content) : []),
    ...toArray(toObject(content.modelTurn)?.parts).flatMap(readPart),
    ...(said === undefined ? [] : [{ type: 'text' as const, ...readTranscription(said) }]),
  ];
}

function readEnds(content: Json): ServerPiece[] {
  return [
    ...(content.generationComplete === true ? [{ type: 'generation-complete' as const }] : []),
    ...(content.turnComplete === true ? [{ type: 'turn-complete' as const }] : []),
  ];
}

function readTranscription({ text, finished }: Json): { delta: string; isFinished: boolean } {
  return { delta: toText(text), isFinished: finished === true };
}

/** Texts among the parts are what the model thinks: what it says has a transcription. */
function readPart(part: unknown): ServerPiece[] {
  const { data, mimeType } = toObject(toObject(part)?.inlineData) ?? {};
  if (!toText(mimeType).startsWith('audio/pcm') || toText(data) === '') return [];
  const rate = /;\s*rate=(\d{1,6})/.exec(toText(mimeType))?.[1];
  const sampleRateHz = rate === undefined ? undefined : Number(rate);
  return [{ type: 'audio', audio: Buffer.from(toText(data), 'base64'), sampleRateHz }];
}

/** Arguments come as an object; `argumentsText` is what they would have been on the way. */
function readCall(value: unknown): ModelToolCall[] {
  const { id, name, args } = toObject(value) ?? {};
  if (toText(id) === '' || toText(name) === '') return [];
  return [{ id: toText(id), name: toText(name), ...readArguments(args) }];
}

/** Details need not add up to the totals: what they do not tell of counts as text. So does what the model thinks. */
function readUsage(usage: Json): ResponseUsage {
  const inputTokens = toCount(usage.promptTokenCount) + toCount(usage.toolUsePromptTokenCount);
  const audioIn = audioOf(usage.promptTokensDetails) + audioOf(usage.toolUsePromptTokensDetails);
  const audioOut = audioOf(usage.responseTokensDetails);
  const textIn = Math.max(0, inputTokens - audioIn);
  const cachedAudio = Math.min(audioIn, audioOf(usage.cacheTokensDetails));
  const cachedText = Math.max(0, toCount(usage.cachedContentTokenCount) - cachedAudio);
  return {
    kind: 'response',
    inputTextTokens: textIn,
    cachedTextTokens: Math.min(textIn, cachedText),
    inputAudioTokens: audioIn,
    cachedAudioTokens: cachedAudio,
    outputTextTokens:
      Math.max(0, toCount(usage.responseTokenCount) - audioOut) + toCount(usage.thoughtsTokenCount),
    outputAudioTokens: audioOut,
  };
}

function audioOf(details: unknown): number {
  const counts = toArray(details).map((detail) => {
    const { modality, tokenCount } = toObject(detail) ?? {};
    return modality === 'AUDIO' ? Math.max(0, toNumber(tokenCount) ?? 0) : 0;
  });
  return counts.reduce((sum, count) => sum + count, 0);
}
