// The language that a call is in: what the agent says in it, and when the call goes on in another one.
import type { SpokenPiece } from '../../conversation/language.js';
import type { Conversation } from '../conversation.js';
import type { EngineFact } from '../engine.js';
import {
  type AgentLanguages,
  type AgentWords,
  following,
  instructionsIn,
  tagsOf,
  wordsIn,
} from '../languages/agent-words.js';
import type { ProviderRoster } from '../provider-roster.js';
import type { PipelineStages } from './stages.js';

export interface SpokenLanguageOptions {
  readonly conversation: Conversation;
  readonly languages: AgentLanguages;
  readonly systemPrompt: string | undefined;
  /** The voice of a language that has none of its own. */
  readonly tts: { readonly name: string };
  readonly roster: ProviderRoster;
  readonly stages: PipelineStages;
  readonly fact: (fact: EngineFact) => void;
}

export class SpokenLanguage {
  readonly #options: SpokenLanguageOptions;
  /** Asked for with every frame of a turn. */
  #words: AgentWords;
  readonly lexicon = following(() => this.words);
  readonly fillers = () => this.words.fillers;

  constructor(options: SpokenLanguageOptions) {
    this.#options = options;
    this.#words = wordsIn(options.languages, options.conversation.state.language.tag);
    // Another process may have left the call in another language than it began in.
    options.roster.speaks(this.#voice);
  }

  get words(): AgentWords {
    return this.#words;
  }

  /** What the model is told before the conversation. */
  get instructions(): string {
    const { languages, conversation, systemPrompt } = this.#options;
    return instructionsIn(languages, conversation.state.language.tag, systemPrompt);
  }

  get #voice(): string {
    return (this.words.tts ?? this.#options.tts).name;
  }

  /** A turn of the caller is to be answered: from now on in another language, where that is what they speak. */
  readonly spoken = (pieces: readonly SpokenPiece[], turnIndex: number): void => {
    const { conversation, languages, roster, stages, fact } = this.#options;
    if (languages.length === 1) return;
    const { language: before } = conversation.state;
    conversation.tell({ type: 'language.heard', pieces, turnIndex, languages: tagsOf(languages) });
    const { language } = conversation.state;
    if (language.tag === null || language.tag === before.tag) return;
    this.#words = wordsIn(languages, language.tag);
    const provider = roster.speaks(this.#voice);
    const previous = before.tag ?? language.tag;
    fact({ type: 'language.changed', language: language.tag, previous, provider });
    stages.speakIn(this.words);
  };
}
