// A voice that is several: where one fails, or gives no audio in time, the next one says what is not said yet, and the rest of the call.
import { type Clock, systemClock } from '../../base/clock.js';
import type { ModelPrice } from '../../contract/price.js';
import type {
  SynthesisEvents,
  TextToSpeech,
  TextToSpeechContext,
  TextToSpeechSession,
} from '../text-to-speech.js';
import { toPayee } from '../remedy.js';
import { assertAllConfigured, type ChainOptions } from './chain-options.js';
import { opened } from '../../base/opened.js';
import { gaveNothing, hasWords } from '../../base/owed-words.js';
import { endSession } from './end-session.js';
import { PatientReader } from './patient-reader.js';
import { SpokenSoFar } from './spoken-so-far.js';
import { ChainOrder } from './chain-order.js';
import { leftOfTrial } from './trial.js';

/** Longest wait for the first audio of a sentence, as long as there is another voice. */
const FIRST_AUDIO_MS = 2500;

/** What the next voice needs of the time that a caller waits. */
const NEXT_VOICE_MS = 1000;

/** The same between two pieces of audio. Voices themselves give up a sentence whose end is not told a little before. */
const NEXT_AUDIO_MS = 3500;

const NO_AUDIO = new Int16Array(0);

export class TextToSpeechChain implements TextToSpeech {
  readonly name: string;
  readonly price: ModelPrice | undefined;
  readonly #options: ChainOptions<TextToSpeech>;

  constructor(options: ChainOptions<TextToSpeech>) {
    const [first] = options.members;
    this.name = first.name;
    this.price = first.price;
    this.#options = options;
  }

  /** @throws ConfigError for a setting that any of them lacks. */
  assertConfigured(): void {
    assertAllConfigured(this.#options.members);
  }

  open(context: TextToSpeechContext): TextToSpeechSession {
    return new VoiceOfCall(context, this.#options);
  }
}

/** The session of one member. */
interface OpenVoice {
  readonly member: TextToSpeech;
  readonly session: TextToSpeechSession;
  /** Sentences that it is saying. */
  busy: number;
  /** When it last gave audio or came to an end of a sentence: another one may have to wait for that. */
  signAt: number;
}

class VoiceOfCall implements TextToSpeechSession {
  readonly #context: TextToSpeechContext;
  readonly #clock: Clock;
  readonly #chain: ChainOrder<TextToSpeech>;
  readonly #voices = new Map<TextToSpeech, OpenVoice>();
  #closed = false;

  constructor(context: TextToSpeechContext, { members, circuits }: ChainOptions<TextToSpeech>) {
    this.#context = context;
    this.#clock = context.clock ?? systemClock;
    this.#chain = new ChainOrder({
      members,
      circuits,
      logger: context.logger,
      replaced: (replacement) => context.events?.replaced?.(replacement),
    });
    this.#chain.begin();
    this.#openFirst();
  }

  async *synthesize(
    text: string,
    signal: AbortSignal,
    events?: SynthesisEvents | undefined,
  ): AsyncGenerator<Int16Array> {
    const spoken = new SpokenSoFar(text);
    while (!signal.aborted && !this.#closed) {
      // Whoever waits for audio gives each voice its own time, and not what the sentence, or the voice, before has left of it.
      yield NO_AUDIO;
      const member = this.#chain.current;
      const askedAt = this.#clock.now();
      let signAt = askedAt;
      try {
        for await (const pcm of this.#say(member, spoken, { signal, events })) {
          signAt = this.#clock.now();
          yield pcm;
        }
        return;
      } catch (error) {
        if (signal.aborted || this.#closed) return;
        const next = this.#chain.failed(member, { error, gapMs: this.#clock.now() - signAt });
        if (next === undefined) throw error;
        this.#dismiss(member);
        if (spoken.breakOff() === '') return events?.brokeOff?.();
      }
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const { session } of this.#voices.values()) endSession(session);
  }

  /** The part that is due, as one member says it. @throws what that one throws, and when it gives nothing in time */
  async *#say(
    member: TextToSpeech,
    spoken: SpokenSoFar,
    { signal, events }: { signal: AbortSignal; events: SynthesisEvents | undefined },
  ): AsyncGenerator<Int16Array> {
    const voice = this.#open(member);
    const stopping = new AbortController();
    const stop = AbortSignal.any([signal, stopping.signal]);
    const timed: SynthesisEvents = {
      timed: (pieces) => {
        if (!stopping.signal.aborted) events?.timed?.(spoken.timed(pieces));
      },
      brokeOff: () => {
        if (!stopping.signal.aborted) events?.brokeOff?.();
      },
    };
    const source = `The voice ${member.name}`;
    const open = () => voice.session.synthesize(spoken.part, stop, timed);
    const reader = new PatientReader(open, { clock: this.#clock, source });
    let isAudible = false;
    let askedAt = this.#clock.now();
    const left = () => {
      if (this.#isLast(member)) return undefined;
      // The first audio may have to wait until the voice is done with another sentence.
      const since = isAudible ? askedAt : Math.max(askedAt, voice.signAt);
      const ownMs = isAudible ? NEXT_AUDIO_MS : FIRST_AUDIO_MS;
      const trial = { since, now: this.#clock.now(), ownMs, nextMs: NEXT_VOICE_MS };
      return leftOfTrial(this.#context.patience, trial);
    };
    voice.busy += 1;
    try {
      for (;;) {
        askedAt = this.#clock.now();
        const item = await reader.next(left);
        voice.signAt = this.#clock.now();
        if (item === undefined) break;
        if (!(item.value instanceof Int16Array)) throw new TypeError('A voice must give Int16Array chunks.');
        spoken.take(item.value);
        isAudible ||= item.value.length > 0;
        yield item.value;
      }
      if (!isAudible && hasWords(spoken.part) && !signal.aborted)
        throw gaveNothing(`${source} ended without audio`);
      if (isAudible) this.#chain.worked(member);
    } finally {
      stopping.abort();
      void reader.leave();
      voice.busy -= 1;
      if (member !== this.#chain.current) this.#dismiss(member);
    }
  }

  /** Another sentence may have found out before this one that the voice is of no use. */
  #isLast(member: TextToSpeech): boolean {
    return member === this.#chain.current && !this.#chain.hasNext;
  }

  /** The first voice that can be opened. @throws what the last one throws */
  #openFirst(): void {
    for (;;) {
      const member = this.#chain.current;
      try {
        this.#open(member);
        return;
      } catch (error) {
        if (this.#chain.failed(member, { error, gapMs: 0 }) === undefined) throw error;
      }
    }
  }

  #open(member: TextToSpeech): OpenVoice {
    const known = this.#voices.get(member);
    if (known !== undefined) return known;
    const { events } = this.#context;
    const payee = toPayee(member);
    const session = member.open({
      ...this.#context,
      isLast: () => this.#isLast(member) && this.#context.isLast?.() === true,
      events: {
        usage: (usage) => events?.usage?.({ ...usage, payee }),
        reconnected: (gap) => events?.reconnected?.({ provider: member.name, ...gap }),
      },
    });
    const voice = {
      member,
      session: opened(session, { provider: member.name, method: 'synthesize' }),
      busy: 0,
      signAt: this.#clock.now(),
    };
    this.#voices.set(member, voice);
    return voice;
  }

  /** Ends the session of a member that is not asked any more, when nothing of it is being said. */
  #dismiss(member: TextToSpeech): void {
    const voice = this.#voices.get(member);
    if (voice === undefined || voice.busy > 0) return;
    this.#voices.delete(member);
    endSession(voice.session);
  }
}
