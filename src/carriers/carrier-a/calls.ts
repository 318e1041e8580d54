// What may be asked of a call through the REST API.
import { isE164 } from '../../base/e164.js';
import { CarrierError } from '../../base/errors.js';
import type { CallLookup, CarrierRest } from '../carrier.js';
import type { ApiClient } from './api-client.js';
import { CODE_CALL_OVER, CODE_NOT_FOUND } from './api-errors.js';
import type { Fields, FormField } from './api-exchange.js';
import { dialForm, limitSeconds, recordingFields } from './dial.js';
import { digitsMarkup, speechMarkup, streamMarkup, transferMarkup } from './markup.js';
import { toProgress } from './statuses.js';
import { isWireId } from './wire-id.js';

/** As long as the vendor's SDK waits: giving up sooner leaves open whether a phone rings. */
const DIAL_TIMEOUT_MS = 30_000;
/** What an account allows unless the vendor was asked for more. Source: the vendor's page on calls, parameter `TimeLimit`. */
const USUAL_CALL_SECONDS = 14_400;
/** Keys, and pauses of half a second (`w`) and a second (`W`). */
const DIGITS = /^[0-9A-D#*wW]{1,128}$/;

type CallMethods = Pick<
  CarrierRest,
  | 'dial'
  | 'hangUp'
  | 'limit'
  | 'transfer'
  | 'openStream'
  | 'sendDigits'
  | 'speak'
  | 'startRecording'
  | 'deleteRecordings'
  | 'lookUp'
>;

/** The methods of `CarrierRest` that are about calls. */
export function createCallMethods(api: ApiClient): CallMethods {
  /** Gives a running call new instructions, which end its stream. */
  const instruct = async (
    carrierCallId: string,
    purpose: string,
    markup: string,
    more: readonly FormField[] = [],
  ): Promise<void> => {
    const form: FormField[] = [['Twiml', markup], ...more];
    await api.send({ purpose, path: callPath(carrierCallId), form, isIdempotent: false });
  };

  return {
    async dial(request) {
      const form = dialForm(request);
      const order = { purpose: 'place a call', path: '/Calls.json', form, timeoutMs: DIAL_TIMEOUT_MS };
      const { sid } = await api.send({ ...order, isIdempotent: false }).catch(rethrowAsOpen);
      if (isWireId(sid)) return { carrierCallId: sid };
      throw new CarrierError('The carrier accepted the call without naming it.', {
        status: null,
        retryable: false,
      });
    },

    async hangUp(carrierCallId) {
      await api.send({
        purpose: 'hang up a call',
        path: callPath(carrierCallId),
        form: [['Status', 'completed']],
        isIdempotent: true,
        acceptedCode: CODE_CALL_OVER,
      });
    },

    async limit(carrierCallId, maxCallSeconds) {
      const form: FormField[] = [['TimeLimit', limitSeconds(maxCallSeconds)]];
      await api.send({ purpose: 'limit a call', path: callPath(carrierCallId), form, isIdempotent: true });
    },

    async transfer(carrierCallId, request) {
      if (!isE164(request.to)) throw unusable('transfer a call', 'the number is not in the form +15550100');
      // Whoever the caller talks to now is not cut off by the limit of a talk with an agent.
      const unlimited: FormField = ['TimeLimit', limitSeconds(USUAL_CALL_SECONDS)];
      await instruct(carrierCallId, 'transfer a call', transferMarkup(request), [unlimited]);
    },

    async openStream(carrierCallId, stream) {
      await instruct(carrierCallId, 'open a stream', streamMarkup(stream));
    },

    async sendDigits(carrierCallId, digits, stream) {
      if (!DIGITS.test(digits)) throw unusable('send keys', 'they are 1 to 128 of 0-9 A-D # * w W');
      await instruct(carrierCallId, 'send keys', digitsMarkup(digits, stream));
    },

    async speak(carrierCallId, text, { language }) {
      await instruct(carrierCallId, 'speak', speechMarkup(text, language));
    },

    async startRecording(carrierCallId, request) {
      await api.send({
        purpose: 'record a call',
        path: callPath(carrierCallId, '/Recordings'),
        form: recordingFields(request),
        isIdempotent: false,
      });
    },

    async deleteRecordings(carrierCallId) {
      const purpose = 'delete the recordings of a call';
      const path = `${callPath(carrierCallId, '/Recordings')}?PageSize=1000`;
      const { recordings } = await api.send({ purpose, path, isIdempotent: true });
      for (const sid of Array.isArray(recordings) ? recordings.flatMap(toSid) : [])
        await api.send({
          purpose,
          method: 'DELETE',
          path: `/Recordings/${sid}.json`,
          isIdempotent: true,
          acceptedCode: CODE_NOT_FOUND,
        });
    },

    async lookUp(carrierCallId) {
      const purpose = 'look up a call';
      return toLookup(await api.send({ purpose, path: callPath(carrierCallId), isIdempotent: true }));
    },
  };
}

function toSid(recording: unknown): string[] {
  const { sid } = (recording ?? {}) as { sid?: unknown };
  return isWireId(sid) ? [encodeURIComponent(sid)] : [];
}

function callPath(carrierCallId: string, below = ''): string {
  if (!isWireId(carrierCallId)) throw unusable('act on a call', 'it has no usable identifier');
  return `/Calls/${encodeURIComponent(carrierCallId)}${below}.json`;
}

/** Something that is not even asked for. */
function unusable(purpose: string, reason: string): CarrierError {
  return new CarrierError(`The carrier is not asked to ${purpose}: ${reason}.`, {
    status: null,
    retryable: false,
  });
}

/** A server error and a success that cannot be read leave open whether the call was placed. */
function rethrowAsOpen(error: unknown): never {
  if (!(error instanceof CarrierError) || error.status === null) throw error;
  if (error.status >= 300 && error.status < 500) throw error;
  throw new CarrierError(error.message, { status: null, retryable: false, cause: error });
}

/** @throws CarrierError for a call resource without a status that is known. */
function toLookup({ status, price, price_unit: unit }: Fields): CallLookup {
  const progress = toProgress(status);
  if (progress === undefined) {
    throw new CarrierError('The carrier did not report the status of the call.', {
      status: 200,
      retryable: false,
    });
  }
  return {
    isOver: progress.status === 'completed',
    outcome: progress.outcome,
    costUsd: typeof unit === 'string' && unit.toUpperCase() === 'USD' ? toCost(price) : null,
  };
}

/** A charge is written as a negative number, in a text. */
function toCost(price: unknown): number | null {
  const text = typeof price === 'number' ? String(price) : price;
  if (typeof text !== 'string' || !/^-?\d{1,9}(\.\d{1,12})?$/.test(text)) return null;
  return Math.abs(Number(text));
}
