// A client of a carrier-A account on a free port of its own, with what a test needs to serve, to dial in and to look at its calls.
import { CarrierA } from '../../src/carriers/carrier-a/index.js';
import { Offhook } from '../../src/client.js';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { AgentOptions } from '../../src/options/agent.js';
import type { ClientOptions } from '../../src/options/client.js';
import type { ServeOptions } from '../../src/options/serve.js';
import type { TextToSpeech } from '../../src/providers/text-to-speech.js';
import { freePort } from './free-port.js';
import { HandDialedCall } from './hand-dialed-call.js';
import { RecordedLogger } from './recorded-logger.js';

export const AUTH_TOKEN = '0123456789abcdef0123456789abcdef';
export const PUBLIC_HOST = 'voice.example.com';
/** How long each sentence of the tone voice is. */
export const TONE_MS = 600;

/** Says every sentence as a tone whose pitch is the number at its end. */
export const toneVoice: TextToSpeech = {
  name: 'tone',
  open: () => ({
    async *synthesize(text) {
      const hertz = Number(/(\d+)\D*$/.exec(text)?.[1] ?? 0);
      yield Int16Array.from({ length: TONE_MS * 16 }, (_, index) =>
        Math.round(8000 * Math.sin((2 * Math.PI * hertz * index) / 16_000)),
      );
    },
    close() {},
  }),
};

export class ClientBench implements AsyncDisposable {
  readonly logger = new RecordedLogger();
  readonly port: number;
  /** The client under test; a test may put another one in its place. */
  phone: Offhook;

  static async open(): Promise<ClientBench> {
    return new ClientBench(await freePort());
  }

  private constructor(port: number) {
    this.port = port;
    this.phone = this.create({ webhookUrl: PUBLIC_HOST });
  }

  create(options: Partial<ClientOptions> = {}): Offhook {
    return new Offhook({
      carrier: new CarrierA({ authToken: AUTH_TOKEN }),
      phoneNumber: '+15005550010',
      ...options,
    });
  }

  /** Serves `phone` on the port of this bench. */
  serve(options: Partial<ServeOptions> = {}, agent: AgentOptions = { tts: toneVoice }) {
    return this.serveOf(this.phone, options, agent);
  }

  serveOf(phone: Offhook, options: Partial<ServeOptions> = {}, agent: AgentOptions = { tts: toneVoice }) {
    const { logger, port } = this;
    return phone.serve({
      agent: phone.agent(agent),
      port,
      host: '127.0.0.1',
      logger,
      dataDir: false,
      ...options,
    });
  }

  /** Whether the page is built is no business of this room. */
  warnings(): string[] {
    return this.logger.sentences('warn').filter((line) => line !== 'dashboard page not built');
  }

  dialOptions(caller: string) {
    return { port: this.port, caller, publicHost: PUBLIC_HOST, authToken: AUTH_TOKEN };
  }

  dial(caller: string): Promise<HandDialedCall> {
    return HandDialedCall.dial(this.dialOptions(caller));
  }

  active(): Promise<CallRecord[]> {
    return this.#calls('active');
  }

  finished(): Promise<CallRecord[]> {
    return this.#calls('calls?status=completed');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.phone.disconnect();
  }

  async #calls(path: string): Promise<CallRecord[]> {
    const response = await fetch(`http://127.0.0.1:${this.port}/api/dashboard/${path}`);
    const body: { calls: CallRecord[] } = JSON.parse(await response.text());
    return body.calls;
  }
}

/** Resolves when it is true; who waits for ever is stopped by the time of the test. */
export async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20));
}
