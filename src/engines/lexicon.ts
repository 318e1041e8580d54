// Words that steer the turns: short answers, endings that leave a sentence open, sounds of a listener, words that stop an agent.

export interface Lexicon {
  /** Whole answers that nothing need follow. */
  readonly shortAnswers: ReadonlySet<string>;
  /** Last words after which more comes. */
  readonly openEndings: ReadonlySet<string>;
  /** What a listener says to be heard listening. */
  readonly backchannels: ReadonlySet<string>;
  /** One of these is an interruption. */
  readonly stopWords: ReadonlySet<string>;
}

type Lists = Readonly<Record<keyof Lexicon, string>>;

/** Understood on every line. */
const COMMON: Lists = {
  shortAnswers: 'ok|okay|hello|bye',
  openEndings: 'um|uh|uhm|er|erm|hmm|äh|ähm|euh|eh',
  backchannels: 'm|mm|hm|hmm|mhm|mmhm|mm-hm|mm-hmm|uh-huh|uhuh|ok|okay|ah|oh|aha',
  stopWords: 'stop',
};

const LANGUAGES: Readonly<Record<string, Lists>> = {
  en: {
    shortAnswers: 'yes|no|yeah|yep|nope|sure|right|correct|thanks|thank you|please|hi|goodbye',
    openEndings:
      'and|but|or|so|because|if|when|with|to|for|the|a|an|of|my|is|um|uh|er|erm|well|like|then|that',
    backchannels: 'yes|yeah|yep|right|sure|i see|got it',
    stopWords: 'wait|no',
  },
  de: {
    shortAnswers: 'ja|nein|doch|genau|richtig|danke|bitte|tschüss|hallo',
    openEndings: 'und|aber|oder|weil|wenn|dass|mit|für|der|die|das|ein|eine|mein|meine|also|dann',
    backchannels: 'ja|jaja|genau|richtig|gut|klar|verstehe|ach so|alles klar',
    stopWords: 'stopp|halt|moment|warte|warten|nein',
  },
  es: {
    shortAnswers: 'sí|si|no|claro|vale|gracias|por favor|hola|adiós',
    openEndings: 'y|pero|o|porque|si|cuando|con|para|de|el|la|los|las|un|una|mi|que|entonces|pues',
    backchannels: 'sí|si|claro|vale|ya|bueno|entiendo',
    stopWords: 'espera|espere|no|para|pare',
  },
  fr: {
    shortAnswers: 'oui|non|si|merci|bonjour|au revoir|voilà|exactement',
    openEndings: 'et|mais|ou|parce que|si|quand|avec|pour|de|le|la|les|un|une|mon|ma|que|alors|donc',
    backchannels: 'oui|ouais|voilà|bien|entendu',
    stopWords: 'attendez|attends|non|arrêtez',
  },
  it: {
    shortAnswers: 'sì|si|no|certo|grazie|prego|ciao|esatto',
    openEndings: 'e|ma|o|perché|se|quando|con|per|di|il|la|i|un|una|mio|mia|che|allora|quindi',
    backchannels: 'sì|si|certo|va bene|capisco',
    stopWords: 'aspetta|aspetti|no|ferma',
  },
  pt: {
    shortAnswers: 'sim|não|claro|obrigado|obrigada|olá|tchau|certo',
    openEndings: 'e|mas|ou|porque|se|quando|com|para|de|o|a|os|as|um|uma|meu|minha|que|então',
    backchannels: 'sim|claro|certo|tá|entendi',
    stopWords: 'espera|espere|não|pare',
  },
  nl: {
    shortAnswers: 'ja|nee|graag|bedankt|dank je|hallo|dag|precies',
    openEndings: 'en|maar|of|omdat|als|met|voor|de|het|een|mijn|dat|dus|dan',
    backchannels: 'ja|precies|goed|prima|begrijp ik',
    stopWords: 'wacht|nee',
  },
};

const lexicons = new Map(Object.entries(LANGUAGES).map(([language, lists]) => [language, merge(lists)]));
const common = merge({ shortAnswers: '', openEndings: '', backchannels: '', stopWords: '' });

/** The words of a language tag. English where there is none; where the language is not known here, only what all understand. */
export function lexiconFor(language: string | undefined): Lexicon {
  const primary = (language ?? 'en').toLowerCase().split('-')[0] ?? '';
  return lexicons.get(primary) ?? common;
}

/** The words of a text, in lower case and without punctuation. */
export function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .replaceAll('’', "'")
    .replace(/[^\p{L}\p{M}\p{N}'-]+/gu, ' ')
    .split(' ')
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
}

/** How many words a text has. Scripts that leave no gaps between words count two characters as one. */
export function countWords(text: string): number {
  return wordsOf(text).reduce((count, word) => {
    const dense = word.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu);
    return count + (dense === null ? 1 : Math.ceil(dense.length / 2));
  }, 0);
}

function merge(lists: Lists): Lexicon {
  const set = (name: keyof Lists) =>
    new Set(`${COMMON[name]}|${lists[name]}`.split('|').filter((word) => word !== ''));
  return {
    shortAnswers: set('shortAnswers'),
    openEndings: set('openEndings'),
    backchannels: set('backchannels'),
    stopWords: set('stopWords'),
  };
}
