// What an application writes as a tool, and what the engine makes of it.
import type { CallContext } from '../../contract/call-context.js';
import type { JsonObject, ToolDefinition } from '../../providers/language-model.js';

/** What a tool is told of the call that it is run for. */
export interface ToolContext extends CallContext {
  /**
   * Names this call of the tool. It is the same when the tool is run again after the process died (`idempotent`): what was done under a key need
   * not be done again.
   */
  readonly idempotencyKey: string;
  /** Aborted when the call ends or the tool's time is over. An interruption by the caller does not abort a tool. */
  readonly signal: AbortSignal;
  /**
   * Records nothing of the call on this machine until `resumeRecording`, which another tool may call: both sides are silent there, and for whoever
   * listens in. Does nothing without `localRecording` and `listenIn`.
   */
  pauseRecording(): void;
  /** Goes on with the recording, unless the application has paused it, too. */
  resumeRecording(): void;
}

/**
 * A schema of a validation library, as [Standard Schema](https://standardschema.dev) describes it: zod 3.24 and later, Valibot,
 * ArkType. Its JSON Schema is taken from `~standard.jsonSchema`, or a `toJSONSchema()` or `toJsonSchema()` method. `types` is there for the compiler alone.
 */
export interface StandardSchema {
  readonly '~standard': {
    readonly validate: (value: unknown) => unknown;
    readonly jsonSchema?: unknown;
    readonly types?: { readonly input: unknown; readonly output: unknown } | undefined;
  };
}

/** A tool of `phone.agent(...)`: something that the language model may have done. Either `execute` or `url`. */
export interface Tool {
  /** 1 to 64 letters, digits, `_` and `-`. */
  name: string;
  /** What it does and when to use it, for the model. */
  description: string;
  /** The arguments: a JSON Schema of type `object`, or a schema of a library, like `z.object(...)`. @default none */
  parameters?: JsonObject | StandardSchema | undefined;
  /** The JSON Schema of `parameters` where their library cannot give it. */
  jsonSchema?: JsonObject | undefined;
  /**
   * Does it, with arguments that fit `parameters`. The model is told what it returns: a text, or anything that is JSON, 16,384
   * characters of it. Of what it throws the model learns only that it failed.
   */
  execute?(args: JsonObject, context: ToolContext): unknown;
  /**
   * Gets `{ callId, direction, caller, callee, agent, variables, idempotencyKey, name, arguments }` by POST, and answers with JSON or text. http or
   * https. `{name}` in it is filled with the argument of that name. Where one stands in the host, so that the model chooses who is asked,
   * only public addresses are connected to, and the body has no `variables`; other hosts may be private.
   */
  url?: string | undefined;
  /** Longest time that it may take, in seconds, 0.1-120. @default 10 */
  timeoutSeconds?: number | undefined;
  /**
   * Doing it twice under one `idempotencyKey` does it once. If the process dies while the tool runs, it is then run again, under the same key;
   * else the model is told that the result was lost. @default false
   */
  idempotent?: boolean | undefined;
}

/** Arguments as the tool takes them, or what is wrong with them, for the model to read. */
export type CheckedArguments = { readonly value: unknown } | { readonly complaint: string };

/** A tool as the engine runs it. */
export interface AgentTool {
  readonly definition: ToolDefinition;
  readonly timeoutMs: number;
  /** It may be run again under the same key. */
  readonly isIdempotent: boolean;
  check(args: JsonObject): CheckedArguments | Promise<CheckedArguments>;
  /** @throws anything; a ToolError's sentence is told to the model. */
  run(args: unknown, context: ToolContext): unknown;
  /** The call is over: frees what is kept for it. Idempotent, never throws. @default nothing is kept */
  release?(callId: string): void;
}

/**
 * Why a tool did not do what the model asked for, as the log names it. `refused`: a built-in one was not possible then, or its number
 * was not reached.
 */
export type ToolFailure =
  | 'arguments'
  | 'timeout'
  | 'threw'
  | 'unknown-tool'
  | 'http'
  | 'mcp'
  | 'refused'
  | 'call-ended';

/** A tool failed in a way that the model may know: its sentence is ours. */
export class ToolError extends Error {
  readonly reason: ToolFailure;
  /** For the model in place of the sentence: words of somebody else's. */
  readonly told: string;

  constructor(sentence: string, reason: ToolFailure, { told = sentence }: { told?: string } = {}) {
    super(sentence);
    this.reason = reason;
    this.told = told;
  }
}
