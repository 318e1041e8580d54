// Commands of carrier B that steer a call: its webhooks take no instructions in the answer.
import type { CarrierCommands, StreamCodec, StreamInvitation } from '../carrier.js';
import { encodeClientState } from './client-state.js';
import type { Fields } from './fields.js';
import { command, isLegOver } from './leg-commands.js';
import { REQUESTED } from './media-format.js';
import type { Refusal, RestClient } from './rest-client.js';

/** The command is not possible while a stream is open. */
const CODE_STREAMING = '90045';
/** The command is only possible while one is. */
const CODE_NOT_STREAMING = '90048';

/**
 * The commands. One to a caller who has hung up meanwhile is refused with status 422, which is not retryable; the report of the end
 * is on its way then.
 */
export function createCommands(client: RestClient): CarrierCommands {
  return new Commands(client);
}

class Commands implements CarrierCommands {
  readonly #client: RestClient;

  constructor(client: RestClient) {
    this.#client = client;
  }

  async answer(carrierCallId: string, { callId }: { callId: string }): Promise<void> {
    await command(
      this.#client,
      { carrierCallId, action: 'answer' },
      { purpose: 'answer a call', fields: { client_state: encodeClientState(callId) }, isHarmless: true },
    );
  }

  /** A caller who has already hung up counts as turned away. */
  async reject(carrierCallId: string, reason: 'busy' | 'rejected'): Promise<void> {
    await command(
      this.#client,
      { carrierCallId, action: 'reject' },
      {
        purpose: 'reject a call',
        fields: { cause: reason === 'busy' ? 'USER_BUSY' : 'CALL_REJECTED' },
        isHarmless: true,
        isFine: isLegOver,
      },
    );
  }

  /** `parameters` stay here: the carrier delivers the query of the URL. */
  async startStream(
    carrierCallId: string,
    { url, callId, codec }: StreamInvitation & { callId: string; codec: StreamCodec },
  ): Promise<void> {
    const fields = { ...streamFields(url, codec), client_state: encodeClientState(callId) };
    let isTaken = false;
    await this.#startStream(carrierCallId, fields, ({ code }) => {
      isTaken = code === CODE_STREAMING;
      return isTaken;
    });
    if (!isTaken) return;
    await this.stopStream(carrierCallId);
    await this.#startStream(carrierCallId, fields);
  }

  async stopStream(carrierCallId: string): Promise<void> {
    await command(
      this.#client,
      { carrierCallId, action: 'streaming_stop' },
      {
        purpose: 'stop a stream',
        isHarmless: true,
        isFine: (refusal) => refusal.code === CODE_NOT_STREAMING || isLegOver(refusal),
      },
    );
  }

  async #startStream(
    carrierCallId: string,
    fields: Fields,
    isFine: (refusal: Refusal) => boolean = () => false,
  ): Promise<void> {
    await command(
      this.#client,
      { carrierCallId, action: 'streaming_start' },
      { purpose: 'start a stream', fields, isHarmless: true, isFine },
    );
  }
}

/** Our voice goes to the leg that the stream belongs to. What the carrier sends follows its own mind: `start` tells. */
function streamFields(url: string, codec: StreamCodec): Fields {
  const { name, format } = REQUESTED[codec];
  return {
    stream_url: url,
    stream_track: 'inbound_track',
    stream_codec: name,
    stream_bidirectional_mode: 'rtp',
    stream_bidirectional_codec: name,
    stream_bidirectional_sampling_rate: format.sampleRateHz,
    stream_bidirectional_target_legs: 'self',
  };
}
