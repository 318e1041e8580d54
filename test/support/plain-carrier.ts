// A carrier without a wire of its own: webhooks are our messages as JSON, answers too. Its REST API keeps what it is asked.
import { carrierBSettings } from '../../src/carriers/carrier-b/settings.js';
import { SignatureError } from '../../src/base/errors.js';
import type {
  Carrier,
  CarrierMessage,
  CarrierRest,
  DialRequest,
  MediaDialect,
  WebhookReply,
} from '../../src/carriers/carrier.js';

const json = (value: unknown): WebhookReply => ({
  status: 200,
  contentType: 'application/json',
  body: JSON.stringify(value),
});

const dialect: MediaDialect = {
  decode: () => ({ type: 'ignored' }),
  encodeAudio: () => '',
  encodeMark: () => '',
  encodeClear: () => '',
};

/** A REST API that does everything at once, unless it waits for `answer` or `failure` is set. */
export class PlainRest implements CarrierRest {
  configured = true;
  answer: Promise<void> = Promise.resolve();
  failure: Error | undefined;
  readonly dials: DialRequest[] = [];
  readonly requests: string[] = [];

  async dial(request: DialRequest): Promise<{ carrierCallId: string }> {
    this.dials.push(request);
    await this.#note('dial');
    return { carrierCallId: `carrier-call-${this.dials.length}` };
  }
  async hangUp(carrierCallId: string): Promise<void> {
    await this.#note(`hangUp ${carrierCallId}`);
  }
  async transfer(carrierCallId: string): Promise<void> {
    await this.#note(`transfer ${carrierCallId}`);
  }
  async sendDigits(carrierCallId: string): Promise<void> {
    await this.#note(`sendDigits ${carrierCallId}`);
  }
  async speak(carrierCallId: string): Promise<void> {
    await this.#note(`speak ${carrierCallId}`);
  }
  async startRecording(carrierCallId: string): Promise<void> {
    await this.#note(`startRecording ${carrierCallId}`);
  }
  async lookUp(): Promise<{ isOver: boolean; outcome: null; costUsd: null }> {
    return { isOver: true, outcome: null, costUsd: null };
  }
  async setVoiceUrl(phoneNumber: string, urls: { voice: string; status: string }): Promise<void> {
    await this.#note(`setVoiceUrl ${phoneNumber} ${urls.voice} ${urls.status}`);
  }
  async #note(line: string): Promise<void> {
    this.requests.push(line);
    await this.answer;
    if (this.failure !== undefined) throw this.failure;
  }
}

export interface PlainCarrierOptions {
  rest?: CarrierRest;
  supports?: Partial<Carrier['supports']>;
  /** With it a webhook must carry the header `x-signature: right`, and streams need a token. */
  key?: Uint8Array;
  /** Read before anything else of a webhook; may throw. */
  onParse?: () => void;
}

export function createPlainCarrier(options: PlainCarrierOptions = {}): Carrier {
  const { key, rest = new PlainRest(), onParse = () => {} } = options;
  const carrier: Carrier = {
    id: 'carrier-b',
    settings: carrierBSettings,
    during: () => carrier,
    supports: {
      recording: true,
      voiceUrl: true,
      digitsReplaceStream: false,
      callCost: false,
      callCostCoversStream: false,
      ...options.supports,
    },
    verifies: key !== undefined,
    streamTokenKey: key,
    secretSetting: 'PLAIN_SECRET',
    prepare: async () => {},
    verify(request) {
      if (key === undefined || request.headers['x-signature'] === 'right') return;
      throw new SignatureError('SIGNATURE_MISMATCH', 'not right');
    },
    verifyUpgrade() {},
    webhooks: {
      routes: ['voice', 'status'],
      parse(_route, request) {
        onParse();
        return JSON.parse(Buffer.from(request.rawBody).toString()) as CarrierMessage;
      },
      answer: json,
      acknowledge: (route) => json({ acknowledged: route }),
    },
    openMedia: () => dialect,
    rest,
  };
  return carrier;
}
