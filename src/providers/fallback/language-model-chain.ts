// A language model that is several: where one fails, or has nothing to say in time, the next one answers, or goes on with the answer.
import type { Clock } from '../../base/clock.js';
import { ProviderError } from '../../base/errors.js';
import { silentLogger } from '../../base/log.js';
import type { ModelPrice } from '../../contract/price.js';
import {
  type CallOfModel,
  type ChatMessage,
  type LanguageModel,
  type LanguageModelEvent,
  type LanguageModelRequest,
  MAX_TOOL_CALLS,
  type ReplyEnd,
} from '../language-model.js';
import { countCharacters } from '../llm/streamed-reply.js';
import { estimateUsage } from '../llm/token-estimate.js';
import { GO_ON, gaveNothing, owesWords, saysSomething } from '../../base/owed-words.js';
import type { Patience } from '../patience.js';
import { type Payee, toPayee } from '../remedy.js';
import { assertAllConfigured, type ChainOptions } from './chain-options.js';
import { PatientReader } from './patient-reader.js';
import { ChainOrder } from './chain-order.js';
import { leftOfTrial, type TrialLeft } from './trial.js';

/** Longest wait for the first word, and between two, as long as there is another model to ask; and what that one needs. */
const PATIENCE_MS = 3000;
const NEXT_MODEL_MS = 1700;

/** Of what follows these marks are no word, and need no blank before them. */
const NO_BLANK = /^[\s.,;:!?…)\]'"’”]/;

export class LanguageModelChain implements LanguageModel {
  readonly name: string;
  readonly price: ModelPrice | undefined;
  readonly #options: ChainOptions<LanguageModel>;

  constructor(options: ChainOptions<LanguageModel>) {
    const [first] = options.members;
    this.name = first.name;
    this.price = first.price;
    this.#options = options;
  }

  /** @throws ConfigError for a setting that any of them lacks. */
  assertConfigured(): void {
    assertAllConfigured(this.#options.members);
  }

  warmUp(): void {
    this.#options.members[0].warmUp?.();
  }

  forCall(call: CallOfModel): LanguageModel {
    return new LanguageModelOfCall(this.#options, call);
  }

  respond(request: LanguageModelRequest): AsyncIterable<LanguageModelEvent> {
    return this.forCall({ logger: silentLogger }).respond(request);
  }
}

/** One request to one member. */
interface Attempt {
  readonly member: LanguageModel;
  readonly payee: Payee;
  readonly reader: PatientReader<LanguageModelEvent>;
  readonly startedAt: number;
  /** When it was last asked for more. */
  askedAt: number;
  /** Text or tool calls are on their way. */
  hasBegun: boolean;
  said: string;
  isUsageTold: boolean;
}

/** Whoever has answered last is asked first. */
class LanguageModelOfCall implements LanguageModel {
  readonly name: string;
  readonly #clock: Clock;
  readonly #patience: Patience | undefined;
  readonly #chain: ChainOrder<LanguageModel>;
  /** What is to be told beside the answer. */
  #news: LanguageModelEvent[] = [];

  constructor({ members, circuits, clock }: ChainOptions<LanguageModel>, { logger, patience }: CallOfModel) {
    this.name = members[0].name;
    this.#clock = clock;
    this.#patience = patience;
    this.#chain = new ChainOrder({
      members,
      circuits,
      logger,
      replaced: (replacement) => void this.#news.push({ type: 'replaced', ...replacement }),
    });
    this.#chain.begin();
  }

  warmUp(): void {
    this.#chain.current.warmUp?.();
  }

  async *respond(request: LanguageModelRequest): AsyncGenerator<LanguageModelEvent> {
    const { signal } = request;
    let said = '';
    for (;;) {
      const stopping = new AbortController();
      const asked = { ...request, ...goOn(request.messages, said) };
      const attempt = this.#ask({ ...asked, signal: AbortSignal.any([signal, stopping.signal]) });
      try {
        for await (const event of this.#read(attempt, { said, messages: request.messages })) {
          if (event.type === 'text') said += event.delta;
          yield event;
        }
        return;
      } catch (error) {
        this.#guessUsage(attempt, asked);
        // A thought is no beginning that another one goes on with.
        if (!saysSomething(said)) said = '';
        stopping.abort();
        // Now: what it still owes would be lost to whoever comes later.
        this.#leave(attempt);
        if (signal.aborted) {
          yield* this.#takeNews();
          yield { type: 'end', reason: 'interrupted' };
          return;
        }
        const { member, hasBegun, startedAt, askedAt } = attempt;
        const gapMs = this.#clock.now() - (hasBegun ? askedAt : startedAt);
        const next = this.#chain.failed(member, { error, gapMs });
        yield* this.#takeNews();
        if (next === undefined) throw error;
      } finally {
        stopping.abort();
        this.#leave(attempt);
      }
    }
  }

  #ask(request: LanguageModelRequest): Attempt {
    const member = this.#chain.current;
    const now = this.#clock.now();
    const source = `The language model ${member.name}`;
    return {
      member,
      payee: toPayee(member),
      reader: new PatientReader(() => member.respond(request), { clock: this.#clock, source }),
      startedAt: now,
      askedAt: now,
      hasBegun: false,
      said: '',
      isUsageTold: false,
    };
  }

  /** Tool calls are held back until the answer is complete: those of an answer that breaks off are discarded. @throws what the member throws */
  async *#read(
    attempt: Attempt,
    { said: saidBefore, messages }: { said: string; messages: readonly ChatMessage[] },
  ): AsyncGenerator<LanguageModelEvent> {
    const held: LanguageModelEvent[] = [];
    const { member, payee, reader } = attempt;
    let end: ReplyEnd | undefined;
    let endsCall = false;
    while (end === undefined && held.length < MAX_TOOL_CALLS) {
      attempt.askedAt = this.#clock.now();
      const item = await reader.next(() => this.#leftTo(attempt));
      yield* this.#takeNews();
      if (item === undefined) break;
      const event = item.value;
      switch (event?.type) {
        case 'text':
          yield { type: 'text', delta: this.#joined(attempt, saidBefore, event.delta) };
          break;
        case 'tool-call':
          attempt.hasBegun = true;
          held.push(event);
          break;
        case 'usage':
          attempt.isUsageTold = true;
          yield { ...event, payee };
          break;
        case 'recovered':
          yield { ...event, provider: member.name };
          break;
        case 'end':
          end = event.reason;
          break;
        default:
          if (event?.type === 'working') attempt.hasBegun = true;
          endsCall ||= event?.type === 'end-call';
          yield event;
      }
    }
    if (end === 'interrupted') throw brokenOff(member);
    const isSilent = held.length === 0 && !endsCall && saidBefore === '' && !saysSomething(attempt.said);
    if (isSilent && owesWords(messages))
      throw gaveNothing(`The language model ${member.name} ended its answer without a word`);
    this.#chain.worked(member);
    yield* held;
    if (end !== undefined) yield { type: 'end', reason: end };
  }

  /** Undefined where nobody else could be asked. */
  #leftTo({ hasBegun, startedAt, askedAt }: Attempt): TrialLeft | undefined {
    if (!this.#chain.hasNext) return undefined;
    const since = hasBegun ? askedAt : startedAt;
    const trial = { since, now: this.#clock.now(), ownMs: PATIENCE_MS, nextMs: NEXT_MODEL_MS };
    return leftOfTrial(this.#patience, trial);
  }

  #joined(attempt: Attempt, saidBefore: string, delta: unknown): string {
    const text = typeof delta === 'string' ? delta : '';
    const isFirst = attempt.said === '' && saidBefore !== '' && text !== '';
    attempt.hasBegun ||= text !== '';
    attempt.said += text;
    return isFirst && !/\s$/.test(saidBefore) && !NO_BLANK.test(text) ? ` ${text}` : text;
  }

  /** What one has cost that broke off and did not say. One that was given up says so itself. */
  #guessUsage({ reader, payee, said, isUsageTold }: Attempt, request: LanguageModelRequest): void {
    if (isUsageTold || reader.isAwaited || said === '') return;
    const usage = estimateUsage({ input: countCharacters(request), output: said.length });
    this.#news.push({ type: 'usage', usage, payee });
  }

  #leave({ reader, payee }: Attempt): void {
    void reader.leave((event) => {
      if (event?.type === 'usage') this.#news.push({ ...event, payee });
    });
  }

  #takeNews(): LanguageModelEvent[] {
    const news = this.#news;
    this.#news = [];
    return news;
  }
}

/** The error of a model that says itself that its answer is not whole. */
function brokenOff({ name }: LanguageModel): ProviderError {
  const sentence = `The language model ${name} broke off its answer before its end.`;
  return new ProviderError(sentence, { status: null, retryable: true });
}

/** The request for the rest of an answer of which `said` was said. */
function goOn(messages: readonly ChatMessage[], said: string): Pick<LanguageModelRequest, 'messages'> {
  if (said === '') return { messages };
  return {
    messages: [...messages, { role: 'assistant', content: said }, { role: 'system', content: GO_ON }],
  };
}
