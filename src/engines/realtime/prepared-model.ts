// The session of a realtime model for a call that has not begun: connected, and asked for the greeting. What it tells is kept, and told
// to the engine as if it came then. To the engine it is the model itself.
import { isSameFormat } from '../../audio/format.js';
import { opened } from '../../base/opened.js';
import type {
  RealtimeContext,
  RealtimeEvents,
  RealtimeModel,
  RealtimeSession,
  RealtimeUsage,
} from '../../providers/realtime-model.js';
import { attemptAhead } from '../attempt-ahead.js';
import type { PreparationContext } from '../engine.js';
import { chooseFormats } from './formats.js';
import { countRealtime } from './usage.js';
import { type UsageContext, UsageMeter } from '../usage-meter.js';

export interface PreparedModelOptions {
  readonly context: PreparationContext;
  readonly model: RealtimeModel;
  readonly settings: Pick<RealtimeContext, 'language' | 'call' | 'instructions' | 'tools' | 'interruptible'>;
  /** What the engine will have said first; empty for nothing. */
  readonly greeting: string;
}

interface KeptEvent {
  readonly usage?: RealtimeUsage;
  /** A part of what the model says. */
  readonly isSpeech?: true;
  tell(events: RealtimeEvents): void;
}

/** Audio that is kept: more than two minutes of a telephone's format, twenty seconds of the finest. */
const MAX_BYTES = 1_048_576;

/** Events that are kept: more than this much audio makes, in chunks of 20 ms. */
const MAX_EVENTS = 10_000;

/** One call's. */
export class PreparedModel implements RealtimeModel {
  readonly name: RealtimeModel['name'];
  readonly inputFormats: RealtimeModel['inputFormats'];
  readonly outputFormats: RealtimeModel['outputFormats'];
  readonly transcribesCaller: RealtimeModel['transcribesCaller'];
  readonly price: RealtimeModel['price'];
  readonly transcription: RealtimeModel['transcription'];
  readonly #options: PreparedModelOptions;
  readonly #formats: RealtimeContext['formats'];
  #session: RealtimeSession | undefined;
  #kept: KeptEvent[] = [];
  #keptBytes = 0;
  /** That of the engine, once there is one. */
  #engine: RealtimeContext | undefined;
  #isLive = false;
  /** Nobody takes the session: of what it still tells only its use counts. */
  #isInVain = false;
  #state: 'new' | 'waiting' | 'given-up' | 'over' = 'new';

  constructor(options: PreparedModelOptions) {
    const { context, model } = options;
    const { name, inputFormats, outputFormats, transcribesCaller, price, transcription } = model;
    this.name = name;
    this.inputFormats = inputFormats;
    this.outputFormats = outputFormats;
    this.transcribesCaller = transcribesCaller;
    this.price = price;
    this.transcription = transcription;
    this.#options = options;
    this.#formats = chooseFormats(model, context.line);
  }

  /** Opens the session and asks for the greeting. Idempotent. */
  connect(): void {
    if (this.#state !== 'new') return;
    this.#state = 'waiting';
    const { context, model, settings, greeting } = this.#options;
    const { callId, clock, logger } = context;
    const history = () => this.#engine?.history() ?? [];
    const about = { ...settings, callId, clock, logger, formats: this.#formats, history };
    this.#session = attemptAhead(context, () =>
      opened(model.open({ ...about, events: this.#relay() }), { provider: model.name, method: 'pushAudio' }),
    );
    const isAsked = attemptAhead(context, () => {
      if (greeting !== '') this.#session?.say(greeting);
      return true;
    });
    // The session may also have failed while it was opened.
    if (isAsked !== true || this.#state !== 'waiting') this.#giveUp();
  }

  /** Hands the session over, or opens one as if nothing had been prepared. */
  open(context: RealtimeContext): RealtimeSession {
    const { formats } = context;
    const fits = isSameFormat(formats.input, this.#formats.input);
    if (!fits || !isSameFormat(formats.output, this.#formats.output)) this.#giveUp();
    const session = this.#state === 'waiting' ? this.#session : undefined;
    this.#state = 'over';
    this.#engine = context;
    if (session === undefined) {
      this.#tellKept(context.events);
      return this.#options.model.open(context);
    }
    // The engine first says what it wants to have said, and does that within this tick.
    queueMicrotask(() => this.#tellKept(context.events));
    return this.#toSession(session);
  }

  /** Closes what no engine has taken, and states what it has used. Idempotent. */
  abandon(context: UsageContext): void {
    if (this.#state === 'over') return;
    this.#giveUp();
    this.#state = 'over';
    const meter = new UsageMeter(context, () => null);
    for (const { usage } of this.#kept.splice(0)) if (usage !== undefined) countRealtime(meter, usage);
  }

  #giveUp(): void {
    this.#state = 'given-up';
    this.#isInVain = true;
    this.#closeSession();
    this.#kept = this.#kept.filter(({ usage }) => usage !== undefined);
  }

  #closeSession(): void {
    attemptAhead(this.#options.context, () => this.#session?.close());
    this.#session = undefined;
  }

  #keep(event: KeptEvent): void {
    if (this.#isInVain && event.usage === undefined) return;
    if (this.#isLive && this.#engine !== undefined) event.tell(this.#engine.events);
    else if (this.#kept.length < MAX_EVENTS) this.#kept.push(event);
    else if (this.#engine === undefined && !this.#isInVain) this.#giveUp();
  }

  /** What must not happen before there is a caller: without it the engine begins anew. Afterwards it is the engine's to judge. */
  #spoil(event: KeptEvent): void {
    if (this.#engine === undefined) this.#giveUp();
    else this.#keep(event);
  }

  #tellKept(events: RealtimeEvents): void {
    try {
      for (let event = this.#kept.shift(); event !== undefined; event = this.#kept.shift())
        event.tell(events);
    } catch (error) {
      events.failed(error instanceof Error ? error : new Error('not taken', { cause: error }));
    }
    this.#isLive = true;
  }

  #relay(): Required<RealtimeEvents> {
    return {
      ready: (formats) => this.#keep({ tell: (events) => events.ready(formats) }),
      formatsChanged: (formats) => this.#keep({ tell: (events) => events.formatsChanged?.(formats) }),
      speechStarted: () => this.#spoil({ tell: (events) => events.speechStarted() }),
      interrupted: () => this.#spoil({ tell: (events) => events.interrupted() }),
      speechEnded: (speech) => this.#spoil({ tell: (events) => events.speechEnded(speech) }),
      userText: (text) => this.#spoil({ tell: (events) => events.userText(text) }),
      responseStarted: (id) => this.#keep({ isSpeech: true, tell: (events) => events.responseStarted(id) }),
      audio: (chunk) => {
        if (this.#isLive) this.#engine?.events.audio(chunk);
        else this.#keepAudio(chunk);
      },
      text: (piece) => this.#keep({ isSpeech: true, tell: (events) => events.text(piece) }),
      heardText: (heard) => this.#keep({ isSpeech: true, tell: (events) => events.heardText?.(heard) }),
      responseEnded: (end) => this.#keep({ isSpeech: true, tell: (events) => events.responseEnded(end) }),
      usage: (usage) => this.#keep({ usage, tell: (events) => events.usage(usage) }),
      resumable: (handle) => this.#keep({ tell: (events) => events.resumable?.(handle) }),
      lost: (loss) => this.#spoil({ tell: (events) => events.lost?.(loss) }),
      reconnected: (gap) => this.#spoil({ tell: (events) => events.reconnected(gap) }),
      failed: (error) => this.#spoil({ tell: (events) => events.failed(error) }),
    };
  }

  #keepAudio(chunk: Parameters<RealtimeEvents['audio']>[0]): void {
    this.#keptBytes += chunk.audio.length;
    const copy = { ...chunk, audio: new Uint8Array(chunk.audio) };
    const event: KeptEvent = { isSpeech: true, tell: (events) => events.audio(copy) };
    if (this.#keptBytes > MAX_BYTES) this.#spoil(event);
    else this.#keep(event);
  }

  /** The greeting that the engine asks for was asked for already. */
  #toSession(session: RealtimeSession): RealtimeSession {
    let { greeting } = this.#options;
    return {
      pushAudio: (audio) => session.pushAudio(audio),
      say(text) {
        const isAsked = greeting !== '' && text === greeting;
        greeting = '';
        if (!isAsked) return session.say(text);
      },
      ...(session.fill === undefined ? {} : { fill: (text: string) => session.fill?.(text) }),
      addText: (message) => session.addText(message),
      respond: () => session.respond(),
      giveResults: (results) => session.giveResults(results),
      cancel: () => {
        // What was said ahead is not to be heard after all.
        this.#kept = this.#kept.filter(({ isSpeech }) => isSpeech !== true);
        return session.cancel();
      },
      truncate: (item) => session.truncate(item),
      update: (change) => session.update(change),
      close: () => session.close(),
    };
  }
}
