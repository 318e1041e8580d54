// A recognizer that is several: where one fails, or does not answer in time, the next one listens, and first to what has no text yet.
import type { ModelPrice } from '../../contract/price.js';
import type { SpeechToText, SpeechToTextContext, SpeechToTextSession } from '../speech-to-text.js';
import { assertAllConfigured, type ChainOptions } from './chain-options.js';
import { CallRecognizer } from './call-recognizer.js';
import { obstacleOf } from '../language-obstacle.js';

export class SpeechToTextChain implements SpeechToText {
  readonly name: string;
  readonly price: ModelPrice | undefined;
  /** The ends of turns are told by all of them or by none: the agent decides by itself, or it does not. */
  readonly ownsTurnTaking: boolean;
  readonly writesAfterwards: boolean;
  readonly paidWhileOpen: boolean;
  readonly #options: ChainOptions<SpeechToText>;

  constructor(options: ChainOptions<SpeechToText>) {
    const { members } = options;
    this.name = members[0].name;
    this.price = members[0].price;
    this.ownsTurnTaking = members.every((member) => member.ownsTurnTaking === true);
    this.writesAfterwards = members[0].writesAfterwards === true;
    this.paidWhileOpen = members.some((member) => member.paidWhileOpen === true);
    this.#options = options;
  }

  /** @throws ConfigError for a setting that any of them lacks. */
  assertConfigured(): void {
    assertAllConfigured(this.#options.members);
  }

  /** That of the first that has one. */
  languageObstacle(languages: readonly string[]): string | undefined {
    return this.#options.members
      .map((member) => obstacleOf(member, languages))
      .find((each) => each !== undefined);
  }

  open(context: SpeechToTextContext): SpeechToTextSession {
    return new CallRecognizer(context, { ...this.#options, ownsTurnTaking: this.ownsTurnTaking });
  }
}
