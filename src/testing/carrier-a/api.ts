// The REST API of one account: finds the resource, does what is asked of it, and answers with JSON. Knows no HTTP server.
import type { RestPurpose } from '../simulator.js';
import { readDial, readMarkupParameter, readRecording } from './api-dial.js';
import { ApiFault } from './api-fault.js';
import { ApiForm } from './api-form.js';
import { STATUS_EVENTS } from './callback-events.js';
import type { Exchange } from './exchange.js';
import { fetchInstructions } from './instructions.js';
import type { Leg } from './leg.js';
import { readVerbs } from './markup.js';
import {
  callResource,
  listResource,
  numberResource,
  recordingResource,
  unknownCallResource,
  type ResourceContext,
} from './resources.js';

export interface ApiRequest {
  readonly method: string;
  /** Without the version. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly form: URLSearchParams;
}

/** JSON, the media of a recording, or nothing. */
export type ApiAnswer =
  | { status: 200 | 201; json: object }
  | { status: 200; wav: Uint8Array }
  | { status: 204 };

export interface ApiOptions {
  /** `accept`: an unknown call counts as one that is over and may be ended again, for callers in other processes. */
  unknownCalls: 'accept' | 'not-found';
}

const PATH =
  /^\/Accounts\/(\w+)\/(Calls|IncomingPhoneNumbers|Recordings)(?:\/([\w.]+?))?(?:\/(Recordings)(?:\/([\w.]+?))?)?(?:\.(json|wav))?$/;

/** What a request is for; undefined for one that no phone server makes. */
export function purposeOf({ method, path, form }: ApiRequest): RestPurpose | undefined {
  const [, , kind, id, child] = PATH.exec(path) ?? [];
  if (kind === 'IncomingPhoneNumbers') return 'number';
  if (kind === 'Recordings' || child !== undefined) return method === 'POST' ? 'record' : 'look-up';
  if (kind !== 'Calls') return undefined;
  if (method !== 'POST') return 'look-up';
  if (id === undefined) return 'dial';
  const types = readVerbs(form.get('Twiml') ?? '').verbs?.map(({ type }) => type) ?? [];
  if (types.includes('dial')) return 'transfer';
  if (types.includes('play-digits')) return 'send-digits';
  if (types.includes('say')) return 'speak';
  if (types.includes('stream') || form.has('Url')) return 'start-stream';
  return form.has('Status') ? 'hang-up' : undefined;
}

export class CarrierAApi {
  readonly #exchange: Exchange;
  readonly #options: ApiOptions;

  constructor(exchange: Exchange, options: ApiOptions) {
    this.#exchange = exchange;
    this.#options = options;
  }

  checkCredentials(header: string | undefined): void {
    const { accountSid, authToken } = this.#exchange;
    const expected = Buffer.from(`${accountSid}:${authToken}`).toString('base64');
    if (header !== `Basic ${expected}`) throw new ApiFault(20_003);
  }

  /** @throws ApiFault */
  answer(request: ApiRequest): ApiAnswer {
    const [, account, kind, id, child, childId, suffix] = PATH.exec(request.path) ?? [];
    if (account !== this.#exchange.accountSid) throw new ApiFault(20_404);
    const form = new ApiForm(request.form);
    if (kind === 'Recordings' && id !== undefined) {
      return this.#answerRecording(id, { method: request.method, suffix });
    }
    if (suffix !== 'json') throw new ApiFault(20_404);
    if (kind === 'IncomingPhoneNumbers') return this.#answerNumber(id, request, form);
    if (kind === 'Calls' && child !== undefined) {
      return this.#answerCallRecording(this.#findLeg(id), { id: childId, method: request.method, form });
    }
    if (kind === 'Calls') return this.#answerCall(id, request.method, form);
    throw new ApiFault(20_404);
  }

  get #context(): ResourceContext {
    const { accountSid, numbers, clock } = this.#exchange;
    return { accountSid, numbers, nowMs: clock.now() };
  }

  #findLeg(id: string | undefined): Leg {
    const leg = id === undefined ? undefined : this.#exchange.findLeg(id);
    if (leg === undefined) throw new ApiFault(20_404);
    return leg;
  }

  #answerCall(id: string | undefined, method: string, form: ApiForm): ApiAnswer {
    if (id === undefined) {
      if (method !== 'POST') throw new ApiFault(20_404);
      const request = readDial(form, (number) => this.#exchange.isOwnNumber(number));
      const leg = this.#exchange.dial(request);
      this.#noteUnknown(leg, form);
      return { status: 201, json: callResource(leg, this.#context) };
    }
    const known = this.#exchange.findLeg(id) !== undefined;
    if (!known && this.#options.unknownCalls === 'accept') {
      return { status: 200, json: unknownCallResource(id, this.#context) };
    }
    const leg = this.#findLeg(id);
    if (method === 'POST') this.#updateCall(leg, form);
    else if (method !== 'GET') throw new ApiFault(20_404);
    return { status: 200, json: callResource(leg, this.#context) };
  }

  #updateCall(leg: Leg, form: ApiForm): void {
    if (leg.isOver) throw new ApiFault(21_220);
    const status = form.choice('Status', ['completed', 'canceled']);
    const url = form.callback('Url', 'Method', 21_205);
    const markup = readMarkupParameter(form);
    const timeLimit = form.number('TimeLimit', { from: 1, to: 86_400 });
    const statusCallback = form.eventCallback('StatusCallback', STATUS_EVENTS);
    const fallback = form.callback('FallbackUrl', 'FallbackMethod', 21_205);
    if (url !== undefined && markup !== undefined) throw new ApiFault(21_204, 'Url and Twiml');
    const changes = [status, url, markup, timeLimit, statusCallback, fallback];
    if (changes.every((change) => change === undefined)) throw new ApiFault(21_204, 'nothing to change');
    const redirects = url !== undefined || markup !== undefined;
    if (redirects && !leg.isAnswered) throw new ApiFault(21_220);
    this.#noteUnknown(leg, form);
    if (statusCallback !== undefined) leg.statusCallback = statusCallback;
    if (fallback !== undefined) leg.fallback = fallback;
    if (timeLimit !== undefined) leg.limitTo(timeLimit);
    // A call that was answered cannot be called off any more.
    if (status === 'completed' || (status === 'canceled' && !leg.isAnswered)) {
      leg.end({ by: 'agent', how: 'hang-up' });
    } else if (redirects) this.#redirect(leg, { url, markup });
  }

  #redirect(
    leg: Leg,
    to: { url: { url: string; method: 'GET' | 'POST' } | undefined; markup: string | undefined },
  ): void {
    const exchange = this.#exchange;
    const run = async (): Promise<void> => {
      if (to.url === undefined) {
        const source = to.markup ?? '';
        await exchange.runner.redirect(leg, { source, url: '', webhookMs: null });
        return;
      }
      const fetched = await fetchInstructions(leg, to.url, exchange);
      if ('instructions' in fetched) await exchange.runner.redirect(leg, fetched.instructions);
      else leg.end({ by: 'agent', how: 'hang-up' });
    };
    exchange.webhooks.watch(run());
  }

  #answerCallRecording(
    leg: Leg,
    request: { id: string | undefined; method: string; form: ApiForm },
  ): ApiAnswer {
    const { id, method, form } = request;
    if (id === undefined && method === 'GET') {
      const items = leg.recordings
        .filter(({ isDeleted }) => !isDeleted)
        .map((recording) => recordingResource(recording, this.#context));
      return { status: 200, json: listResource('recordings', items, '') };
    }
    if (id === undefined) {
      if (leg.isOver || !leg.isAnswered) throw new ApiFault(21_220);
      const settings = readRecording(form, 'StartCallRecordingAPI');
      form.choice('Trim', ['trim-silence', 'do-not-trim']);
      this.#noteUnknown(leg, form);
      return { status: 201, json: recordingResource(leg.startRecording(settings), this.#context) };
    }
    const recording = leg.recordings.findLast(({ sid }) => id === 'Twilio.CURRENT' || sid === id);
    if (recording === undefined) throw new ApiFault(20_404);
    if (method === 'POST') {
      const status = form.choice('Status', ['paused', 'in-progress', 'stopped']);
      form.choice('PauseBehavior', ['skip', 'silence']);
      if (status === undefined || !recording.isRunning) throw new ApiFault(21_220);
      if (status === 'stopped') recording.stop();
      else recording.status = status;
    }
    return { status: 200, json: recordingResource(recording, this.#context) };
  }

  #answerRecording(id: string, request: { method: string; suffix: string | undefined }): ApiAnswer {
    const recording = this.#exchange.legs
      .flatMap(({ recordings }) => recordings)
      .find(({ sid }) => sid === id);
    if (recording === undefined || recording.isDeleted) throw new ApiFault(20_404);
    if (request.method === 'DELETE') {
      recording.isDeleted = true;
      return { status: 204 };
    }
    if (request.suffix === 'json') return { status: 200, json: recordingResource(recording, this.#context) };
    if (recording.status !== 'completed') throw new ApiFault(20_404);
    return { status: 200, wav: recording.toWav() };
  }

  #answerNumber(id: string | undefined, request: ApiRequest, form: ApiForm): ApiAnswer {
    const { numbers } = this.#exchange;
    if (id === undefined) {
      const pattern = request.query.get('PhoneNumber') ?? '';
      const items = numbers
        .filter(({ phoneNumber }) => phoneNumber.includes(pattern))
        .map((number) => numberResource(number, this.#context));
      return { status: 200, json: listResource('incoming_phone_numbers', items, request.path) };
    }
    const number = numbers.find(({ sid }) => sid === id);
    if (number === undefined) throw new ApiFault(20_404);
    if (request.method === 'POST') {
      const voice = form.callback('VoiceUrl', 'VoiceMethod', 21_205);
      const fallback = form.callback('VoiceFallbackUrl', 'VoiceFallbackMethod', 21_205);
      const status = form.callback('StatusCallback', 'StatusCallbackMethod', 21_609);
      if (voice !== undefined) Object.assign(number, { voiceUrl: voice.url, voiceMethod: voice.method });
      if (fallback !== undefined) number.voiceFallbackUrl = fallback.url;
      if (status !== undefined) {
        Object.assign(number, { statusCallback: status.url, statusCallbackMethod: status.method });
      }
    }
    return { status: 200, json: numberResource(number, this.#context) };
  }

  #noteUnknown(leg: Leg, form: ApiForm): void {
    for (const name of form.unknown) leg.violate(`a request to the API has the unknown parameter "${name}"`);
  }
}
