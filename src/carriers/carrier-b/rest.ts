// REST API of carrier B, what every carrier can do: placing calls, and commands to a call in progress.
import { randomUUID } from 'node:crypto';
import { isE164 } from '../../base/e164.js';
import { CarrierError, ConfigError } from '../../base/errors.js';
import type { CallLookup, CarrierRest, DialRequest, TransferRequest } from '../carrier.js';
import { toCallControlId } from './call-control-id.js';
import { encodeClientState } from './client-state.js';
import { command, isLegOver, legPath } from './leg-commands.js';
import { PATIENT_LIMITS_MS, type RestClient } from './rest-client.js';
import { speechFields } from './speech.js';

/** Range of a ring time, in seconds. */
const RING_SECONDS = { min: 5, max: 600 };
/** Range of a call's length, in seconds. Source: the vendor's error catalog, which is narrower than its reference. */
const CALL_SECONDS = { min: 60, max: 14_000 };

/** `connectionId` names the application that outbound calls belong to. */
export function createRest(client: RestClient, connectionId: string | undefined): CarrierRest {
  return new Rest(client, connectionId);
}

class Rest implements CarrierRest {
  readonly #client: RestClient;
  readonly #connectionId: string | undefined;

  constructor(client: RestClient, connectionId: string | undefined) {
    this.#client = client;
    this.#connectionId = connectionId;
  }

  get configured(): boolean {
    return this.#client.hasKey;
  }

  /**
   * The webhooks of the call are sent to this server by name, so that outbound calls work with a tunnel, and with several servers
   * on one application, whose own setting names one host alone.
   */
  async dial(request: DialRequest): Promise<{ carrierCallId: string }> {
    const purpose = 'place a call';
    const data = await this.#client.request({
      purpose,
      path: '/calls',
      body: {
        connection_id: this.#requireConnectionId(),
        to: checkNumber('The number to call', request.to),
        from: checkNumber('The number to call from', request.from),
        timeout_secs: within(RING_SECONDS, request.ringTimeoutSeconds),
        time_limit_secs: within(CALL_SECONDS, request.maxCallSeconds),
        ...(request.machineDetection ? { answering_machine_detection: 'premium' } : {}),
        webhook_url: `${request.webhookBaseUrl}/voice`,
        client_state: encodeClientState(request.callId),
        command_id: randomUUID(),
      },
      limitsMs: PATIENT_LIMITS_MS,
      isHarmless: false,
    });
    const carrierCallId = toCallControlId(data?.call_control_id);
    if (carrierCallId !== undefined) return { carrierCallId };
    throw new CarrierError(`The carrier was asked to ${purpose}, but did not return its ID.`, {
      status: null,
      retryable: false,
    });
  }

  async hangUp(carrierCallId: string): Promise<void> {
    await command(
      this.#client,
      { carrierCallId, action: 'hangup' },
      { purpose: 'hang up a call', isHarmless: true, isFine: isLegOver },
    );
  }

  async transfer(carrierCallId: string, request: TransferRequest): Promise<void> {
    const { callId, callerId, webhookBaseUrl } = request;
    await command(
      this.#client,
      { carrierCallId, action: 'transfer' },
      {
        purpose: 'transfer a call',
        fields: {
          to: checkNumber('The number to transfer to', request.to),
          ...(callerId === undefined ? {} : { from: checkNumber('The number to show', callerId) }),
          timeout_secs: within(RING_SECONDS, request.ringTimeoutSeconds),
          client_state: encodeClientState(callId),
          target_leg_client_state: encodeClientState(callId, 'transfer'),
          webhook_url: `${webhookBaseUrl}/voice`,
        },
        isHarmless: false,
      },
    );
  }

  /** The stream goes on beside the keys, so no other one is opened. */
  async sendDigits(carrierCallId: string, digits: string): Promise<void> {
    await command(
      this.#client,
      { carrierCallId, action: 'send_dtmf' },
      { purpose: 'send keys', fields: { digits }, isHarmless: false },
    );
  }

  async speak(carrierCallId: string, text: string, options: { language: string | undefined }): Promise<void> {
    await command(
      this.#client,
      { carrierCallId, action: 'speak' },
      { purpose: 'speak', fields: speechFields(text, options.language), isHarmless: false },
    );
  }

  async lookUp(carrierCallId: string): Promise<CallLookup> {
    const data = await this.#client.request({
      purpose: 'look up a call',
      path: legPath(carrierCallId),
      isHarmless: true,
      isFine: isLegOver,
    });
    const isAlive = data === undefined ? false : data.is_alive;
    if (typeof isAlive === 'boolean') return { isOver: !isAlive, outcome: null, costUsd: null };
    throw new CarrierError('The carrier did not report whether the call is over.', {
      status: null,
      retryable: true,
    });
  }

  async startRecording(): Promise<void> {
    throw new CarrierError('This carrier cannot record calls.', { status: null, retryable: false });
  }

  async setVoiceUrl(): Promise<void> {
    throw new CarrierError(
      'Numbers of this carrier have no voice URL: set the webhook URL of the Call Control application.',
      { status: null, retryable: false },
    );
  }

  #requireConnectionId(): string {
    if (this.#connectionId !== undefined) return this.#connectionId;
    throw new ConfigError(
      'CONFIG_MISSING',
      'An outbound call needs a Call Control application: pass connectionId, or set CARRIER_B_CONNECTION_ID.',
    );
  }
}

/** What follows a comma in a number would be played as keys, so nothing but a number passes. @throws ConfigError */
function checkNumber(name: string, value: unknown): string {
  if (typeof value === 'string' && isE164(value)) return value;
  throw new ConfigError('CONFIG_INVALID', `${name} must be a phone number like +15550100 (E.164).`);
}

function within(range: { min: number; max: number }, seconds: number): number {
  return Math.min(range.max, Math.max(range.min, Math.ceil(seconds)));
}
