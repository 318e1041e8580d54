// A carrier with a telephone line in it: what it is asked changes the line, what happens on the line is reported, late or twice,
// and requests fail in every way that a network knows. Says at the end whether the other side is still on the line.
import { CarrierError } from '../../src/base/errors.js';
import type { CallAnswer } from '../../src/carriers/carrier.js';
import type { CallDirection, CallOutcome } from '../../src/contract/call-record.js';
import { CallBench, type ReportFields, type Steering, startText, text } from '../support/call-bench.js';
import type { FakeSocket } from '../support/call-fakes.js';

/**
 * What becomes of a request: `refused` is not done; of `unreachable` and `lost` nobody hears, and only the second is done; `slow`
 * is done, and answered after some seconds.
 */
export type Weather = 'well' | 'refused' | 'unreachable' | 'lost' | 'slow';

interface Socket {
  readonly socket: FakeSocket;
  readonly receiver: ReturnType<CallBench['admit']>['receiver'];
  isOpen: boolean;
}

const SLOW_MS = 4000;
const SPEECH_MS = 3000;
const KEYS_MS = 1000;
/** A number that nobody answers rings this long. */
const RINGING_MS = 30_000;

export class PlayedCarrier {
  readonly bench: CallBench;
  readonly #steering: Steering;
  readonly #direction: CallDirection;
  weather: Weather = 'well';
  callId = 'call-1';
  carrierCallId = 'carrier-call-1';
  /** Where the leg of the call is. */
  leg: 'none' | 'ringing' | 'up' | 'over' = 'none';
  /** The other side talks to somebody else than us. */
  isHandedOver = false;
  #isDialing = false;
  #stream: Socket | undefined;
  /** Webhooks that are on their way. */
  readonly #mail: (() => void)[] = [];
  #sequence = 0;

  constructor(steering: Steering, direction: CallDirection) {
    this.bench = new CallBench({ steering });
    this.#steering = steering;
    this.#direction = direction;
    this.#replaceRequests();
  }

  async begin(): Promise<void> {
    const { bench } = this;
    if (this.#direction === 'inbound') {
      this.leg = 'ringing';
      this.#ask();
    } else {
      const request = { to: '+15550111', from: '+15550100', recipe: undefined, ringTimeoutSeconds: 25 };
      const detection = { machineDetection: true, voicemailMessage: 'Please call back.' };
      bench.desk.dial({ ...request, ...detection }).catch(() => {});
    }
    await bench.pass();
  }

  /** Somebody answers the phone that rings. */
  answer(): void {
    if (this.#direction === 'inbound' || this.leg !== 'ringing') return;
    this.leg = 'up';
    this.#status('active', null);
    if (this.#steering === 'replies') this.#post(() => this.#ask());
  }

  /** The other side hangs up, or never takes the call. */
  leave(): void {
    if (this.leg === 'none' || this.leg === 'over') return;
    const outcome = this.leg === 'up' ? 'answered' : this.#direction === 'inbound' ? 'canceled' : 'busy';
    this.#over(outcome);
  }

  /** The stream breaks. */
  cut(): void {
    const stream = this.#stream;
    if (stream === undefined) return;
    this.#stream = undefined;
    stream.isOpen = false;
    stream.receiver.socketClosed(1006);
    this.#withoutStream();
  }

  /** The number that the call is being handed over to answers, is busy, or hangs up. */
  dialed(result: 'answers' | 'busy' | 'leaves'): void {
    if (this.leg !== 'up') return;
    if (result === 'answers' && this.#isDialing) {
      this.#isDialing = false;
      this.isHandedOver = true;
      if (this.#steering === 'commands') this.#send({ type: 'transfer', result: 'connected' });
    } else if (result === 'busy' && this.#isDialing) {
      this.#isDialing = false;
      this.#back('busy');
    } else if (result === 'leaves' && this.isHandedOver) {
      this.isHandedOver = false;
      if (this.#steering === 'commands') this.#over('answered');
      else this.#back('connected');
    }
  }

  report(report: ReportFields): void {
    if (this.leg === 'up') this.#send(report);
  }

  /** Delivers a webhook that is on its way. */
  deliver(which: 'first' | 'last', times = 1): void {
    const letter = which === 'first' ? this.#mail.shift() : this.#mail.pop();
    for (let time = 0; time < times; time += 1) letter?.();
  }

  /** No webhook is late by an hour. */
  deliverAll(): void {
    while (this.#mail.length > 0) this.deliver('first');
  }

  /** Everything arrives, and has its time. */
  async settle(): Promise<void> {
    for (let round = 0; round < 6; round += 1) {
      this.deliverAll();
      await this.bench.pass(30_000);
    }
  }

  /** True while somebody is on the line who hears nothing and nobody. */
  get isStranded(): boolean {
    return (this.leg === 'ringing' || this.leg === 'up') && !this.isHandedOver;
  }

  #replaceRequests(): void {
    const { rest, carrier } = this.bench;
    rest.dial = (request) => {
      this.callId = request.callId;
      return this.#perform('dial', () => {
        this.carrierCallId = 'carrier-out-1';
        this.leg = 'ringing';
        this.#status('ringing', null);
        return { carrierCallId: this.carrierCallId };
      });
    };
    rest.hangUp = () => this.#perform('hangUp', () => this.#over('answered'));
    rest.lookUp = () =>
      this.#perform('lookUp', () => ({ isOver: this.leg === 'over', outcome: null, costUsd: null }));
    rest.speak = () => this.#onLine('speak', () => this.#speak());
    rest.transfer = () =>
      this.#onLine('transfer', () => {
        this.#isDialing = true;
        this.bench.clock.after(RINGING_MS, () => this.dialed('busy'));
        if (this.#steering === 'replies') this.#stopStream();
      });
    rest.sendDigits = () =>
      this.#onLine('sendDigits', () => {
        if (this.#steering === 'commands') return;
        this.#stopStream();
        this.bench.clock.after(KEYS_MS, () => this.#connect());
      });
    if (carrier.commands === undefined) return;
    Object.assign(carrier.commands, {
      answer: () =>
        this.#onLine('answer', () => {
          if (this.leg !== 'ringing') return;
          this.leg = 'up';
          this.#status('active', null);
        }),
      startStream: () =>
        this.#onLine('startStream', () => {
          if (this.leg === 'up') this.bench.clock.after(50, () => this.#connect());
        }),
      stopStream: () => this.#perform('stopStream', () => this.#stopStream()),
    });
  }

  async #onLine(name: string, task: () => void): Promise<void> {
    if (this.leg === 'over') throw new CarrierError('over', { status: 422, retryable: false });
    await this.#perform(name, task);
  }

  async #perform<T>(name: string, task: () => T): Promise<T> {
    const { weather, bench } = this;
    bench.rest.requests.push(name);
    if (weather === 'refused') throw new CarrierError('no', { status: 500, retryable: false });
    if (weather === 'unreachable') throw new CarrierError('no answer', { status: null, retryable: true });
    const result = task();
    if (weather === 'well') return result;
    await new Promise<void>((resolve) => bench.clock.after(SLOW_MS, resolve));
    if (weather === 'lost') throw new CarrierError('no answer', { status: null, retryable: false });
    return result;
  }

  #speak(): void {
    if (this.#steering === 'replies') this.#stopStream();
    this.bench.clock.after(SPEECH_MS, () => {
      if (this.leg !== 'up') return;
      if (this.#steering === 'replies') this.#over('answered');
      else this.#send({ type: 'speech-ended' });
    });
  }

  #back(result: 'busy' | 'connected'): void {
    this.#post(() => {
      if (this.leg !== 'up') return;
      const answer = this.#hand({ type: 'transfer', result });
      if (this.#steering === 'replies') this.#obey(answer);
    });
  }

  /** Asks what to do with the call. */
  #ask(): void {
    if (this.leg === 'over') return;
    const { callId, carrierCallId } = this;
    const isKnown = this.#direction === 'inbound' || this.bench.desk.isLive(callId);
    const answer: CallAnswer = isKnown
      ? this.bench.ring(callId, { carrierCallId, direction: this.#direction })
      : { type: 'hang-up' };
    if (this.#steering === 'replies') this.#obey(answer);
  }

  #obey(answer: CallAnswer | undefined): void {
    if (this.leg === 'over') return;
    if (answer?.type !== 'stream') {
      this.#over('answered');
      return;
    }
    this.leg = 'up';
    this.bench.clock.after(50, () => this.#connect());
  }

  #connect(): void {
    if (this.leg !== 'up' || this.isHandedOver || this.#isDialing) return;
    const { bench, callId, carrierCallId } = this;
    if (bench.desk.hasEnded(callId) || !bench.desk.expectsStream(callId)) {
      this.#withoutStream();
      return;
    }
    const before = this.#stream;
    const { socket, receiver } = bench.admit({ callId });
    const stream: Socket = { socket, receiver, isOpen: true };
    this.#stream = stream;
    if (before !== undefined) before.isOpen = false;
    socket.close = (code, reason) => {
      socket.closes.push([code, reason]);
      if (!stream.isOpen) return;
      stream.isOpen = false;
      if (this.#stream !== stream) return;
      this.#stream = undefined;
      this.#withoutStream();
    };
    receiver.receiveText(startText({ carrierCallId }));
  }

  /** Where instructions travel in replies there are none left, and the carrier hangs up. Elsewhere the line stays. */
  #withoutStream(): void {
    if (this.#steering === 'replies' && !this.isHandedOver && !this.#isDialing) this.#over('answered');
  }

  #stopStream(): void {
    const stream = this.#stream;
    if (stream === undefined || !stream.isOpen) return;
    this.#stream = undefined;
    stream.isOpen = false;
    stream.receiver.receiveText(text({ type: 'stop' }));
    stream.receiver.socketClosed(1000);
  }

  #over(outcome: CallOutcome): void {
    if (this.leg === 'none' || this.leg === 'over') return;
    this.leg = 'over';
    this.isHandedOver = false;
    this.#stopStream();
    this.#status('completed', outcome);
  }

  #status(status: 'ringing' | 'active' | 'completed', outcome: CallOutcome | null): void {
    this.#sequence += 1;
    const sequence = this.#steering === 'replies' ? this.#sequence : null;
    this.#send({ type: 'status', status, outcome, sequence });
  }

  #send(report: ReportFields): void {
    this.#post(() => void this.#hand(report));
  }

  #hand(report: ReportFields): CallAnswer | undefined {
    const { callId, carrierCallId } = this;
    return this.bench.report({ callId, carrierCallId, ...report });
  }

  #post(letter: () => void): void {
    this.#mail.push(letter);
  }
}
