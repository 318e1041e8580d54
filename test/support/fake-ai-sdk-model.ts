import { systemClock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import type { AiSdkCall } from '../../src/providers/llm/index.js';

export interface FakeSdkReply {
  readonly text?: string;
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly tokenMs?: number;
  /** In the place of what the text makes. */
  readonly parts?: readonly object[];
  /** `doStream` rejects with it. */
  readonly refusal?: unknown;
  /** `doStream` never settles, or the stream does not go on behind its parts; neither heeds its signal. */
  readonly hang?: 'open' | 'stream';
}

type Version = 'v2' | 'v3' | 'v4';

const USAGE = {
  v2: { inputTokens: 50, outputTokens: 2, totalTokens: 52, cachedInputTokens: 30 },
  v3: {
    inputTokens: { total: 50, noCache: 15, cacheRead: 30, cacheWrite: 5 },
    outputTokens: { total: 2, text: 2, reasoning: 0 },
  },
};

/** A language model as providers of the AI SDK make them, with scripted replies. */
export class FakeAiSdkModel {
  readonly specificationVersion: Version;
  readonly provider = 'fake.chat';
  readonly modelId = 'model-1';
  readonly calls: AiSdkCall[] = [];
  /** Streams that were cancelled before their end. */
  stopped = 0;
  readonly #replies: FakeSdkReply[];
  readonly #open = new Set<ReadableStreamDefaultController<object>>();

  constructor(replies: readonly FakeSdkReply[], version: Version = 'v3') {
    this.#replies = [...replies];
    this.specificationVersion = version;
  }

  async doStream(call: AiSdkCall): Promise<{ stream: ReadableStream<unknown> }> {
    this.calls.push(call);
    const reply = this.#replies.shift() ?? {};
    if (reply.hang === 'open') await new Promise(() => {});
    if (reply.refusal !== undefined) throw reply.refusal;
    const parts = reply.parts ?? toParts(reply, this.specificationVersion);
    return { stream: this.#stream(parts, reply) };
  }

  breakAll(): void {
    for (const controller of this.#open) controller.error(new Error('socket hang up'));
    this.#open.clear();
  }

  /** Their last parts do not come. */
  endAll(): void {
    for (const controller of this.#open) controller.close();
    this.#open.clear();
  }

  #stream(parts: readonly object[], { tokenMs = 0, hang }: FakeSdkReply): ReadableStream<object> {
    let at = 0;
    let own: ReadableStreamDefaultController<object> | undefined;
    return new ReadableStream<object>(
      {
        start: (controller) => {
          own = controller;
          this.#open.add(controller);
        },
        pull: async (controller) => {
          if (tokenMs > 0) await pause(systemClock, tokenMs);
          const part = parts[at];
          at += 1;
          if (!this.#open.has(controller)) return;
          if (part !== undefined) controller.enqueue(part);
          else if (hang === 'stream') await new Promise(() => {});
          else {
            this.#open.delete(controller);
            controller.close();
          }
        },
        cancel: () => {
          if (own !== undefined) this.#open.delete(own);
          if (at < parts.length) this.stopped += 1;
        },
      },
      { highWaterMark: 0 },
    );
  }
}

function toParts({ text = '', toolCalls = [] }: FakeSdkReply, version: Version): object[] {
  const reason = toolCalls.length > 0 ? 'tool-calls' : 'stop';
  return [
    { type: 'stream-start', warnings: [] },
    { type: 'reasoning-delta', id: 'r', delta: 'Let me think.' },
    ...(text.match(/\s*\S+/g) ?? []).map((delta) => ({ type: 'text-delta', id: 't', delta })),
    ...toolCalls.flatMap(({ id, name, arguments: input }) => [
      { type: 'tool-input-start', id, toolName: name },
      { type: 'tool-input-delta', id, delta: input },
      { type: 'tool-call', toolCallId: id, toolName: name, input },
    ]),
    version === 'v2'
      ? { type: 'finish', finishReason: reason, usage: USAGE.v2 }
      : { type: 'finish', finishReason: { unified: reason, raw: undefined }, usage: USAGE.v3 },
  ];
}
