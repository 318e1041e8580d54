// Facts of calls -> OpenTelemetry spans: one per call, and below it turns, their stages and tools. Without an SDK nothing is recorded,
// and nothing is kept.
import type { Attributes, Context, Span, SpanKind as Kind, Tracer } from '@opentelemetry/api';
import { require } from '../base/commonjs.js';
import { PACKAGE_VERSION } from '../base/package-version.js';
import { maskPhone } from '../base/redact.js';
import type { CallEvent, CallEventOf, CallIdentity } from '../contract/call-event.js';
import type { CallProviders, ToolCall, Turn } from '../contract/call-record.js';
import type { EventBus } from '../events/bus.js';
import {
  describeStage,
  endAttributes,
  identityAttributes,
  tokenAttributes,
  type Tokens,
  toolAttributes,
  turnAttributes,
  usageAttributes,
} from './attributes.js';
import { forgetOldest } from './bounded.js';
import { type StageName, stagesOf, toHrTime, type TurnAnchors } from './span-times.js';

const { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } =
  require('@opentelemetry/api') as typeof import('@opentelemetry/api');

/** Calls that may be open at a time. The end of the oldest one beyond has not been heard, and is not waited for. */
const MAX_CALLS = 10_000;

/** Stages that are calls of somebody else's service. */
const CLIENTS: readonly StageName[] = ['stt', 'llm', 'tts'];

const NO_ANCHORS: TurnAnchors = { textFinalAt: null, agentAt: null };

const NO_TOKENS: Tokens = { llmInputTokens: 0, llmOutputTokens: 0, llmCachedTokens: 0 };

interface OpenCall {
  readonly span: Span;
  readonly context: Context;
  provider: CallProviders;
  turnCount: number;
  /** Of the turn that is open. */
  anchors: TurnAnchors;
  /** Tokens that the call has used, and how many of them are assigned to turns. */
  used: Tokens;
  given: Tokens;
  /** Of the last fact. */
  at: number;
}

/** Subscribes when it is made. */
export class CallTracer {
  readonly #tracer: Tracer;
  readonly #calls = new Map<string, OpenCall>();
  readonly #unsubscribe: () => void;

  /** `tracer` is the one of the provider that the application has registered, also later than this. */
  constructor(bus: EventBus, tracer: Tracer = trace.getTracer('offhook', PACKAGE_VERSION)) {
    this.#tracer = tracer;
    this.#unsubscribe = bus.subscribe((event) => this.#hear(event));
  }

  /** Hears nothing more; calls that are open end with the last that was heard of them. Idempotent. */
  close(): void {
    this.#unsubscribe();
    forgetOldest(this.#calls, 0, endUnheard);
  }

  /** Another process has the call: its span here ends with the last that was heard of it. */
  leave(callId: string): void {
    const call = this.#calls.get(callId);
    this.#calls.delete(callId);
    if (call !== undefined) endUnheard(call);
  }

  #hear(event: CallEvent): void {
    const known = this.#calls.get(event.callId);
    const call = known ?? this.#open(event);
    if (call === undefined) return;
    call.at = event.at;
    switch (event.type) {
      case 'call.started':
        call.provider = event.provider;
        call.span.setAttribute('offhook.call.mode', event.mode);
        call.span.addEvent('answered', toHrTime(event.at));
        if (event.language !== undefined) call.span.setAttribute('offhook.call.language', event.language);
        if (known !== undefined) call.span.setAttributes(identityAttributes(event.callId, event));
        break;
      case 'language.changed':
        call.provider = event.provider;
        call.span.setAttribute('offhook.call.language', event.language);
        call.span.addEvent(event.type, { 'offhook.call.language': event.language }, toHrTime(event.at));
        break;
      case 'turn.started':
        call.anchors = { textFinalAt: event.at, agentAt: null };
        call.turnCount = Math.max(call.turnCount, event.turnIndex + 1);
        break;
      case 'transcript.segment':
        // The answer's entry is dated by its first frame, and that of a filler before it by an earlier one.
        if (event.entry.role === 'agent')
          call.anchors = { ...call.anchors, agentAt: Math.max(event.entry.at, call.anchors.agentAt ?? 0) };
        break;
      case 'turn.completed':
        this.#turn(event, call);
        break;
      case 'cost.updated':
        call.used = event.usage ?? call.used;
        call.span.setAttributes(usageAttributes(event.cost, event.usage));
        break;
      case 'call.ended':
        this.#end(event, call);
        break;
      case 'agent.changed':
        call.span.setAttributes({ 'offhook.call.mode': event.mode, 'gen_ai.agent.name': event.to });
        if (event.language !== undefined) call.span.setAttribute('offhook.call.language', event.language);
        call.provider = event.provider;
        call.span.addEvent(
          'handoff',
          {
            'offhook.handoff.to': event.to,
            ...(event.from !== null && { 'offhook.handoff.from': event.from }),
          },
          toHrTime(event.at),
        );
        break;
      default:
        noteEvent(call.span, event);
    }
  }

  /** A call begins with the fact that names its parties. Undefined if spans are off, and for facts after the end. */
  #open(event: CallEvent): OpenCall | undefined {
    if (event.type !== 'call.status' && event.type !== 'call.started') return undefined;
    const identity: CallIdentity = event;
    const span = this.#tracer.startSpan(
      'call',
      {
        kind: identity.direction === 'inbound' ? SpanKind.SERVER : SpanKind.CLIENT,
        startTime: toHrTime(event.at),
        attributes: identityAttributes(event.callId, identity),
      },
      ROOT_CONTEXT,
    );
    if (!span.isRecording()) return undefined;
    const call: OpenCall = {
      span,
      context: trace.setSpan(ROOT_CONTEXT, span),
      provider: { engine: null, stt: null, llm: null, tts: null },
      turnCount: 0,
      anchors: NO_ANCHORS,
      used: NO_TOKENS,
      given: NO_TOKENS,
      at: event.at,
    };
    this.#calls.set(event.callId, call);
    forgetOldest(this.#calls, MAX_CALLS, endUnheard);
    return call;
  }

  #turn({ turn, callId, at }: CallEventOf<'turn.completed'>, call: OpenCall): void {
    const stages = stagesOf(turn, call.anchors);
    call.anchors = NO_ANCHORS;
    const tokens = takeTokens(call);
    const begins = [turn.startedAt, ...stages.map(({ from }) => from), ...turn.toolCalls.map(startOf)];
    const span = this.#start('invoke_agent', {
      from: Math.min(at, ...begins),
      attributes: { ...turnAttributes(callId, turn, call.provider), ...tokens },
      parent: call.context,
    });
    const context = trace.setSpan(ROOT_CONTEXT, span);
    for (const { name: stage, from, to } of stages) {
      const kind = CLIENTS.includes(stage) ? SpanKind.CLIENT : SpanKind.INTERNAL;
      const described = describeStage(stage, turn, call.provider);
      const attributes = { ...described.attributes, ...(stage === 'llm' ? tokens : {}) };
      this.#start(described.name, { kind, from, attributes, parent: context }).end(toHrTime(to));
    }
    for (const tool of turn.toolCalls) this.#tool(tool, { at, context });
    span.end(toHrTime(Math.max(at, ...stages.map(({ to }) => to))));
  }

  /** A tool that still runs when its turn is complete is told of until then. */
  #tool(tool: ToolCall, { at, context }: { at: number; context: Context }): void {
    const attributes = toolAttributes(tool);
    const from = startOf(tool);
    const span = this.#start(`execute_tool ${tool.name}`, { from, attributes, parent: context });
    if (tool.error !== null) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(toHrTime(tool.durationMs === null ? Math.max(at, from) : from + tool.durationMs));
  }

  #start(
    name: string,
    options: { kind?: Kind; from: number; attributes: Attributes; parent: Context },
  ): Span {
    const { kind = SpanKind.INTERNAL, from, attributes, parent } = options;
    return this.#tracer.startSpan(name, { kind, startTime: toHrTime(from), attributes }, parent);
  }

  #end(event: CallEventOf<'call.ended'>, { span, turnCount }: OpenCall): void {
    this.#calls.delete(event.callId);
    span.setAttributes({ ...endAttributes(event), 'offhook.call.turns': turnCount });
    if (event.error !== null) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(toHrTime(event.at));
  }
}

/** What was used since the turn before: the cost of a turn is told before its end. */
function takeTokens(call: OpenCall): Attributes {
  const { used, given } = call;
  call.given = used;
  const llmInputTokens = used.llmInputTokens - given.llmInputTokens;
  const llmOutputTokens = used.llmOutputTokens - given.llmOutputTokens;
  if (llmInputTokens + llmOutputTokens === 0) return {};
  const llmCachedTokens = used.llmCachedTokens - given.llmCachedTokens;
  return tokenAttributes({ llmInputTokens, llmOutputTokens, llmCachedTokens });
}

function startOf({ startedAt }: Turn | ToolCall): number {
  return startedAt;
}

function endUnheard({ span, at }: OpenCall): void {
  span.end(toHrTime(at));
}

/** What happened in a call beside its turns. Which keys were pressed is not told: they may be a card number. */
function noteEvent(span: Span, event: CallEvent): void {
  const at = toHrTime(event.at);
  if (event.type === 'incident.noted') span.addEvent('incident', { 'offhook.incident.code': event.code }, at);
  if (event.type === 'provider.reconnected' || event.type === 'provider.replaced')
    span.addEvent(
      event.type,
      { 'offhook.provider.stage': event.stage, 'offhook.incident.code': event.code },
      at,
    );
  if (event.type === 'amd.detected') span.setAttribute('offhook.call.answered_by', event.amd.answeredBy);
  if (event.type === 'transfer.updated')
    span.addEvent(
      'transfer',
      { 'offhook.transfer.to': maskPhone(event.to), 'offhook.transfer.result': event.result ?? 'ordered' },
      at,
    );
}
