// A session of a realtime model under test: what it told, whether that was in order, and a mouth to speak into it.
import { systemClock } from '../../base/clock.js';
import { silentLogger } from '../../base/log.js';
import type { ModelToolCall } from '../../providers/language-model.js';
import type {
  RealtimeEvents,
  RealtimeFormats,
  RealtimeModel,
  RealtimeSession,
  RealtimeUsage,
} from '../../providers/realtime-model.js';
import { transcoder } from '../../transcoder/select.js';
import { makeEmulatedSpeech } from '../emulators/emulated-speech.js';

const SPEECH_MS = 700;
const PAUSE_MS = 900;
const CHUNK_MS = 20;

export interface SaidItem {
  readonly itemId: string;
  text: string;
  audioMs: number;
}

export class RealtimeConversation {
  readonly session: RealtimeSession;
  /** Items of the agent, in order. */
  readonly said: SaidItem[] = [];
  readonly ends: { readonly reason: string; readonly toolCalls: readonly ModelToolCall[] }[] = [];
  /** Items of the caller that were told as complete, and their texts. */
  readonly turns: string[] = [];
  readonly callerTexts: string[] = [];
  /** What was out of order. */
  readonly complaints: string[] = [];
  readonly usages: RealtimeUsage[] = [];
  /** Why the session cannot go on. */
  failure: Error | undefined;
  interruptions = 0;
  losses = 0;
  reconnections = 0;
  told = 0;
  historyAsked = false;
  #formats: RealtimeFormats | undefined;
  #response: string | undefined;

  constructor(model: RealtimeModel) {
    const [input] = model.inputFormats;
    const [output] = model.outputFormats;
    if (input === undefined || output === undefined) throw new Error('The model offers no format.');
    this.session = model.open({
      callId: 'call',
      clock: systemClock,
      logger: silentLogger,
      language: 'en',
      instructions: 'You answer the telephone.',
      tools: [
        {
          name: 'find_slot',
          description: 'Free appointments on a day',
          parameters: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
        },
      ],
      formats: { input, output },
      interruptible: true,
      history: () => {
        this.historyAsked = this.isReady;
        return [
          { role: 'user', content: 'Good morning to you.' },
          { role: 'assistant', content: 'Good day.' },
        ];
      },
      events: this.#events(),
    });
  }

  get isReady(): boolean {
    return this.#formats !== undefined;
  }

  get audioMs(): number {
    return this.said.reduce((sum, { audioMs }) => sum + audioMs, 0);
  }

  /** The caller says something and is silent. */
  hear(): void {
    const format = this.#formats?.input;
    if (format === undefined) return;
    const { encoding, sampleRateHz } = format;
    const speech = makeEmulatedSpeech({ durationMs: SPEECH_MS, sampleRateHz });
    const samples = new Int16Array(speech.length + (PAUSE_MS * sampleRateHz) / 1000);
    samples.set(speech);
    const bytes =
      encoding === 'pcm'
        ? new Uint8Array(samples.buffer)
        : encoding === 'mulaw'
          ? transcoder.mulawEncode(samples)
          : transcoder.alawEncode(samples);
    const chunk = new Uint8Array(((sampleRateHz * CHUNK_MS) / 1000) * (encoding === 'pcm' ? 2 : 1));
    for (let at = 0; at + chunk.length <= bytes.length; at += chunk.length) {
      chunk.set(bytes.subarray(at, at + chunk.length));
      this.session.pushAudio(chunk);
      // Who needs it longer must have copied it.
      chunk.fill(0);
    }
  }

  close(): void {
    this.session.close();
  }

  #events(): RealtimeEvents {
    const events: Required<RealtimeEvents> = {
      ready: (formats) => {
        if (this.isReady) this.complaints.push('ready twice');
        this.#formats = formats;
      },
      formatsChanged: (formats) => {
        this.#formats = formats;
      },
      speechStarted: () => {},
      interrupted: () => {
        this.interruptions += 1;
      },
      speechEnded: ({ itemId, agoMs }) => {
        this.turns.push(itemId);
        if (!(agoMs >= 0)) this.complaints.push(`speech that ended ${agoMs} ms ago`);
      },
      userText: ({ text, final }) => {
        if (final && text !== '') this.callerTexts.push(text);
      },
      responseStarted: (id) => {
        if (this.#response !== undefined) this.complaints.push('two responses at once');
        this.#response = id;
      },
      audio: ({ responseId, itemId, audio }) => {
        this.#check(responseId, 'audio');
        const { encoding, sampleRateHz } = this.#formats?.output ?? { encoding: 'pcm', sampleRateHz: 24_000 };
        this.#item(itemId).audioMs += audio.length / (encoding === 'pcm' ? 2 : 1) / (sampleRateHz / 1000);
      },
      text: ({ responseId, itemId, delta }) => {
        this.#check(responseId, 'text');
        this.#item(itemId).text += delta;
      },
      heardText: ({ itemId, text }) => {
        this.#item(itemId).text = text;
      },
      responseEnded: ({ responseId, reason, toolCalls }) => {
        this.#check(responseId, 'an end');
        this.#response = undefined;
        this.ends.push({ reason, toolCalls });
      },
      usage: (usage) => {
        this.usages.push(usage);
        const amounts = Object.values(usage).filter((value) => typeof value === 'number');
        if (amounts.some((amount) => !(amount >= 0))) this.complaints.push('usage below nothing');
      },
      resumable: () => {},
      lost: () => {
        this.losses += 1;
        if (!this.isReady) this.complaints.push('a connection lost before readiness');
        if (this.losses !== this.reconnections + 1) this.complaints.push('one gap told as lost twice');
      },
      reconnected: () => {
        this.#response = undefined;
        this.reconnections += 1;
        if (this.losses !== this.reconnections)
          this.complaints.push('a reconnection of what was not told as lost');
      },
      failed: (error) => {
        this.failure = error;
        this.complaints.push(`failed: ${error.message}`);
      },
    };
    const counted = Object.entries(events).map(([name, handler]) => [
      name,
      (...event: never[]) => {
        this.told += 1;
        (handler as (...told: never[]) => void)(...event);
      },
    ]);
    return Object.fromEntries(counted) as RealtimeEvents;
  }

  #item(itemId: string): SaidItem {
    const known = this.said.find((item) => item.itemId === itemId);
    if (known !== undefined) return known;
    const item = { itemId, text: '', audioMs: 0 };
    this.said.push(item);
    return item;
  }

  #check(responseId: string, what: string): void {
    if (responseId !== this.#response) this.complaints.push(`${what} of a response that is not under way`);
  }
}
