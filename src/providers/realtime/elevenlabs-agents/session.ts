// One call's conversation with an agent at the service: what it says becomes the contract's events, in order and without what is late.
import { bytesPerMs } from '../../../audio/format.js';
import type { RealtimeContext, RealtimeEvents, RealtimeSession } from '../../realtime-model.js';
import { fatalFailure, type WireFailure } from '../../wire/failure.js';
import type { Json } from '../../wire/json.js';
import type { VendorTarget } from '../../wire/lasting-socket.js';
import { SeenIds } from '../../wire/seen-ids.js';
import type { OpenVendorSocket, SocketClose } from '../../wire/vendor-socket.js';
import { type AnswerEnd, ElevenLabsAgentsAnswers } from './answers.js';
import { ElevenLabsAgentsCalls, type ToolResult } from './calls.js';
import { CLOSED_AS_ASKED, readAgentClose, TOO_LONG } from './errors.js';
import { AGENT_FORMAT_NAMES, readFormat } from './formats.js';
import { ElevenLabsAgentsHearing } from './hearing.js';
import { ElevenLabsAgentsRequests } from './requests.js';
import { readServerMessage, type ServerMessage } from './messages.js';
import {
  type AgentSettings,
  toContext,
  toHistoryUpdate,
  toInitiation,
  toSaying,
  toUserMessage,
} from './settings.js';
import { ElevenLabsAgentsTime } from './time.js';
import { createSessionEvents } from '../session-events.js';
import { SessionLink } from '../session-link.js';

export interface ElevenLabsAgentsSessionOptions {
  readonly target: VendorTarget;
  readonly settings: AgentSettings;
  readonly open?: OpenVendorSocket | undefined;
}

/** Our tool that ends a call; an agent has one of its own at the service. */
const END_CALL = 'end_call';

const HUNG_UP = 'ended the conversation';
const WHICH_FORMATS = `set the agent's audio formats to one of ${AGENT_FORMAT_NAMES.join(', ')}`;

const UNKNOWN_TOOL = '{"error":"There is no such tool on this call."}';
const UNWANTED = '{"error":"Not done: nobody waited for it."}';

export class ElevenLabsAgentsSession implements RealtimeSession {
  readonly #context: RealtimeContext;
  readonly #events: Required<RealtimeEvents>;
  readonly #settings: AgentSettings;
  readonly #link: SessionLink;
  readonly #answers: ElevenLabsAgentsAnswers;
  readonly #hearing: ElevenLabsAgentsHearing;
  readonly #time: ElevenLabsAgentsTime;
  readonly #calls = new ElevenLabsAgentsCalls();
  readonly #requests: ElevenLabsAgentsRequests;
  /** What the agent shall know, and the service is not told. */
  #untold: string[] = [];
  #interruptible: boolean;
  #greeting: string | undefined;
  #errorCode = '';
  /** Item of what the caller said before the agent spoke, as long as no words have come for it. */
  #wordless: string | undefined;
  readonly #userEvents = new SeenIds();
  /** The last turn of the caller that was told. */
  #userEventId = 0;
  /** Its last close was the agent's wish. */
  #hasHungUp = false;
  /** What that is where the conversation has to go on. */
  #hungUp: Error | undefined;
  #closed = false;

  constructor(context: RealtimeContext, { target, settings, open }: ElevenLabsAgentsSessionOptions) {
    this.#context = context;
    this.#settings = settings;
    this.#interruptible = context.interruptible;
    const { clock } = context;
    this.#events = createSessionEvents(context, {
      isClosed: () => this.#closed,
      close: () => this.close(),
    });
    this.#hearing = new ElevenLabsAgentsHearing(clock);
    this.#time = new ElevenLabsAgentsTime({
      clock,
      passed: (seconds) => this.#events.usage({ kind: 'session', seconds }),
    });
    this.#answers = new ElevenLabsAgentsAnswers({
      clock,
      durationMs: (bytes) => bytes / bytesPerMs(this.#link.formats.output),
      events: {
        started: (responseId) => this.#answerStarted(responseId),
        audio: this.#events.audio,
        text: this.#events.text,
        ended: (end) => this.#answerEnded(end),
      },
    });
    this.#requests = new ElevenLabsAgentsRequests({
      ask: (text) => this.#send(toUserMessage(text)),
      isSpeaking: () => this.#answers.isOpen,
      skipNext: (skips) => this.#answers.skipNext(skips),
      nothing: () => this.#answerNothing(),
    });
    if (owesAnswer(context)) this.#requests.owes();
    this.#link = new SessionLink({
      context,
      target,
      open,
      readClose: (close) => this.#readClose(close),
      toAudio: (base64) => `{"user_audio_chunk":"${base64}"}`,
      events: this.#events,
      protocol: {
        connected: () => this.#connected(),
        text: (text) => this.#received(readServerMessage(text)),
        ready: (connection) => this.#ready(connection),
        lost: () => this.#lost(),
        failed: (error) => this.#failed(error),
      },
    });
  }

  pushAudio(audio: Uint8Array): void {
    if (this.#closed) return;
    this.#hearing.heard(audio, this.#link.formats.input);
    this.#link.outbox.push(audio);
  }

  say(text: string): void {
    const isGreeting = !this.#link.isConnected && !this.#link.wasReady;
    if (isGreeting) this.#greeting = text;
    else this.#requests.want(toSaying(text));
  }

  addText({ role, text }: { role: 'user' | 'system'; text: string }): void {
    if (role === 'user') this.#requests.note(text);
    else if (this.#link.isReady) this.#send(toContext(text));
    else this.#untold.push(text);
  }

  respond(): void {
    if (this.#hungUp !== undefined) this.#events.failed(this.#hungUp);
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
    this.#link.close();
  }

  #connected(): void {
    this.#errorCode = '';
    // The history has it.
    this.#untold = [];
    const { callId, instructions, language, history } = this.#context;
    const greeting = this.#link.wasReady ? undefined : this.#greeting;
    const start = { callId, instructions, language, greeting, history: history() };
    this.#link.send(toInitiation(this.#settings, start));
    this.#time.start();
  }

  #metadata({ input: inputName, output: outputName }: { input: string; output: string }): void {
    const input = readFormat(inputName);
    const output = readFormat(outputName);
    if (input === undefined || output === undefined) {
      const which = input === undefined ? 'user input' : 'agent output';
      this.#link.fail(fatalFailure(`has an ${which} audio format that no telephone takes: ${WHICH_FORMATS}`));
      return;
    }
    this.#link.setFormats({ input, output });
    this.#link.ready();
  }

  #ready({ isFirst }: { isFirst: boolean }): void {
    const { instructions, history } = this.#context;
    const update = toHistoryUpdate(this.#settings, { instructions, history: history() });
    for (const message of update === undefined ? this.#untold.map(toContext) : [update]) this.#send(message);
    this.#untold = [];
    this.#requests.open({ isFirst });
  }

  #lost(): void {
    this.#time.stop();
    this.#calls.reset();
    this.#wordless = undefined;
    this.#userEvents.clear();
    this.#userEventId = 0;
    this.#requests.lost();
    this.#answers.reset();
    this.#hearing.reset();
  }

  #received(message: ServerMessage): void {
    if (this.#closed) return;
    switch (message.type) {
      case 'metadata':
        this.#metadata(message);
        return;
      case 'ping':
        this.#link.send({ type: 'pong', event_id: message.eventId });
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
        if (this.#interruptible) {
          const itemId = this.#answers.itemOf(message.original);
          this.#events.heardText({ itemId, text: message.text });
        }
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
        this.#link.note(message.name);
    }
  }

  #answerStarted(responseId: string): void {
    this.#requests.began();
    // The agent speaks, so the caller has finished. What they said may come later, or there were no words.
    if (this.#hearing.isSpeaking && this.#interruptible) this.#wordless = this.#callerFinished();
    this.#events.responseStarted(responseId);
  }

  #answerEnded({ isTold, ...end }: AnswerEnd): void {
    if (isTold) this.#events.responseEnded(end);
    else {
      this.#requests.skipped();
      this.giveResults(end.toolCalls.map(({ id }) => ({ toolCallId: id, result: UNWANTED })));
    }
    this.#settleWordless('');
    this.#requests.pump();
  }

  #interruption(eventId: number): void {
    if (this.#answers.isOver(eventId)) return;
    // What the caller said with it may have been told before, and is over then.
    if (eventId >= this.#userEventId) this.#callerSpeaks();
    const isCleared = this.#interruptible && this.#answers.isHeard(eventId);
    if (isCleared) {
      this.#requests.yields();
      this.#events.interrupted();
    }
    this.#answers.interrupted(eventId, { isCleared });
  }

  #callerSpeaks(): void {
    if (!this.#hearing.started()) return;
    this.#settleWordless('');
    // The agent answers what the caller says now, and has to know what was before.
    for (const text of this.#requests.takeNotes()) this.#send(toContext(text));
    this.#events.speechStarted();
  }

  #userText({ eventId, text, final }: Extract<ServerMessage, { type: 'user-text' }>): void {
    if (final && eventId !== 0 && !this.#userEvents.add(String(eventId))) return;
    if (final) this.#userEventId = Math.max(this.#userEventId, eventId);
    if (final && this.#wordless !== undefined && text !== '') {
      this.#settleWordless(text);
      return;
    }
    if (final) this.#answers.over();
    if (text === '') return;
    this.#callerSpeaks();
    if (!final) {
      const { itemId } = this.#hearing;
      this.#events.userText({ itemId, text, final: false });
      return;
    }
    this.#requests.expect();
    const itemId = this.#callerFinished();
    this.#events.userText({ itemId, text, final: true });
  }

  /** Returns the item of what was said. */
  #callerFinished(): string {
    const { itemId, agoMs } = this.#hearing.ended();
    const { outbox } = this.#link;
    outbox.settle(outbox.sentMs);
    this.#events.speechEnded({ itemId, agoMs });
    return itemId;
  }

  /** What the caller said before the agent spoke, for which no words had come. */
  #settleWordless(text: string): void {
    const itemId = this.#wordless;
    if (itemId === undefined) return;
    this.#wordless = undefined;
    this.#events.userText({ itemId, text, final: true });
  }

  #toolCall({ call, expectsResult }: Extract<ServerMessage, { type: 'tool-call' }>): void {
    if (!this.#calls.called(call.id, { expectsResult })) return;
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
    const isAsked = close.code === CLOSED_AS_ASKED && this.#errorCode !== TOO_LONG;
    // Who has not said a word has not ended a conversation either.
    this.#hasHungUp = this.#link.isReady && this.#answers.hasBegun && isAsked;
    return this.#hasHungUp ? fatalFailure(HUNG_UP) : readAgentClose(close, this.#errorCode);
  }

  #failed(error: Error): void {
    if (!this.#hasHungUp || !this.#context.tools.some(({ name }) => name === END_CALL)) {
      this.#events.failed(error);
      return;
    }
    // The agent has ended the conversation, by a tool of its own. What it said before is still to be heard.
    this.#hungUp = error;
    this.#time.stop();
    this.#answers.toolCall({ id: 'hung-up', name: END_CALL, arguments: {}, argumentsText: '{}' });
    this.#answers.over();
  }

  #send(message: Json): void {
    if (this.#link.isReady) this.#link.send(message);
  }
}

/** It begins in the middle of a conversation, in which somebody else was asked. */
function owesAnswer({ history }: Pick<RealtimeContext, 'history'>): boolean {
  const last = history().findLast(({ role }) => role !== 'system');
  return last !== undefined && last.role !== 'assistant';
}
