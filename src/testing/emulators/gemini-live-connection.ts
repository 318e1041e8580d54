// One socket of the emulated Live API: its settings, its ear, its conversation, and the turn that is on.
import type { Timer } from '../../base/clock.js';
import type { EmulatedToolCall } from './chat-reply-encoding.js';
import {
  checkMessage,
  checkSetup,
  invalid,
  isObjection,
  type Objection,
  readAudio,
  readTurns,
} from './gemini-live-checks.js';
import type { EmulateGeminiLiveOptions, GeminiLiveConnection } from './gemini-live-script.js';
import type { LiveConversation, LiveSessions } from './gemini-live-sessions.js';
import { type Fields, isFields, readFields, toFields } from './message-fields.js';
import { type EmulatedItem, type RealtimePart, readQuoted } from './realtime-script.js';
import { createHearing } from './hearing.js';
import type { HeardSpeech, Hearing } from './scripted-hearing.js';
import { SpokenReply } from './spoken-reply.js';
import type { VendorPeer } from './vendor-peer.js';
import type { PeerHandler, VendorServer } from './vendor-server.js';

/** Tokens of audio, both ways: one for 40 ms. */
const MS_PER_TOKEN = 40;
const PROMPT_TOKENS = 100;
/** Tokens that no detail tells of. */
const UNTOLD_TOKENS = 25;
const THOUGHT_TOKENS = 10;

export interface GeminiLivePart extends EmulateGeminiLiveOptions, RealtimePart {
  readonly sessions: LiveSessions;
  /** True when another connection has the session already. */
  readonly isTaken: (session: string) => boolean;
}

/** What the model says now. */
interface Turn {
  readonly speech: SpokenReply;
  readonly item: string;
  readonly text: string;
  readonly calls: readonly (EmulatedToolCall & { readonly id: string })[];
  readonly startedAt: number;
  /** Everything is sent, and the model waits until it would have been heard. */
  isPlaying: boolean;
}

export class LiveConnection implements PeerHandler, GeminiLiveConnection {
  readonly url: URL;
  readonly messages: Fields[] = [];
  readonly closes: number[] = [];
  setup: Fields = {};
  readonly #peer: VendorPeer;
  readonly #server: VendorServer;
  readonly #part: GeminiLivePart;
  readonly #timers = new Set<Timer>();
  readonly #openCalls = new Map<string, string>();
  #conversation: LiveConversation | undefined;
  #hearing: Hearing | undefined;
  #turn: Turn | undefined;
  #heard = '';
  #calls = 0;

  constructor(peer: VendorPeer, server: VendorServer, part: GeminiLivePart) {
    this.url = peer.request.url;
    this.#peer = peer;
    this.#server = server;
    this.#part = part;
  }

  get items(): readonly EmulatedItem[] {
    return this.#conversation?.items ?? [];
  }

  get audioMs(): number {
    return this.#hearing?.atMs ?? 0;
  }

  /** The session that this connection has now. */
  get sessionId(): string | undefined {
    return this.#peer.isOpen ? this.#conversation?.id : undefined;
  }

  /** JSON may come in binary messages, too. */
  binary(bytes: Buffer): void {
    this.text(bytes.toString('utf8'));
  }

  text(text: string): void {
    const message = readFields(text);
    const objection = message === undefined ? invalid('Invalid JSON payload received.') : this.#take(message);
    if (objection !== undefined) this.#object(objection);
  }

  closed(): void {
    this.#turn?.speech.stop();
    for (const timer of this.#timers) timer.cancel();
    if (this.#conversation !== undefined) this.#part.sessions.ended(this.#conversation);
  }

  #take(message: Fields): Objection | undefined {
    const objection = checkMessage(message);
    if (objection !== undefined) return objection;
    const { setup, clientContent, realtimeInput, toolResponse } = message;
    if (toFields(realtimeInput).audio === undefined) this.messages.push(message);
    if (setup !== undefined) return this.#setUp(toFields(setup));
    if (this.#conversation === undefined) return invalid('The first message must be setup.');
    if (clientContent !== undefined) return this.#addContent(toFields(clientContent));
    if (toolResponse !== undefined) return this.#takeResults(toFields(toolResponse).functionResponses);
    return this.#hearInput(toFields(realtimeInput));
  }

  #setUp(setup: Fields): Objection | undefined {
    if (this.#conversation !== undefined) return invalid('setup can be sent once.');
    const objection = checkSetup(setup);
    if (objection !== undefined) return objection;
    const { sessions, isTaken } = this.#part;
    const { handle } = toFields(setup.sessionResumption);
    const resumed = typeof handle === 'string' ? sessions.resume(handle) : sessions.start();
    if (resumed === undefined) {
      this.#close({ code: 1007, reason: 'Invalid session handle.' });
      return undefined;
    }
    if (isTaken(resumed.id)) return { code: 1011, reason: 'The session has another connection.' };
    this.setup = setup;
    this.#conversation = resumed;
    this.#send({ setupComplete: {} });
    return undefined;
  }

  #addContent({ turns, turnComplete }: Fields): Objection | undefined {
    const read = readTurns(turns);
    if (isObjection(read)) return read;
    this.#newInput();
    for (const { role, text } of read) this.#conversation?.add({ kind: 'message', role, text });
    if (turnComplete === true) this.#respond(undefined);
    return undefined;
  }

  #takeResults(responses: unknown): Objection | undefined {
    if (!Array.isArray(responses) || responses.length === 0) return invalid('Missing functionResponses.');
    for (const { id, name, response } of responses.map(toFields)) {
      if (!isFields(response)) return invalid('A function response must be an object.');
      const call = this.#openCalls.get(String(id));
      if (call === undefined || call !== name) return invalid(`Unknown function call ${String(id)}.`);
      this.#openCalls.delete(String(id));
      this.#conversation?.add({ kind: 'function_call_output', role: 'tool', text: JSON.stringify(response) });
    }
    if (this.#openCalls.size === 0) this.#respond(undefined);
    return undefined;
  }

  #hearInput({ audio, text, activityStart, activityEnd }: Fields): Objection | undefined {
    if (activityStart !== undefined || activityEnd !== undefined)
      return invalid('Activity is detected automatically.');
    if (typeof text === 'string') {
      this.#newInput();
      const say = readQuoted(text);
      if (say === undefined) this.#heard = `${this.#heard} ${text}`.trim();
      this.#respond(say);
    }
    if (audio === undefined) return undefined;
    const samples = readAudio(audio);
    if (isObjection(samples)) return samples;
    this.#hearing ??= this.#listen();
    this.#hearing.push(samples);
    return undefined;
  }

  get #detection(): Fields {
    const { realtimeInputConfig } = this.setup;
    return toFields(toFields(realtimeInputConfig).automaticActivityDetection);
  }

  #listen(): Hearing {
    return createHearing(
      {
        sampleRateHz: 16_000,
        pauseMs: Number(this.#detection.silenceDurationMs ?? 800),
        events: {
          started: () => {
            if (toFields(this.setup.realtimeInputConfig).activityHandling !== 'NO_INTERRUPTION')
              this.#newInput();
          },
          grew() {},
          ended: (speech) => this.#callerEnded(speech),
          silent() {},
        },
      },
      this.#part.hear,
    );
  }

  #callerEnded({ words }: HeardSpeech): void {
    const text = words.join(' ');
    this.#conversation?.add({ kind: 'message', role: 'user', text });
    this.#heard = `${this.#heard} ${text}`.trim();
    const { transcriptAfterMs = 0 } = this.#part;
    const tell = () => this.#tellTranscript(text);
    if (transcriptAfterMs === 0) tell();
    else if (transcriptAfterMs !== null) this.#after(transcriptAfterMs, tell);
    if (this.#turn === undefined) this.#respond(undefined);
  }

  /** In fragments, which need no blank between them. */
  #tellTranscript(text: string): void {
    if (this.setup.inputAudioTranscription === undefined || text === '') return;
    const half = Math.ceil(text.length / 2);
    const finished = this.#part.marksFinished === true ? { finished: true } : {};
    this.#send({ serverContent: { inputTranscription: { text: text.slice(0, half) } } });
    this.#send({ serverContent: { inputTranscription: { text: text.slice(half), ...finished } } });
  }

  /** Whatever comes in ends the turn that is on, and the calls that it waits for. */
  #newInput(): void {
    const isBlocking = !JSON.stringify(this.setup.tools ?? []).includes('NON_BLOCKING');
    if (isBlocking && this.#openCalls.size > 0) {
      this.#send({ toolCallCancellation: { ids: [...this.#openCalls.keys()] } });
      this.#openCalls.clear();
    }
    const turn = this.#turn;
    if (turn === undefined) return;
    this.#turn = undefined;
    this.#send({ serverContent: { interrupted: true } });
    turn.speech.cancel();
    this.#send({ serverContent: { turnComplete: true }, ...this.#usage(turn) });
  }

  #respond(say: string | undefined): void {
    for (const call of this.#openCalls.keys()) this.#server.complain(`the call ${call} has no response`);
    const { msPerCharacter = 60, chunkBytes = 4800, answer } = this.#part;
    const heard = this.#heard;
    if (say === undefined) this.#heard = '';
    const reply = answer({ heard, say, items: this.items });
    const item = this.#conversation?.add({ kind: 'message', role: 'assistant', text: '' }) ?? '';
    const speech = new SpokenReply({
      reply,
      encoding: 'pcm',
      msPerCharacter,
      chunkBytes,
      clock: this.#server.clock,
      piece: (audio, words) => this.#speak(turn, audio, words),
      cut: () => this.#peer.close(1006, ''),
      failed: () => this.#close({ code: 1011, reason: reply.errorCode ?? 'Internal error encountered.' }),
      finished: () => this.#finish(turn),
    });
    const calls = (reply.toolCalls ?? []).map((call) => {
      this.#calls += 1;
      return { id: `${this.#conversation?.id ?? ''}-call-${this.#calls}`, ...call };
    });
    const startedAt = this.#server.clock.now();
    const turn: Turn = { speech, item, text: reply.text ?? '', calls, startedAt, isPlaying: false };
    this.#turn = turn;
    speech.start();
  }

  #speak(turn: Turn, audio: Buffer, words: string): void {
    const data = audio.toString('base64');
    this.#conversation?.add({
      id: turn.item,
      kind: 'message',
      role: 'assistant',
      text: turn.text,
      audioMs: turn.speech.sentMs,
    });
    this.#send({
      serverContent: {
        modelTurn: { role: 'model', parts: [{ inlineData: { data, mimeType: 'audio/pcm;rate=24000' } }] },
        ...(words === '' ? {} : { outputTranscription: { text: words } }),
      },
    });
  }

  #finish(turn: Turn): void {
    for (const { id, name } of turn.calls) {
      this.#openCalls.set(id, name);
      this.#conversation?.add({ kind: 'function_call', role: 'assistant', text: name });
    }
    const functionCalls = turn.calls.map(({ id, name, arguments: args }) => ({
      id,
      name,
      args: typeof args === 'string' ? (readFields(args) ?? {}) : args,
    }));
    if (functionCalls.length > 0) {
      this.#turn = undefined;
      this.#send({ toolCall: { functionCalls }, ...this.#usage(turn) });
      return;
    }
    this.#send({ serverContent: { generationComplete: true } });
    turn.isPlaying = true;
    const { waitsForPlayback = true } = this.#part;
    const leftMs = turn.startedAt + turn.speech.sentMs - this.#server.clock.now();
    this.#after(waitsForPlayback ? Math.max(0, leftMs) : 0, () => this.#complete(turn));
  }

  #complete(turn: Turn): void {
    if (this.#turn !== turn) return;
    this.#turn = undefined;
    this.#send({ serverContent: { turnComplete: true }, ...this.#usage(turn) });
    if (this.#part.resumable === false || this.#conversation === undefined) return;
    const newHandle = this.#part.sessions.save(this.#conversation);
    this.#send({ sessionResumptionUpdate: { newHandle, resumable: true } });
  }

  /** Details lack some of the tokens, as they do with the vendor. */
  #usage({ speech }: Turn): Fields {
    const audioIn = Math.round(this.audioMs / MS_PER_TOKEN);
    const audioOut = Math.round(speech.sentMs / MS_PER_TOKEN);
    const promptTokenCount = PROMPT_TOKENS + UNTOLD_TOKENS + audioIn;
    return {
      usageMetadata: {
        promptTokenCount,
        responseTokenCount: audioOut,
        thoughtsTokenCount: THOUGHT_TOKENS,
        totalTokenCount: promptTokenCount + audioOut,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: PROMPT_TOKENS },
          { modality: 'AUDIO', tokenCount: audioIn },
        ],
        responseTokensDetails: [{ modality: 'AUDIO', tokenCount: audioOut }],
      },
    };
  }

  #object(objection: Objection): void {
    this.#server.complain(objection.reason);
    this.#close(objection);
  }

  #close({ code, reason }: Objection): void {
    this.closes.push(code);
    this.#peer.close(code, reason);
  }

  #send(message: object): void {
    this.#peer.send(Buffer.from(JSON.stringify(message)));
  }

  #after(delayMs: number, task: () => void): void {
    const timer = this.#server.clock.after(delayMs, () => {
      this.#timers.delete(timer);
      task();
    });
    this.#timers.add(timer);
  }
}
