// What the checks of a carrier must be told: its wire, in examples.
import type {
  Carrier,
  CarrierMessage,
  MediaMessage,
  StreamCodec,
  WebhookRequest,
  WebhookRoute,
} from '../../carriers/carrier.js';

/** One thing that a carrier must do. `run` rejects when it does not. */
export interface CarrierCheck {
  readonly name: string;
  /** Waits for a time limit of the carrier: up to 90 s. Undefined for a check that is quick. */
  readonly slow?: true;
  run(): Promise<void>;
}

/** An address where nobody listens. */
export const UNREACHABLE = 'http://127.0.0.1:9';

/** A request to the carrier's API, as the endpoint of the checks sees it. */
export interface EndpointRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

export interface EndpointAnswer {
  readonly status: number;
  readonly body: string;
}

export interface CarrierFixtures {
  /** A carrier with every credential, whose API is at this origin. */
  create(baseUrl: string): Carrier;
  /** One without any. The environment must not hold one either. */
  createBare(): Carrier;
  /** Public host that the signed requests were made for. */
  readonly host: string;
  /** What must never be seen: tokens and keys, also as they are sent. */
  readonly secrets: readonly string[];
  /** A well signed webhook with this body, as the carrier sends it; made anew each time, for signatures that age. */
  sign(body: Uint8Array): WebhookRequest;
  /** Requests with the verdict that is due. */
  readonly signed: readonly {
    readonly title: string;
    request(): WebhookRequest;
    readonly accepted: boolean;
  }[];
  /** Verified webhooks and what they say. */
  readonly webhooks: readonly {
    readonly title: string;
    readonly route: WebhookRoute;
    readonly request: WebhookRequest;
    readonly message: CarrierMessage;
  }[];
  /** Streams from their first message on. */
  readonly streams: readonly {
    readonly title: string;
    readonly codec?: StreamCodec;
    readonly messages: readonly { readonly text: string; readonly message: MediaMessage }[];
  }[];
  /** What the carrier would send, with the payload or the name of a message that was sent to it. @default the message itself */
  echo?(sent: string): string;
  readonly rest: {
    /** The id of a call that the API knows, in its own form. */
    readonly carrierCallId: string;
    /** The number of the account. */
    readonly phoneNumber: string;
    /** What the API says when all is well. The call that is placed gets `carrierCallId`, and one that is looked up is over. */
    answer(request: EndpointRequest): EndpointAnswer;
    /** Field of the body by which the API knows a request to place a call that is repeated; undefined where it knows none. */
    readonly idempotencyField?: string;
    /** What it says when a call is over that shall be ended. */
    readonly callOver: EndpointAnswer;
  };
}
