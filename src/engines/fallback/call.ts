// One call that outlives its engines: as soon as one of them is at its end, the next one goes on where it stopped.
import { isDeepStrictEqual } from 'node:util';
import { type CallLanguage, inLanguage, NO_LANGUAGE } from '../../conversation/language.js';
import type { Resumption } from '../../conversation/floor.js';
import { type AudioFormat, FRAME_MS } from '../../audio/format.js';
import { OffhookError } from '../../base/errors.js';
import { describeError } from '../../base/log.js';
import type { CallProviders, ProviderStage, VoiceMode } from '../../contract/call-record.js';
import type { ConversationState } from '../../conversation/state.js';
import { isTooLate, type LeftCall, stillOwed, unheardMs, waitedMs } from '../../conversation/succession.js';
import type { Circuits } from '../../providers/circuits.js';
import type { SpokenText } from '../../providers/speech-to-text.js';
import { CallAgents, type NextAgent, type NextAgents } from './agents.js';
import { type FallbackChoice, neededIn } from './choice.js';
import { CallerSilence } from './caller-silence.js';
import type {
  Engine,
  EngineContext,
  EngineFact,
  EngineFailure,
  EngineRecipe,
  HandOff,
  HandoffOrder,
  Preparation,
  Takeover,
} from '../engine.js';
import { languageWith, providersIn } from '../languages/spoken-words.js';
import type { SpokenRequest } from '../spoken-request.js';
import { ToolError } from '../tools/tool.js';
import { EngineScope } from './engine-scope.js';
import { RecentAudio } from './recent-audio.js';

export interface FallbackCallOptions {
  /** In the order in which they are tried; one at least. */
  readonly choices: readonly FallbackChoice[];
  /** The recipe that the call was told to begin with, where circuits or trouble have it begin with another one. */
  readonly announced: EngineRecipe;
  /** Of the first of `choices`. */
  readonly preparation?: Preparation | undefined;
  /** Told of what is needed: that it has failed, or brought a turn to its end. */
  readonly circuits: Circuits;
  /** Of the agent that the call begins with. @default null */
  readonly agentName?: string | null | undefined;
  /** Whom that one may hand the caller over to. @default nobody */
  readonly handoffs?: NextAgents | undefined;
}

/** An engine of the call and what belongs to it. */
interface Member {
  readonly choice: FallbackChoice;
  readonly scope: EngineScope;
  readonly engine: Engine;
  /** It goes on with what another one has begun. */
  readonly isSuccessor: boolean;
}

/** A replacement that has not been told. */
interface Switch {
  readonly stage: ProviderStage;
  readonly from: string;
  readonly code: string;
  /** The clock at the beginning of the trouble. */
  readonly since: number;
}

/** A call on its way from one engine to the next. */
interface Handover {
  readonly takeover: Takeover;
  readonly failure: EngineFailure;
  /** Undefined where nothing has failed: another agent has the caller. */
  readonly change: Switch | undefined;
  /** It had taken the call over itself, and nobody heard anything of it. */
  readonly isUnheard: boolean;
}

/** Why a call does not begin with the recipe that it was told to begin with, unless that one could not make an engine. */
const NOT_TRIED = 'CIRCUIT_OPEN';

const NOT_BEGUN: EngineFailure = { code: 'INTERNAL', message: 'The voice engine failed.' };
const STAYS = 'Not done: nobody can take the place of this agent. Help the caller yourself.';
const ELSEWHERE = 'Not done: the caller is with somebody else already.';

const NOT_MADE = 'a voice engine could not be made';

export class FallbackCall implements Engine {
  readonly #context: EngineContext;
  readonly #options: FallbackCallOptions;
  readonly #agents: CallAgents;
  /** Those that were not tried. */
  readonly #remaining: FallbackChoice[];
  readonly #heard = new RecentAudio();
  readonly #silence: CallerSilence;
  /** Of engines that are gone: what they have begun goes on. */
  readonly #adoptedTools: { close(): void }[] = [];
  #count = 0;
  #member: Member;
  /** What the call is in, and who talks to the caller now; stages may change while an engine goes on. */
  #served: { readonly language: CallLanguage; readonly providers: CallProviders };
  /** Set while the engine is to be replaced: nobody hears the caller. */
  #isBetween = false;
  /** Waits for somebody who listens. */
  #waiting: Handover | undefined;
  /** How the hold has ended in which the engine failed. */
  #resumption: Resumption | undefined;
  /** Is told with the first audio of the engine that has begun. */
  #untold: (Switch & { readonly startedAt: number }) | undefined;
  #notBegun = NOT_TRIED;
  /** Audio that came while there was no engine, in milliseconds. */
  #missedMs = 0;
  #keys: string[] = [];
  /** What came from outside while there was no engine. */
  readonly #asked: ((engine: Engine) => void)[] = [];
  #held = false;
  #closed = false;

  /** @throws what the last of the recipes throws; those before it are passed over then. */
  constructor(context: EngineContext, options: FallbackCallOptions) {
    this.#context = context;
    this.#options = options;
    this.#silence = new CallerSilence(context.clock, this.#heard);
    this.#remaining = [...options.choices];
    const language = context.resumed?.state.language ?? NO_LANGUAGE;
    this.#served = { language, providers: providersIn(options.announced, language) };
    const left = context.resumed?.state.handoffs;
    this.#agents = new CallAgents({ left, name: options.agentName, handoffs: options.handoffs });
    this.#member = this.#open(undefined, options.preparation);
  }

  get mode(): VoiceMode {
    return this.#member.choice.recipe.mode;
  }

  get state(): ConversationState {
    const state = this.#waiting?.takeover.state ?? this.#member.engine.state;
    const { state: handoffs } = this.#agents;
    return handoffs === undefined ? state : { ...state, handoffs };
  }

  get pushSpokenText(): Engine['pushSpokenText'] {
    const { engine } = this.#member;
    if (engine.pushSpokenText === undefined) return undefined;
    return (segment: SpokenText) => engine.pushSpokenText?.(segment);
  }

  start(): void {
    const { announced } = this.#options;
    const { choice, engine } = this.#member;
    if (choice.recipe !== announced) {
      const since = this.#context.clock.now();
      const from = nameOf(this.#served.providers, 'engine');
      this.#served = servedBy(choice.recipe, this.#served.language);
      this.#tell({ stage: 'engine', from, code: this.#notBegun, since }, since);
    }
    engine.start();
  }

  pushAudio(frame: Int16Array): void {
    if (this.#isBetween || this.#mayChange) this.#heard.push(frame);
    if (this.#isBetween) this.#missedMs += FRAME_MS;
    else this.#member.engine.pushAudio(frame);
  }

  pushEncoded(bytes: Uint8Array, format: AudioFormat): boolean {
    const { engine, isSuccessor } = this.#member;
    // The bytes are ahead of the frames: who is played what was said before them would miss what lies between.
    if (this.#isBetween || isSuccessor) return false;
    const isTaken = engine.pushEncoded?.(bytes, format) === true;
    // A successor would have to hear what was said before it.
    return isTaken && !this.#mayChange;
  }

  /** Another engine may take the place of the one that is there. */
  get #mayChange(): boolean {
    return this.#remaining.length > 0 || this.#agents.mayChange;
  }

  pushDtmf(digit: string): void {
    this.#agents.acted();
    if (this.#isBetween) this.#keys.push(digit);
    else this.#member.engine.pushDtmf(digit);
  }

  request(request: SpokenRequest): boolean {
    if (!this.#isBetween) return this.#member.engine.request(request);
    this.#asked.push((engine) => engine.request({ ...request, interrupts: false }));
    return true;
  }

  inform(text: string): void {
    if (this.#isBetween) this.#asked.push((engine) => engine.inform(text));
    else this.#member.engine.inform(text);
  }

  markPlayed(name: string): void {
    const own = this.#member.scope.markOf(name);
    if (own !== undefined) this.#member.engine.markPlayed(own);
  }

  hold(): void {
    this.#held = true;
    this.#heard.clear();
    this.#missedMs = 0;
    if (!this.#isBetween) this.#member.engine.hold();
    // Nobody else can say so.
    else this.#context.fact({ type: 'phase.changed', phase: 'held' });
  }

  resume(how: Resumption): void {
    this.#held = false;
    // During a hold nobody waits.
    this.#silence.sounds(this.#context.clock.now());
    if (!this.#isBetween) {
      this.#member.engine.resume(how);
      return;
    }
    this.#resumption = how;
    if (this.#waiting !== undefined) this.#goOn(this.#waiting);
  }

  close(): void {
    if (this.#closed) return;
    for (const tools of this.#adoptedTools) tools.close();
    this.#member.engine.close();
    this.#settle();
    this.#closed = true;
    this.#heard.clear();
  }

  /** Makes the engine of the next recipe that can make one. @throws what the last one throws */
  #open(takeover: Takeover | undefined, preparation?: Preparation): Member {
    let prepared = preparation;
    for (;;) {
      const choice = this.#remaining.shift();
      if (choice === undefined) throw new TypeError('There is no engine left.');
      const { recipe } = choice;
      const hasFallback = this.#remaining.length > 0;
      this.#count += 1;
      const number = this.#count;
      const scope: EngineScope = new EngineScope({
        context: this.#context,
        payees: recipe === this.#options.announced ? undefined : recipe.payees,
        number,
        takeover,
        hasFallback,
        fact: (fact) => {
          // Who serves an engine that is gone does not serve the call.
          const isCurrent = number === this.#count;
          if (!isCurrent && isAboutProviders(fact)) return;
          // Cut off by its own failure, it is said again by whoever goes on.
          if (isCurrent && !this.#isBetween && fact.type === 'turn.completed') this.#agents.said();
          this.#state(fact, choice);
        },
        unansweredMs: () => this.#silence.callerMs(),
        spoken: () => {
          const { clock, playout } = this.#context;
          this.#silence.sounds(clock.now() + playout.pushedMs - playout.playedMs);
          this.#settle(scope);
        },
        silenced: () => this.#silence.silenced(),
        handOff: this.#agents.mayChange ? (order) => this.#handOff(order, scope) : undefined,
        ends: (reason, failure) => {
          if (scope !== this.#member.scope || this.#isBetween || this.#closed) return;
          const isReplaced = reason === 'provider-failed' && failure !== undefined && hasFallback;
          if (isReplaced && this.#member.engine.handOver !== undefined) this.#replace(failure);
          else this.#context.endCall(reason, failure?.wait === undefined ? failure : this.#untoldOf(failure));
        },
      });
      try {
        const engine = recipe.create(scope.context, prepared);
        return { choice, scope, engine, isSuccessor: takeover !== undefined };
      } catch (error) {
        prepared?.close();
        if (!hasFallback) throw error;
        const { callId, logger } = this.#context;
        logger.warn({ callId, ...describeError(error) }, NOT_MADE);
        this.#notBegun = OffhookError.isInstance(error) ? error.code : 'INTERNAL';
      }
      prepared = undefined;
    }
  }

  /** A moment later: who fails may be in the middle of it, and is not closed under its own feet. */
  #replace(failure: EngineFailure): void {
    this.#isBetween = true;
    this.#resumption = undefined;
    this.#context.clock.after(0, () => {
      if (!this.#closed) this.#take(failure);
    });
  }

  #take(failure: EngineFailure): void {
    const { clock } = this.#context;
    const takeover = this.#member.engine.handOver?.();
    if (takeover === undefined) return;
    if (takeover.tools !== undefined) this.#adoptedTools.push(takeover.tools);
    const isUnheard = this.#untold !== undefined;
    this.#settle();
    const { stage = 'engine', code, isFair = true } = failure;
    const from = nameOf(this.#served.providers, stage);
    const { language } = takeover.state;
    this.#served = { ...this.#served, language };
    const needed = neededIn(this.#member.choice, language);
    const failed = needed.find((need) => need.stage === stage);
    if (isFair && failed !== undefined) this.#options.circuits.failed(failed.provider);
    const change = { stage, from, code, since: takeover.state.troubledSince ?? clock.now() };
    const handover = { takeover, failure, change, isUnheard };
    if (this.#held) this.#waiting = handover;
    else this.#goOn(handover);
  }

  /** @throws ToolError, ConfigError */
  #handOff({ to, summary }: HandoffOrder, scope: EngineScope): ReturnType<HandOff> {
    if (scope !== this.#member.scope || this.#isBetween || this.#closed)
      throw new ToolError(ELSEWHERE, 'refused');
    const { engine } = this.#member;
    const leave = engine.handOver?.bind(engine);
    if (leave === undefined) throw new ToolError(STAYS, 'refused');
    const next = this.#agents.find({ to }, engine.state.language);
    const said = next.say === undefined ? '' : ` The caller hears you say now: "${next.say}"`;
    return {
      told: `Done. From here on you are the agent ${next.name}, and the caller is with you. What you were told of them: ${summary}${said} Go on with the conversation; nobody else answers them.`,
      shown: next.name,
      carryOut: () => this.#change(next, { summary, leave }),
    };
  }

  /** The engine is gone in this tick, and that of the next agent begins a moment later. */
  #change(next: NextAgent, { summary, leave }: { summary: string; leave: () => Takeover }): void {
    const { clock } = this.#context;
    const { current: from } = this.#agents;
    this.#isBetween = true;
    this.#resumption = undefined;
    this.#notBegun = NOT_TRIED;
    const takeover = leave();
    if (takeover.tools !== undefined) this.#adoptedTools.push(takeover.tools);
    this.#settle();
    const { name: to, recipe, choices } = next;
    this.#agents.change(next);
    this.#served = servedBy(recipe, takeover.state.language);
    this.#remaining.splice(0, Number.POSITIVE_INFINITY, ...choices);
    const { providers: provider } = this.#served;
    const handover: Handover = { takeover, failure: NOT_BEGUN, isUnheard: false, change: undefined };
    this.#waiting = handover;
    const language = languageWith(recipe, takeover.state.language);
    this.#context.fact({ type: 'caller.handed-over', from, to, summary, language, provider, recipe });
    clock.after(0, () => {
      if (!this.#closed && !this.#held && this.#waiting === handover) this.#goOn(handover);
    });
  }

  #goOn(handover: Handover): void {
    const { failure, isUnheard, takeover: given } = handover;
    const { agentMs } = this.#silence;
    const left: LeftCall = {
      state: given.state,
      resumption: this.#resumption ?? null,
      hasTools: (given.tools?.runs.size ?? 0) > 0,
      missedMs: this.#missedMs,
      at: this.#context.clock.now(),
    };
    const callerMs = left.resumption === null ? this.#silence.callerMs() : undefined;
    const wait = this.#silence.leaves(waitedMs(left, { callerMs, agentMs }));
    const state = stillOwed(left);
    const { owed } = state;
    const { state: handoffs } = this.#agents;
    const takeover = { ...given, state: { ...state, watch: { ...state.watch, wait }, handoffs } };
    const { callId, clock, logger } = this.#context;
    // During a hold nobody waits.
    const since = this.#resumption === undefined ? handover.change?.since : clock.now();
    const change = handover.change && { ...handover.change, since: since ?? handover.change.since };
    this.#waiting = undefined;
    if (owed.kind === 'goodbye' && owed.text === '') {
      const { reason } = owed;
      const end = () => this.#context.endCall(reason);
      const written = this.#context.beforeOutside?.({ type: 'hang-up', isOutside: true, reason });
      if (written === undefined) end();
      else void written.then(end, end);
      return;
    }
    // A third one in the same wait may have no time any more.
    if (isUnheard && isTooLate(wait, clock.now())) {
      this.#context.endCall('provider-failed', this.#untoldOf(failure));
      return;
    }
    try {
      this.#member = this.#open(takeover);
    } catch (error) {
      logger.warn({ callId, ...describeError(error) }, NOT_MADE);
      this.#context.endCall('provider-failed', this.#untoldOf(failure));
      return;
    }
    const { choice, engine } = this.#member;
    const { recipe } = choice;
    const { providers: announced, language } = this.#served;
    this.#served = servedBy(recipe, language);
    const { providers: serving } = this.#served;
    this.#isBetween = false;
    if (change !== undefined) {
      logger.info(
        { callId, from: change.from, to: nameOf(serving, change.stage) },
        'another voice engine took over',
      );
      this.#untold = { ...change, startedAt: clock.now() };
    } else {
      logger.info({ callId, agent: this.#agents.current }, 'another agent has the caller');
      const now = clock.now();
      if (!isDeepStrictEqual(announced, serving))
        this.#tell(
          { stage: 'engine', from: nameOf(announced, 'engine'), code: this.#notBegun, since: now },
          now,
        );
    }
    engine.start();
    if (!this.#isBetween) for (const ask of this.#asked.splice(0)) ask(engine);
    const missedMs = unheardMs(left);
    if (!this.#isBetween) this.#play(missedMs);
    // It has failed on the spot: whoever is next hears what it has not heard.
    this.#missedMs = this.#isBetween ? missedMs : 0;
    if (this.#isBetween) return;
    if (!this.#mayChange) this.#heard.clear();
    for (const key of this.#keys.splice(0)) engine.pushDtmf(key);
    if (owed.kind === 'nothing') this.#settle();
  }

  /** The engine hears what nobody has heard, as if it were then. */
  #play(missedMs: number): void {
    const { engine, scope } = this.#member;
    const frames = [...this.#heard.last(missedMs)];
    for (const [index, frame] of frames.entries())
      scope.earlier((frames.length - 1 - index) * FRAME_MS, () => engine.pushAudio(frame));
  }

  /** The caller was told nothing. Their wait is as the line tells it: an engine knows of its own part alone. */
  #untoldOf(failure: EngineFailure): EngineFailure {
    return { ...failure, wait: this.#silence.untold(failure.wait) };
  }

  /** Tells the last replacement, if that was not done: the caller hears the one who goes on, or is heard and has nothing to wait for. */
  #settle(scope?: EngineScope): void {
    const change = this.#untold;
    if (change === undefined || (scope !== undefined && scope !== this.#member.scope)) return;
    this.#untold = undefined;
    this.#tell(change, scope === undefined ? change.startedAt : this.#context.clock.now());
  }

  #tell({ stage, from, code, since }: Switch, until: number): void {
    // A stage of the engine may have changed before anything was heard of it.
    const provider = this.#served.providers;
    const to = nameOf(provider, stage);
    const gapMs = Math.max(0, Math.round(until - since));
    this.#context.fact({
      type: 'provider.replaced',
      stage,
      from,
      to,
      code,
      gapMs,
      mode: this.mode,
      provider,
    });
  }

  #state(fact: EngineFact, choice: FallbackChoice): void {
    const { recipe } = choice;
    const { language } = this.#served;
    if (fact.type === 'language.changed')
      this.#served = { language: inLanguage(language, fact.language), providers: fact.provider };
    if (fact.type === 'provider.replaced') this.#served = { language, providers: fact.provider };
    this.#agents.hear(fact, recipe.mode);
    if (fact.type === 'turn.completed') {
      const { agentText, userText } = fact.turn;
      const hasWorked = agentText !== '' && (recipe.mode === 'realtime' || userText !== '');
      if (hasWorked)
        for (const { provider } of neededIn(choice, this.#served.language))
          this.#options.circuits.worked(provider);
    }
    this.#context.fact(fact);
  }
}

function servedBy(recipe: EngineRecipe, language: CallLanguage) {
  return { language, providers: providersIn(recipe, language) };
}

function isAboutProviders({ type }: EngineFact): boolean {
  return type === 'provider.replaced' || type === 'provider.reconnected';
}

/** The provider of a stage; all of them where the mode has no such stage. */
function nameOf({ engine, stt, llm, tts }: CallProviders, stage: ProviderStage): string {
  const one = { engine, stt, llm, tts }[stage] ?? engine;
  return one ?? [stt, llm, tts].filter((name) => name !== null).join(' + ');
}
