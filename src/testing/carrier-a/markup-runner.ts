// Carries out markup documents on a leg, verb by verb, until one ends the call or new instructions replace them.
import { SILENT_CALLEE } from '../callee.js';
import { pause } from '../../base/pause.js';
import { PlaybackClock } from '../playback.js';
import type { Callee } from '../simulator.js';
import { makeSpeechTones } from '../tones.js';
import { dialOut, type DialedLeg } from './dial-out.js';
import { checkCallback, fetchInstructions, resolveUrl, type Instructions } from './instructions.js';
import type { Leg } from './leg.js';
import { readVerbs } from './markup.js';
import type { DialVerb, StreamVerb, Verb } from './markup-verbs.js';
import type { Parameters } from './parameters.js';
import { connectStream } from './stream-connection.js';
import type { StopReason } from './stream.js';
import type { Switchboard } from './switchboard.js';

/** Documents that one call may ask for: more is a loop. */
const MAX_DOCUMENTS = 100;
/** Pace of the carrier's voice, and the longest text that is heard in full. */
const SPEECH_MS_PER_CHARACTER = 60;
const MIN_SPEECH_MS = 300;
const MAX_SPEECH_MS = 60_000;
const KEY_MS = 200;
const PAUSE_MS: Readonly<Record<string, number>> = { w: 500, W: 1000 };
const AUDIO_FILE_MS = 1000;

/** Calls that a `<Dial>` makes. */
export interface Dialer {
  /** Starts a leg that belongs to another one. */
  createChild(parent: Leg, call: { from: string; to: string }): Leg;
  calleeOf(number: string, parent: Leg): Callee | undefined;
  isOwnNumber(number: string): boolean;
  prepare(leg: Leg, callee: Callee): Promise<void>;
}

/** What comes after a verb: further instructions, the end of the call, or the next verb. */
type Next = { instructions: Instructions } | 'end' | 'next';

/** How long keys take. */
export function keysTimeMs(digits: string): number {
  return [...digits].reduce((sum, key) => sum + (PAUSE_MS[key] ?? KEY_MS), 0);
}

export class MarkupRunner {
  readonly #switchboard: Switchboard;
  readonly #dialer: Dialer;

  constructor(switchboard: Switchboard, dialer: Dialer) {
    this.#switchboard = switchboard;
    this.#dialer = dialer;
  }

  /** Carries out a document and what it leads to. Resolves when the call is over, or new instructions have taken over. */
  async run(leg: Leg, first: Instructions): Promise<void> {
    const signal = leg.beginRun();
    let instructions: Instructions | undefined = first;
    for (let count = 0; instructions !== undefined && !signal.aborted; count += 1) {
      if (count >= MAX_DOCUMENTS) leg.violate('the instructions go round in circles');
      instructions = count >= MAX_DOCUMENTS ? undefined : await this.#runDocument(leg, instructions, signal);
    }
    if (signal.aborted) return;
    leg.answerReport ??= noStream(first, 'hung-up', 'the answer opens no stream');
    leg.end({ by: 'agent', how: 'hang-up' });
  }

  /** New instructions for a running call: its stream ends, and they are carried out. */
  async redirect(leg: Leg, instructions: Instructions): Promise<void> {
    const verbs = readVerbs(instructions.source).verbs ?? [];
    leg.stream?.stop(stopReason(verbs), { by: 'agent' });
    await this.run(leg, instructions);
  }

  async #runDocument(
    leg: Leg,
    instructions: Instructions,
    signal: AbortSignal,
  ): Promise<Instructions | undefined> {
    const { verbs, violations } = readVerbs(instructions.source);
    for (const sentence of violations) leg.violate(sentence);
    if (verbs === null) {
      leg.answerReport ??= noStream(instructions, 'failed', 'the answer of the voice webhook cannot be used');
      return undefined;
    }
    for (const verb of verbs) {
      const next = await this.#runVerb(leg, verb, { instructions, signal });
      if (signal.aborted || next === 'end') return undefined;
      if (next !== 'next') return next.instructions;
    }
    return undefined;
  }

  async #runVerb(
    leg: Leg,
    verb: Verb,
    context: { instructions: Instructions; signal: AbortSignal },
  ): Promise<Next> {
    const { clock } = this.#switchboard;
    const { signal } = context;
    switch (verb.type) {
      case 'stream':
        return this.#connect(leg, verb, context);
      case 'dial':
        return this.#dial(leg, verb, context);
      case 'redirect':
        return this.#ask(leg, { ...verb, url: resolveUrl(verb.url, context.instructions.url) });
      case 'reject':
        return this.#reject(leg, verb.reason, context.instructions);
      case 'hang-up':
        return 'end';
      case 'record':
        pickUp(leg);
        if (verb.callback !== undefined) checkCallback(leg, verb.callback.url, this.#switchboard);
        leg.startRecording({ ...verb, source: 'StartCallRecordingAPI', track: 'both' });
        return 'next';
      case 'say':
        pickUp(leg);
        leg.spoken.push(verb.text);
        await this.#speak(leg, verb.text, signal);
        return 'next';
      case 'play-digits':
        pickUp(leg);
        leg.sentDigits.push(verb.digits);
        await pause(clock, keysTimeMs(verb.digits), signal);
        return 'next';
      case 'play-audio':
        pickUp(leg);
        await pause(clock, AUDIO_FILE_MS, signal);
        return 'next';
      case 'pause':
        pickUp(leg);
        await pause(clock, verb.seconds * 1000, signal);
        return 'next';
    }
  }

  /** A file that cannot be fetched ends the call, as the carrier's error message does. */
  async #ask(
    leg: Leg,
    request: { url: string; method: 'GET' | 'POST'; parameters?: Parameters },
  ): Promise<Next> {
    const fetched = await fetchInstructions(leg, request, this.#switchboard);
    if ('instructions' in fetched) return fetched;
    leg.answerReport ??= fetched.failed;
    if (!leg.isOver) leg.violate(`further instructions could not be had: ${fetched.failed.reason}`);
    return 'end';
  }

  #reject(leg: Leg, reason: string, instructions: Instructions): Next {
    if (leg.isAnswered || leg.direction === 'outbound') {
      leg.violate('<Reject> for a call that is answered');
      return 'end';
    }
    const outcome = reason === 'busy' ? 'busy' : 'rejected';
    // A server rejects the calls of a carrier that is not its own.
    const hint = outcome === 'rejected' ? ', as it does where its carrier is another one (--carrier)' : '';
    leg.answerReport ??= noStream(instructions, outcome, `the server answered "${outcome}"${hint}`);
    leg.end({ by: 'agent', how: 'hang-up', status: reason === 'busy' ? 'busy' : 'no-answer' });
    return 'end';
  }

  async #speak(leg: Leg, text: string, signal: AbortSignal): Promise<void> {
    const { clock } = this.#switchboard;
    const durationMs = Math.min(
      MAX_SPEECH_MS,
      Math.max(MIN_SPEECH_MS, text.length * SPEECH_MS_PER_CHARACTER),
    );
    const playback = new PlaybackClock({ clock, echoMark() {} });
    playback.enqueue(makeSpeechTones(durationMs));
    leg.line.hear(playback);
    await pause(clock, durationMs, signal);
    playback.close();
  }

  async #connect(
    leg: Leg,
    verb: StreamVerb,
    context: { instructions: Instructions; signal: AbortSignal },
  ): Promise<Next> {
    leg.answer();
    const { webhookMs, url } = context.instructions;
    await connectStream(
      leg,
      { verb, webhookMs, documentUrl: url, signal: context.signal },
      this.#switchboard,
    );
    if (context.signal.aborted) return 'end';
    leg.line.start(leg.steps);
    if (verb.action === undefined) return 'next';
    return this.#ask(leg, { ...verb.action, url: resolveUrl(verb.action.url, url) });
  }

  async #dial(
    leg: Leg,
    verb: DialVerb,
    context: { instructions: Instructions; signal: AbortSignal },
  ): Promise<Next> {
    pickUp(leg);
    const dialer = this.#dialer;
    if (
      verb.callerId !== undefined &&
      verb.callerId !== leg.facts.from &&
      !dialer.isOwnNumber(verb.callerId)
    ) {
      leg.violate('the callerId of <Dial> is not a number of the account');
    }
    const from = verb.callerId ?? leg.facts.from;
    const child = dialer.createChild(leg, { from, to: verb.number });
    const callee = dialer.calleeOf(verb.number, leg) ?? SILENT_CALLEE;
    const preparing = dialer.prepare(child, callee);
    const dialed = await dialOut(
      child,
      { verb, callee, preparing, signal: context.signal },
      this.#switchboard,
    );
    if (verb.action === undefined) return 'next';
    const action = { ...verb.action, url: resolveUrl(verb.action.url, context.instructions.url) };
    const parameters = dialParameters(dialed);
    if (!context.signal.aborted) return this.#ask(leg, { ...action, parameters });
    // The person has hung up: the result is reported, and there is nobody left for instructions.
    if (leg.isOver) this.#switchboard.webhooks.watch(this.#ask(leg, { ...action, parameters }));
    return 'end';
  }
}

function dialParameters(dialed: DialedLeg): Parameters {
  return [
    ['DialCallSid', dialed.callSid],
    ['DialCallStatus', dialed.status],
    ['DialBridged', String(dialed.bridged)],
    ...(dialed.bridged ? [['DialCallDuration', String(Math.ceil(dialed.durationMs / 1000))] as const] : []),
  ];
}

/** The call is answered, and the person is on the line. */
function pickUp(leg: Leg): void {
  leg.answer();
  leg.line.start(leg.steps);
}

function stopReason(verbs: readonly Verb[]): StopReason {
  if (verbs.some(({ type }) => type === 'dial')) return 'transfer';
  return verbs.some(({ type }) => type === 'stream') ? 'replaced' : 'hang-up';
}

function noStream(
  instructions: Instructions,
  outcome: 'busy' | 'rejected' | 'hung-up' | 'failed',
  reason: string,
) {
  const { webhookMs } = instructions;
  return {
    outcome,
    status: webhookMs === null ? null : 200,
    webhookMs,
    upgradeMs: null,
    answeredAfterMs: null,
    reason,
  };
}
