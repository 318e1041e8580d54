// One call's conversation with an agent at the service: what it says becomes the contract's events, in order and without what is late.
import type { AudioFormat } from '../../audio/format.js';
import { KEPT_AUDIO_MS } from '../../audio/kept-audio.js';
import type { RealtimeContext, RealtimeSession } from '../realtime-model.js';
import type { VendorNames } from '../wire/access.js';
import { CallerOutbox } from '../wire/caller-outbox.js';
import { fatalFailure, toProviderError, type WireFailure } from '../wire/failure.js';
import type { Json } from '../wire/json.js';
import { LastingSocket, type VendorTarget } from '../wire/lasting-socket.js';
import { createUnknownLog } from '../wire/unknown-messages.js';
import type { OpenVendorSocket, SocketClose } from '../wire/vendor-socket.js';
import { tellEngine } from '../wire/tell-engine.js';
import { type AnswerEnd, ElevenLabsAgentsAnswers } from './elevenlabs-agents-answers.js';
import { ElevenLabsAgentsCalls, type ToolResult } from './elevenlabs-agents-calls.js';
import { CLOSED_AS_ASKED, readAgentClose, TOO_LONG } from './elevenlabs-agents-errors.js';
import { AGENT_FORMAT_NAMES, readFormat } from './elevenlabs-agents-formats.js';
import { ElevenLabsAgentsHearing } from './elevenlabs-agents-hearing.js';
import { ElevenLabsAgentsRequests } from './elevenlabs-agents-requests.js';
import { readServerMessage, type ServerMessage } from './elevenlabs-agents-messages.js';
import {
  type AgentSettings,
  toContext,
  toHistoryUpdate,
  toInitiation,
  toSaying,
  toUserMessage,
} from './elevenlabs-agents-settings.js';
import { ElevenLabsAgentsTime } from './elevenlabs-agents-time.js';

export interface ElevenLabsAgentsSessionOptions {
  readonly target: VendorTarget;
  readonly settings: AgentSettings;
  readonly open?: OpenVendorSocket | undefined;
}

/** Above this the network does not take what we send, and audio waits in the outbox. */
const MAX_BUFFERED_BYTES = 64 * 1024;

/** The tool of the house that ends a call; an agent has one of its own at the service. */
const END_CALL = 'end_call';

const HUNG_UP = 'ended the conversation';
const WHICH_FORMATS = `set the agent's audio formats to one of ${AGENT_FORMAT_NAMES.join(', ')}`;

const UNKNOWN_TOOL = '{"error":"There is no such tool on this call."}';
const UNWANTED = '{"error":"Not done: nobody waited for it."}';

export class ElevenLabsAgentsSession implements RealtimeSession {
  readonly #context: RealtimeContext;
  readonly #names: VendorNames;
  readonly #settings: AgentSettings;
  readonly #socket: LastingSocket;
  readonly #answers: ElevenLabsAgentsAnswers;
  readonly #hearing: ElevenLabsAgentsHearing;
  readonly #time: ElevenLabsAgentsTime;
  readonly #calls = new ElevenLabsAgentsCalls();
  readonly #requests: ElevenLabsAgentsRequests;
  readonly #note: (name: string) => void;
  #outbox: CallerOutbox | undefined;
  #input: AudioFormat | undefined;
  #interruptible: boolean;
  #greeting: string | undefined;
  #errorCode = '';
  /** Item of what the caller said before the agent spoke, as long as no words have come for it. */
  #wordless: string | undefined;
  #userEventId = 0;
  #isReady = false;
  #wasReady = false;
  #hasHungUp = false;
  #closed = false;

  constructor(context: RealtimeContext, { target, settings, open }: ElevenLabsAgentsSessionOptions) {
    this.#context = context;
    this.#names = target.names;
    this.#settings = settings;
    this.#interruptible = context.interruptible;
    const { clock, logger, events } = context;
    this.#note = createUnknownLog(context);
    this.#hearing = new ElevenLabsAgentsHearing(clock);
    this.#time = new ElevenLabsAgentsTime({
      clock,
      passed: (seconds) => this.#tell(() => events.usage({ kind: 'session', seconds })),
    });
    this.#answers = new ElevenLabsAgentsAnswers({
      clock,
      events: {
        started: (responseId) => this.#answerStarted(responseId),
        audio: (chunk) => this.#tell(() => events.audio(chunk)),
        text: (piece) => this.#tell(() => events.text(piece)),
        ended: (end) => this.#answerEnded(end),
      },
    });
    this.#requests = new ElevenLabsAgentsRequests({
      ask: (text) => this.#send(toUserMessage(text)),
      isSpeaking: () => this.#answers.isOpen,
      skipNext: (skips) => this.#answers.skipNext(skips),
      nothing: () => this.#answerNothing(),
    });
    this.#socket = new LastingSocket({
      target,
      clock,
      logger,
      open,
      readClose: (close) => this.#readClose(close),
      events: {
        connected: () => this.#connected(),
        text: (text) => this.#received(readServerMessage(text)),
        lost: (agoMs) => this.#lost(agoMs),
        failed: (error) => (this.#hasHungUp ? this.#hungUp() : this.#fail(error)),
      },
    });
  }

  pushAudio(audio: Uint8Array): void {
    if (this.#closed || this.#input === undefined) return;
    this.#hearing.heard(audio, this.#input);
    this.#outbox?.push(audio);
  }

  say(text: string): void {
    const isGreeting = !this.#socket.connected && !this.#wasReady;
    if (isGreeting) this.#greeting = text;
    else this.#requests.want(toSaying(text));
  }

  addText({ role, text }: { role: 'user' | 'system'; text: string }): void {
    if (role === 'user') this.#requests.note(text);
    else this.#send(toContext(text));
  }

  respond(): void {
    if (this.#hasHungUp) this.#fail(toProviderError(this.#names, fatalFailure(HUNG_UP)));
    else this.#requests.respond();
  }

  giveResults(results: readonly ToolResult[]): void {
    const { messages, isAwaited, isLate } = this.#calls.settle(results);
    for (const message of messages) this.#send(message);
    if (isLate) this.#requests.owes();
    if (isAwaited) this.#requests.expect();
  }

  cancel(): void {
    this.#requests.forget({ isSpeaking: this.#answers.cancel() });
  }

  /** The service counts by itself what was heard, and cannot be told. */
  truncate(): void {}

  update({ interruptible }: { interruptible: boolean }): void {
    this.#interruptible = interruptible;
  }

  close(): void {
    if (this.#closed) return;
    this.#time.stop();
    this.#closed = true;
    this.#answers.reset();
    this.#socket.close();
    this.#outbox?.reportLoss(this.#context);
  }

  #connected(): void {
    this.#errorCode = '';
    const { callId, instructions, language, history } = this.#context;
    const greeting = this.#wasReady ? undefined : this.#greeting;
    const start = { callId, instructions, language, greeting, history: history() };
    this.#socket.send(JSON.stringify(toInitiation(this.#settings, start)));
    this.#time.start();
  }

  #ready({ input: inputName, output: outputName }: { input: string; output: string }): void {
    if (this.#isReady) return;
    const input = readFormat(inputName);
    const output = readFormat(outputName);
    if (input === undefined || output === undefined) {
      const which = input === undefined ? 'user input' : 'agent output';
      this.#failWith(fatalFailure(`has an ${which} audio format that no telephone takes: ${WHICH_FORMATS}`));
      return;
    }
    this.#isReady = true;
    this.#input = input;
    this.#outbox ??= new CallerOutbox({
      format: input,
      keptMs: KEPT_AUDIO_MS,
      send: (chunk) => this.#sendAudio(chunk),
    });
    const { events, instructions, history } = this.#context;
    const update = toHistoryUpdate(this.#settings, { instructions, history: history() });
    if (update !== undefined) this.#send(update);
    const wasReady = this.#wasReady;
    this.#wasReady = true;
    this.#requests.open({ isFirst: !wasReady });
    const gapMs = this.#socket.serves() ?? 0;
    // The engine gives what it has kept as soon as it is told.
    this.#outbox.restart();
    this.#tell(() => {
      if (wasReady) events.reconnected({ gapMs });
      else events.ready({ input, output });
    });
    this.#outbox.flush();
  }

  #lost(agoMs: number): void {
    this.#time.stop();
    const wasUsed = this.#isReady;
    this.#isReady = false;
    this.#calls.reset();
    this.#wordless = undefined;
    this.#userEventId = 0;
    this.#requests.lost();
    this.#answers.reset();
    this.#hearing.reset();
    if (wasUsed) this.#tell(() => this.#context.events.lost?.({ agoMs }));
  }

  #received(message: ServerMessage): void {
    if (this.#closed) return;
    const { events } = this.#context;
    switch (message.type) {
      case 'metadata':
        this.#ready(message);
        return;
      case 'ping':
        this.#socket.send(JSON.stringify({ type: 'pong', event_id: message.eventId }));
        return;
      case 'audio':
        this.#answers.audio(message.eventId, message.audio, message);
        return;
      case 'agent-text':
        this.#answers.text(message.eventId, message.text, message);
        return;
      case 'complete':
        this.#answers.complete(message.eventId);
        return;
      case 'interruption':
        this.#interruption(message.eventId);
        return;
      case 'correction':
        // What nobody may interrupt was played to its end, whatever the service reckons.
        if (this.#interruptible)
          this.#tell(() => events.heardText?.({ itemId: this.#answers.itemId, text: message.text }));
        return;
      case 'user-text':
        this.#userText(message);
        return;
      case 'voice':
        this.#hearing.score(message.score);
        return;
      case 'tool-call':
        this.#toolCall(message);
        return;
      case 'error':
        this.#errorCode = message.code;
        return;
      case 'other':
        this.#note(message.name);
    }
  }

  #answerStarted(responseId: string): void {
    this.#requests.began();
    // The agent speaks, so the caller has finished. What they said may come later, or there were no words.
    if (this.#hearing.isSpeaking && this.#interruptible) this.#wordless = this.#callerFinished();
    this.#tell(() => this.#context.events.responseStarted(responseId));
  }

  #answerEnded({ isTold, ...end }: AnswerEnd): void {
    if (isTold) this.#tell(() => this.#context.events.responseEnded(end));
    else {
      this.#requests.skipped();
      this.giveResults(end.toolCalls.map(({ id }) => ({ toolCallId: id, result: UNWANTED })));
    }
    this.#settleWordless('');
    this.#requests.pump();
  }

  #interruption(eventId: number): void {
    const isCurrent = this.#answers.interrupts(eventId);
    this.#callerSpeaks();
    if (!isCurrent) return;
    if (this.#interruptible) {
      this.#requests.yields();
      this.#tell(() => this.#context.events.interrupted());
    }
    this.#answers.interrupted();
  }

  #callerSpeaks(): void {
    if (!this.#hearing.started()) return;
    this.#settleWordless('');
    // The agent answers what the caller says now, and has to know what was before.
    for (const text of this.#requests.takeNotes()) this.#send(toContext(text));
    this.#tell(() => this.#context.events.speechStarted());
  }

  #userText({ eventId, text, final }: Extract<ServerMessage, { type: 'user-text' }>): void {
    if (final && eventId !== 0 && eventId === this.#userEventId) return;
    if (final) this.#userEventId = eventId;
    const { events } = this.#context;
    if (final && this.#wordless !== undefined && text !== '') {
      this.#settleWordless(text);
      return;
    }
    if (final) this.#answers.over();
    if (text === '') return;
    this.#callerSpeaks();
    if (!final) {
      const { itemId } = this.#hearing;
      this.#tell(() => events.userText({ itemId, text, final: false }));
      return;
    }
    this.#requests.expect();
    const itemId = this.#callerFinished();
    this.#tell(() => events.userText({ itemId, text, final: true }));
  }

  /** Returns the item of what was said. */
  #callerFinished(): string {
    const { itemId, agoMs } = this.#hearing.ended();
    this.#outbox?.settle(this.#outbox.sentMs);
    this.#tell(() => this.#context.events.speechEnded({ itemId, agoMs }));
    return itemId;
  }

  /** What the caller said before the agent spoke, for which no words had come. */
  #settleWordless(text: string): void {
    const itemId = this.#wordless;
    if (itemId === undefined) return;
    this.#wordless = undefined;
    this.#tell(() => this.#context.events.userText({ itemId, text, final: true }));
  }

  #toolCall({ call, expectsResult }: Extract<ServerMessage, { type: 'tool-call' }>): void {
    this.#calls.called(call.id, { expectsResult });
    if (this.#context.tools.some(({ name }) => name === call.name)) this.#answers.toolCall(call);
    else this.giveResults([{ toolCallId: call.id, result: UNKNOWN_TOOL }]);
  }

  /** An answer was asked for, and there is nothing to say. */
  #answerNothing(): void {
    this.#context.clock.after(0, () => {
      if (!this.#closed && !this.#answers.isOpen && !this.#requests.isComing) this.#answers.nothing();
    });
  }

  #readClose(close: SocketClose): WireFailure {
    this.#hasHungUp = this.#isReady && close.code === CLOSED_AS_ASKED && this.#errorCode !== TOO_LONG;
    return this.#hasHungUp ? fatalFailure(HUNG_UP) : readAgentClose(close, this.#errorCode);
  }

  /** The agent has ended the conversation, by a tool of its own. What it said before is still to be heard. */
  #hungUp(): void {
    this.#time.stop();
    if (!this.#context.tools.some(({ name }) => name === END_CALL)) {
      this.#fail(toProviderError(this.#names, fatalFailure(HUNG_UP)));
      return;
    }
    this.#answers.toolCall({ id: 'hung-up', name: END_CALL, arguments: {}, argumentsText: '{}' });
    this.#answers.over();
  }

  #send(message: Json): void {
    if (this.#isReady) this.#socket.send(JSON.stringify(message));
  }

  #sendAudio(chunk: Uint8Array): boolean {
    if (!this.#isReady || this.#socket.bufferedBytes > MAX_BUFFERED_BYTES) return false;
    const audio = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('base64');
    this.#socket.send(`{"user_audio_chunk":"${audio}"}`);
    return true;
  }

  #failWith(failure: WireFailure): void {
    this.#socket.close();
    this.#fail(toProviderError(this.#names, failure));
  }

  #fail(error: Error): void {
    if (this.#closed) return;
    this.close();
    this.#context.events.failed(error);
  }

  #tell(event: () => void): void {
    const failure = this.#closed ? undefined : tellEngine(this.#context, event);
    if (failure !== undefined) this.#fail(failure);
  }
}
