// One call with the sessions of real vendors and no phone: the engine, a pacer and a carrier's player on one side, emulated vendors on
// loopback on the other, and one time for all of them that only the test moves. A person calls, asks, listens and says goodbye.
import { createOutboundConverter } from '../../src/audio/converter.js';
import { PCM_16K } from '../../src/audio/format.js';
import { Pacer } from '../../src/audio/pacer.js';
import type { Clock } from '../../src/base/clock.js';
import { silentLogger } from '../../src/base/log.js';
import { LooseEnds } from '../../src/base/loose-ends.js';
import { silentMeters } from '../../src/base/meters.js';
import type { Turn } from '../../src/contract/call-record.js';
import type { Engine, EngineFact, EngineRecipe } from '../../src/engines/engine.js';
import { type Emulator, makeSpeechTones } from '../../src/testing/index.js';
import { selectTranscoder } from '../../src/transcoder/select.js';
import type { Phase } from './call-moments.js';
import { CarrierPlayer } from './carrier-player.js';
import { FakeClock } from './fake-clock.js';
import { untilQuiet } from './virtual/quiet.js';
import { type TakenFailure, takenFailure } from './taken-failure.js';

/** How long the person speaks each time. What they say the emulated ears know. */
const SPEECH_MS = 1400;

const backend = selectTranscoder();
const STEP_MS = 20;
const FRAME = 320;
/** A person who hears nothing for so long, though something is owed to them, gives up. */
const PATIENCE_MS = 12_000;
/** An agent that is quiet for so long has finished. */
const QUIET_MS = 400;
/** How far into a phase its trouble begins. */
const INTO_MS = 400;
const INTO_THINKING_MS = 800;
/** A vendor without any connection so long after the start of a call has none before it is asked something. */
const CONNECTED_WITHIN_MS = 200;
const CLOSING_MS = 2500;
/** What a carrier needs to begin to apologize. */
export const CARRIER_SAYS_MS = 300;

const TONES = makeSpeechTones(SPEECH_MS);
const SPEECH = Int16Array.from({ length: TONES.length * 2 }, (_, index) => TONES[index >> 1] ?? 0);
const SILENCE = new Int16Array(FRAME);

export interface VendorCallOptions {
  readonly recipe: (clock: Clock) => EngineRecipe;
  readonly vendorClock: FakeClock;
  /** There is a connection that can be broken. */
  readonly isConnected: () => boolean;
  /** Told when the person has nothing more to ask. */
  readonly lastQuestion: () => void;
  /** The person says goodbye a second time where the first one did not end the call. @default false */
  readonly saysGoodbyeAgain?: boolean;
  /** What is left of a call that is over takes so long at most, in milliseconds. @default 2500 */
  readonly closingMs?: number;
}

/** What happens in a call, once, and when: at the start before there is a connection, or when there is one. */
export interface Incident {
  readonly phase: Phase;
  readonly isEarly: boolean;
  readonly begin: () => void;
}

/** What became of a call. */
export interface VendorCallOutcome {
  readonly ending: Ending | undefined;
  readonly longestWaitMs: number;
  /** What the agent was heard to say, turn by turn. */
  readonly heard: readonly string[];
  /** What the person said, as the record has it, turn by turn. */
  readonly said: readonly string[];
  readonly facts: readonly EngineFact[];
  /** From the trouble to the first connection that is back, in milliseconds. */
  readonly backAfterMs: number | undefined;
  /** Of the engine, when the call was over. */
  readonly timersLeft: number;
  /** To the vendors, when they have noticed that the call is over. */
  readonly socketsLeft: number;
  readonly violations: readonly string[];
}

/** Plays a whole call with these vendors, until nothing of it can be left. */
export async function playVendorCall(
  options: VendorCallOptions,
  incident: Incident,
  emulators: readonly Emulator[],
): Promise<VendorCallOutcome> {
  const played = new VendorCall(options);
  await played.run(incident);
  await played.close();
  const { ending, longestWaitMs, turns, facts, backAfterMs } = played;
  return {
    ending,
    longestWaitMs,
    heard: turns.map(({ agentText }) => agentText),
    said: turns.map(({ userText }) => userText),
    facts,
    backAfterMs,
    timersLeft: played.clock.pending,
    socketsLeft: emulators.reduce((sum, { openSockets }) => sum + openSockets, 0),
    violations: emulators.flatMap(({ violations }) => violations),
  };
}

export interface Ending {
  readonly reason: string;
  readonly failure: TakenFailure | undefined;
}

class VendorCall {
  readonly clock = new FakeClock();
  readonly facts: EngineFact[] = [];
  ending: Ending | undefined;
  /** How long after the trouble the record says that a connection is back. */
  backAfterMs: number | undefined;
  /** The longest that the person heard nothing while they waited for an answer, or for the rest of one, in milliseconds. */
  longestWaitMs = 0;
  readonly #options: VendorCallOptions;
  readonly #player: CarrierPlayer;
  readonly #engine: Engine;
  #troubledAt = 0;
  /** Answers, and parts of those that broke off, when the person had spoken. */
  #answersBefore = 0;
  /** Turns of the agent. What the person said and one voice mode did not answer, another one answers. */
  #answers = 0;
  #isClosed = false;
  #isOwed = true;
  #silentSince: number | undefined = 0;
  #soundSince: number | undefined;
  #quietSince = 0;
  readonly #looseEnds = new LooseEnds();
  #said: Int16Array | undefined;

  constructor(options: VendorCallOptions) {
    this.#options = options;
    const { clock } = this;
    this.#player = new CarrierPlayer({
      clock,
      bytesPerMs: 32,
      delayMs: 10,
      onMark: (name) => {
        if (pacer.markEchoed(name)) this.#engine.markPlayed(name);
      },
    });
    const pacer = new Pacer({
      converter: createOutboundConverter(PCM_16K, backend),
      sink: this.#player,
      clock,
    });
    const guarded = this.#guardedClock();
    this.#engine = options.recipe(guarded).create({
      callId: 'call-1',
      caller: '+15550100',
      callee: '+15550111',
      direction: 'inbound',
      clock: guarded,
      logger: silentLogger,
      meters: silentMeters,
      playout: pacer,
      controls: {
        transfer: () => new Promise(() => {}),
        sendDigits: async () => {},
        pauseRecording() {},
        resumeRecording() {},
      },
      fact: (fact) => {
        this.facts.push(structuredClone(fact));
        if (fact.type === 'turn.completed' && fact.turn.agentText !== '') this.#answers += 1;
        if (fact.type === 'provider.reconnected') this.backAfterMs ??= clock.now() - this.#troubledAt;
      },
      endCall: (reason, failure) => {
        this.ending ??= { reason, failure: takenFailure(failure, clock.now()) };
      },
    });
  }

  get turns(): Turn[] {
    return this.facts.flatMap((fact) => (fact.type === 'turn.completed' ? [fact.turn] : []));
  }

  /** The whole call, until the agent or the person gives up. */
  async run({ phase, isEarly, ...incident }: Incident): Promise<void> {
    const begin = () => {
      this.#troubledAt = this.clock.now();
      incident.begin();
    };
    const at = (name: Phase) => (name === phase ? begin : undefined);
    if (isEarly) at('start')?.();
    this.#engine.start();
    await this.#step();
    if (!isEarly && phase === 'start') {
      for (let ms = 0; ms < CONNECTED_WITHIN_MS && !this.#options.isConnected(); ms += STEP_MS)
        await this.#step();
      begin();
    }
    await this.#answered({ speaking: at('greeting') });
    await this.#say(at('listening'));
    await this.#answered({ thinking: at('thinking'), speaking: at('speaking') });
    this.#options.lastQuestion();
    await this.#say();
    await this.#answered({ speaking: at('goodbye') });
    // Who was talked over by the rest of an answer that had broken off says it again.
    if (this.ending === undefined && this.#options.saysGoodbyeAgain === true) {
      await this.#say();
      await this.#answered({});
    }
    this.#finishWait();
  }

  /** Ends the call for good. Resolves when the vendors have had the time to notice, and a model that is warmed up to answer. */
  async close(): Promise<void> {
    this.#engine.close();
    this.#isClosed = true;
    const { closingMs = CLOSING_MS } = this.#options;
    for (let passed = 0; passed < closingMs; passed += STEP_MS) await this.#step();
    // As the server does when it stops: what waits for a vendor's last word waits no longer.
    this.#looseEnds.cut();
    await this.#step();
  }

  /** Until the agent has said its turn and is quiet. */
  async #answered(troubles: {
    thinking?: (() => void) | undefined;
    speaking?: (() => void) | undefined;
  }): Promise<void> {
    const answersBefore = this.#answersBefore;
    let { thinking, speaking } = troubles;
    const since = this.clock.now();
    for (;;) {
      const now = this.clock.now();
      if (this.ending !== undefined || this.longestWaitMs >= PATIENCE_MS) return;
      const isDone = this.#answers > answersBefore && now - this.#quietSince >= QUIET_MS;
      if (isDone && this.#soundSince === undefined) break;
      if (thinking !== undefined && now - since >= INTO_THINKING_MS) {
        thinking();
        thinking = undefined;
      }
      if (speaking !== undefined && this.#soundSince !== undefined && now - this.#soundSince >= INTO_MS) {
        speaking();
        speaking = undefined;
      }
      await this.#step();
      if (this.#answers > answersBefore) this.#isOwed = false;
    }
  }

  /** The person says something, and is owed an answer from its end on. */
  async #say(trouble?: (() => void) | undefined): Promise<void> {
    for (let at = 0; at < SPEECH.length; at += FRAME) {
      if (this.ending !== undefined) return;
      if (trouble !== undefined && at / 16 === INTO_MS) trouble();
      this.#said = SPEECH.subarray(at, at + FRAME);
      await this.#step();
    }
    this.#said = undefined;
    this.#answersBefore = this.#answers;
    this.#isOwed = true;
    this.#silentSince = undefined;
  }

  async #step(): Promise<void> {
    const { vendorClock } = this.#options;
    vendorClock.advance(STEP_MS);
    this.clock.advance(STEP_MS);
    if (!this.#isClosed) this.#engine.pushAudio(this.#said ?? SILENCE);
    await untilQuiet();
    this.#listen();
  }

  #listen(): void {
    const now = this.clock.now();
    if (this.#player.aheadMs > 0) {
      this.#soundSince ??= now;
      this.#silentSince = undefined;
      return;
    }
    if (this.#soundSince !== undefined) this.#quietSince = now;
    this.#soundSince = undefined;
    if (!this.#isOwed || this.#isClosed) return;
    this.#silentSince ??= now;
    this.longestWaitMs = Math.max(this.longestWaitMs, now - this.#silentSince);
  }

  /** Who was told nothing by the agent waits for the carrier. */
  #finishWait(): void {
    if (this.ending?.failure?.untold !== true || this.#silentSince === undefined) return;
    const waitedMs = this.clock.now() - this.#silentSince + CARRIER_SAYS_MS;
    this.longestWaitMs = Math.max(this.longestWaitMs, waitedMs);
  }

  /** As the owner of a call guards it: what is due after the end does not happen. */
  #guardedClock(): Clock {
    const { clock } = this;
    return {
      now: () => clock.now(),
      wallNow: () => clock.wallNow(),
      after: (delayMs, task) => clock.after(delayMs, () => void (this.#isClosed || task())),
      looseEnds: this.#looseEnds,
    };
  }
}
