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
  backchannels: 'uh-huh|uh huh|uhuh|ok|okay|okey|oké|oke|okej|ah|aah|oh|ooh|aha|ahh|ohh|uhum|aham|super|mhmm',
  stopWords: 'stop|стоп|停',
};

const LANGUAGES = {
  en: {
    shortAnswers: 'yes|no|yeah|yep|nope|sure|right|correct|thanks|thank you|please|hi|goodbye',
    openEndings:
      'and|but|or|so|because|if|when|with|to|for|the|a|an|of|my|is|um|uh|er|erm|well|like|then|that',
    backchannels:
      "yes|yeah|yea|yep|yup|ya|right|all right|alright|sure|sure thing|of course|i see|i know|i understand|got it|gotcha|good|great|fine|cool|nice|exactly|absolutely|definitely|indeed|true|really|wow|makes sense|sounds good|fair enough|very good|perfect|thats right|that's right|thats fine|that's fine|understood",
    stopWords: 'wait|no',
  },
  de: {
    shortAnswers: 'ja|nein|doch|genau|richtig|danke|bitte|tschüss|hallo',
    openEndings: 'und|aber|oder|weil|wenn|dass|mit|für|der|die|das|ein|eine|mein|meine|also|dann',
    backchannels:
      'ja|jaja|jo|jap|jep|jawohl|genau|richtig|stimmt|gut|sehr gut|schön|prima|toll|klar|na klar|sicher|natürlich|logisch|eben|gerne|verstehe|ich verstehe|verstanden|ach|ach so|achso|ach ja|alles klar|in ordnung|perfekt|wirklich|na gut|also gut|passt',
    stopWords: 'stopp|halt|moment|warte|warten|nein',
  },
  es: {
    shortAnswers: 'sí|si|no|claro|vale|gracias|por favor|hola|adiós',
    openEndings: 'y|pero|o|porque|si|cuando|con|para|de|el|la|los|las|un|una|mi|que|entonces|pues',
    backchannels:
      'sí|si|claro|claro que sí|vale|ya|ya veo|bueno|bien|muy bien|está bien|de acuerdo|entiendo|entendido|exacto|exactamente|perfecto|cierto|correcto|ajá|por supuesto|genial|así es',
    stopWords: 'espera|espere|no|para|pare',
  },
  fr: {
    shortAnswers: 'oui|non|si|merci|bonjour|au revoir|voilà|exactement',
    openEndings: 'et|mais|ou|parce que|si|quand|avec|pour|de|le|la|les|un|une|mon|ma|que|alors|donc',
    backchannels:
      "oui|ouais|voilà|bien|très bien|bien sûr|entendu|d'accord|dac|exact|exactement|tout à fait|parfait|je vois|je comprends|compris|c'est ça|c'est bon|ça marche|ah bon|ah oui|bon|génial|absolument",
    stopWords: 'attendez|attends|non|arrêtez',
  },
  it: {
    shortAnswers: 'sì|si|no|certo|grazie|prego|ciao|esatto',
    openEndings: 'e|ma|o|perché|se|quando|con|per|di|il|la|i|un|una|mio|mia|che|allora|quindi',
    backchannels:
      "sì|si|certo|certamente|va bene|bene|molto bene|capisco|ho capito|capito|esatto|esattamente|giusto|d'accordo|perfetto|chiaro|ovvio|infatti|già|mh",
    stopWords: 'aspetta|aspetti|no|ferma',
  },
  pt: {
    shortAnswers: 'sim|não|claro|obrigado|obrigada|olá|tchau|certo',
    openEndings: 'e|mas|ou|porque|se|quando|com|para|de|o|a|os|as|um|uma|meu|minha|que|então',
    backchannels:
      'sim|claro|claro que sim|certo|tá|tá bom|tá bem|está bem|bom|muito bem|bem|entendi|entendo|percebo|pois|pois é|isso|isso mesmo|exato|exatamente|perfeito|correto|beleza|com certeza|de acordo|ahã|ótimo',
    stopWords: 'espera|espere|não|pare',
  },
  nl: {
    shortAnswers: 'ja|nee|graag|bedankt|dank je|hallo|dag|precies',
    openEndings: 'en|maar|of|omdat|als|met|voor|de|het|een|mijn|dat|dus|dan',
    backchannels:
      'ja|jaja|jawel|jazeker|precies|goed|heel goed|prima|begrijp ik|ik begrijp het|snap ik|ik snap het|klopt|zeker|natuurlijk|inderdaad|juist|mooi|fijn|helder|duidelijk|perfect|is goed|dat klopt',
    stopWords: 'wacht|nee',
  },
} satisfies Record<string, Lists>;

/** A language that we have words of. */
export type Language = keyof typeof LANGUAGES;

/** Who wants an agent to stop may say so in their own language, whatever it speaks. */
const STOP_WORDS = Object.values(LANGUAGES)
  .map(({ stopWords }) => stopWords)
  .join('|');

const LEXICONS = Object.fromEntries(
  Object.entries(LANGUAGES).map(([language, lists]) => [language, merge(lists)]),
) as Readonly<Record<Language, Lexicon>>;
const COMMON_LEXICON = merge({ shortAnswers: '', openEndings: '', backchannels: '', stopWords: '' });

/** The language of a tag; English without a tag, undefined for a language without a word list. */
export function languageOf(tag: string | undefined): Language | undefined {
  const primary = (tag ?? 'en').toLowerCase().split('-')[0];
  return (Object.keys(LANGUAGES) as Language[]).find((language) => language === primary);
}

/** The words for a language tag. English without a tag; for an unknown language, only words that everybody understands. */
export function lexiconFor(tag: string | undefined): Lexicon {
  const language = languageOf(tag);
  return language === undefined ? COMMON_LEXICON : LEXICONS[language];
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

/** The longest sign of listening, in words. */
const MAX_SIGN_WORDS = 3;

/** A hummed sign of listening, however long and however it is written: "mm", "hmmm", "mm-hmm", "mhm". */
const HUM = /^h*m[hm-]*$/;

/** True for empty text and for the small sounds of a listener, one or several. */
export function isBackchannel(text: string, lexicon: Lexicon = lexiconFor(undefined)): boolean {
  return wordsBehindSigns(wordsOf(text), lexicon).length === 0;
}

/** True when more letters, or more words, can make `text` a sign of listening: "yeah su", "got". */
export function mayBecomeBackchannel(text: string, lexicon: Lexicon = lexiconFor(undefined)): boolean {
  const words = wordsOf(text);
  const signs = [...lexicon.backchannels];
  for (let open = 1; open <= Math.min(MAX_SIGN_WORDS, words.length); open += 1) {
    if (wordsBehindSigns(words.slice(0, -open), lexicon).length > 0) continue;
    const begun = words.slice(-open).join(' ');
    if (signs.some((sign) => sign.startsWith(begun))) return true;
  }
  return false;
}

/** The words from the first one on that belongs to no sign of listening. */
function wordsBehindSigns(words: readonly string[], { backchannels }: Lexicon): readonly string[] {
  let at = 0;
  while (at < words.length) {
    if (HUM.test(words[at] ?? '')) {
      at += 1;
      continue;
    }
    let length = Math.min(MAX_SIGN_WORDS, words.length - at);
    while (length > 0 && !backchannels.has(words.slice(at, at + length).join(' '))) length -= 1;
    if (length === 0) break;
    at += length;
  }
  return words.slice(at);
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
    stopWords: new Set([...set('stopWords'), ...STOP_WORDS.split('|')]),
  };
}
