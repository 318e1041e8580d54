// A call of carrier A spoken by hand: the webhook, the stream, frame by frame. Written apart from the call simulator.
import { systemClock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import { WebSocket } from 'ws';
import { createId } from '../../src/testing/carrier-a/ids.js';
import { readMarkup } from '../../src/testing/carrier-a/markup.js';
import { signRequest } from '../../src/testing/carrier-a/signing.js';
import { loadTranscoder } from '../../src/transcoder/select.js';

const backend = loadTranscoder('javascript');
const FRAME_BYTES = 160;

/** Where the call goes, and how the carrier knows the server. */
export interface DialOptions {
  port: number;
  caller: string;
  publicHost: string;
  authToken: string;
}

/** A call with its stream open. */
export class HandDialedCall {
  readonly callSid: string;
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #socket: WebSocket;
  readonly #streamSid = createId('MZ');
  readonly #heard: Buffer[] = [];

  private constructor(callSid: string, socket: WebSocket) {
    this.callSid = callSid;
    this.#socket = socket;
    socket.on('message', (data) => this.#receive(String(data)));
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => resolve({ code, reason: String(reason) }));
    });
  }

  /** Rings, and opens the stream that the answer names. */
  static async dial(options: DialOptions): Promise<HandDialedCall> {
    const callSid = createId('CA');
    const { answer } = readMarkup(await (await ring(options, callSid)).text());
    if (answer?.type !== 'stream') throw new Error(`answered with ${answer?.type}`);
    const { pathname, search } = new URL(answer.url);
    const socket = new WebSocket(`ws://127.0.0.1:${options.port}${pathname}${search}`, {
      headers: {
        'X-Twilio-Signature': signRequest(options.authToken, { url: answer.url, parameters: [] }),
      },
    });
    await new Promise((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', reject);
    });
    const call = new HandDialedCall(callSid, socket);
    call.#start(answer.parameters);
    call.#breathe();
    return call;
  }

  /** Seconds of agent audio so far, decoded to 8 kHz PCM. */
  get heard(): Int16Array {
    return backend.mulawDecode(Buffer.concat(this.#heard));
  }

  /** The text of what the next audio says. */
  tell(text: string): void {
    this.#send({ event: 'spoken-text', spokenText: { id: 'u1', text, final: true } });
  }

  /** Speaks 8 kHz PCM as a telephone does, a frame every 20 ms. */
  async speak(pcm: Int16Array): Promise<void> {
    const bytes = backend.mulawEncode(pcm);
    const startedAt = systemClock.now();
    for (let offset = 0; offset < bytes.length; offset += FRAME_BYTES) {
      this.sendAudio(bytes.subarray(offset, offset + FRAME_BYTES));
      const dueMs = (offset / FRAME_BYTES + 1) * 20 - (systemClock.now() - startedAt);
      if (dueMs > 0) await pause(systemClock, dueMs);
    }
  }

  sendAudio(bytes: Uint8Array): void {
    this.#send({
      event: 'media',
      media: { track: 'inbound', chunk: '1', timestamp: '1', payload: Buffer.from(bytes).toString('base64') },
    });
  }

  /** Anything at all. */
  sendRaw(data: string | Uint8Array): void {
    this.#socket.send(data);
  }

  hangUp(): void {
    this.#send({ event: 'stop', stop: { callSid: this.callSid } });
    this.#socket.close();
  }

  /** A frame of silence each second: a line without any is dead. */
  #breathe(): void {
    const timer = setInterval(() => {
      if (this.#socket.readyState === WebSocket.OPEN) this.sendAudio(new Uint8Array(FRAME_BYTES).fill(0xff));
    }, 1000);
    this.#socket.once('close', () => clearInterval(timer));
  }

  #start(customParameters: Record<string, string>): void {
    this.#send({ event: 'connected', protocol: 'Call', version: '1.0.0' });
    const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
    const { callSid } = this;
    const streamSid = this.#streamSid;
    this.#send({
      event: 'start',
      start: {
        accountSid: createId('AC'),
        streamSid,
        callSid,
        tracks: ['inbound'],
        mediaFormat,
        customParameters,
      },
    });
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify({ sequenceNumber: '1', streamSid: this.#streamSid, ...message }));
  }

  #receive(text: string): void {
    const message: { event: string; media?: { payload: string } } = JSON.parse(text);
    if (message.event === 'media') this.#heard.push(Buffer.from(message.media?.payload ?? '', 'base64'));
    if (message.event === 'mark') this.#send(message);
  }
}

/** The bell. */
export function ring(options: DialOptions, callSid: string): Promise<Response> {
  const path = '/webhooks/carrier-a/voice';
  const parameters = new URLSearchParams({
    CallSid: callSid,
    AccountSid: createId('AC'),
    From: options.caller,
    To: '+15005550010',
    CallStatus: 'ringing',
    Direction: 'inbound',
    ApiVersion: '2010-04-01',
  });
  return fetch(`http://127.0.0.1:${options.port}${path}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded; charset=UTF-8',
      'X-Twilio-Signature': signRequest(options.authToken, {
        url: `https://${options.publicHost}${path}`,
        parameters,
      }),
    },
    body: parameters.toString(),
  });
}
