// Number words of seven languages in one list: a caller may mix them, and a recognizer may take one for another.

export type NumberWord =
  /** `isWeak`: it is an everyday word, too, and a number only beside others. */
  | { readonly is: 'number'; readonly value: number; readonly room: number; readonly isWeak: boolean }
  /** What came before it, that many times: "hundred", "mille". */
  | { readonly is: 'times'; readonly by: number }
  /** The next digit so often: "double". */
  | { readonly is: 'repeat'; readonly count: number }
  /** "twice the five", where a number comes before it. */
  | { readonly is: 'fold' }
  | { readonly is: 'joiner' };

/** Values from 0, from 10 and so on, the spellings of each with `|` between. Accents are folded; `?` marks everyday words. */
const VALUES: readonly (readonly [number, number, string])[] = [
  [0, 1, 'zero|oh|?o|nought|naught one two three four five six seven eight nine'],
  [10, 1, 'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'],
  [20, 10, 'twenty thirty forty|fourty fifty sixty seventy eighty ninety'],
  [0, 1, 'null eins|?ein|?eine|?einen|?einer zwei|zwo drei vier funf|fuenf sechs sieben acht neun'],
  [10, 1, 'zehn elf zwolf|zwoelf dreizehn vierzehn funfzehn|fuenfzehn sechzehn siebzehn achtzehn neunzehn'],
  [20, 10, 'zwanzig dreissig vierzig funfzig|fuenfzig sechzig siebzig achtzig neunzig'],
  [0, 1, 'cero uno|?un|?una dos tres cuatro cinco seis siete ocho nueve'],
  [10, 1, 'diez ?once doce trece catorce quince dieciseis diecisiete dieciocho diecinueve veinte'],
  [
    21,
    1,
    'veintiuno|veintiun|veintiuna veintidos veintitres veinticuatro veinticinco veintiseis veintisiete',
  ],
  [28, 1, 'veintiocho veintinueve treinta'],
  [40, 10, 'cuarenta cincuenta sesenta setenta ochenta noventa'],
  [
    200,
    100,
    'doscientos|doscientas trescientos|trescientas cuatrocientos|cuatrocientas quinientos|quinientas',
  ],
  [
    600,
    100,
    'seiscientos|seiscientas setecientos|setecientas ochocientos|ochocientas novecientos|novecientas',
  ],
  [0, 1, 'zero ?un|?une deux trois quatre cinq six sept huit neuf'],
  [10, 1, 'dix onze douze treize quatorze quinze seize'],
  [20, 10, 'vingt|vingts trente quarante cinquante soixante septante huitante|octante nonante'],
  [0, 1, 'zero uno due tre quattro cinque ?sei sette otto nove'],
  [10, 1, 'dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove'],
  [20, 10, 'venti trenta quaranta cinquanta sessanta settanta ottanta novanta'],
  [0, 1, 'zero um|?uma dois|duas tres quatro cinco seis|meia sete oito nove'],
  [
    10,
    1,
    'dez onze doze treze catorze quinze dezesseis|dezasseis dezessete|dezassete dezoito dezenove|dezanove',
  ],
  [20, 10, 'vinte trinta quarenta cinquenta sessenta setenta oitenta noventa'],
  [200, 100, 'duzentos trezentos quatrocentos quinhentos seiscentos setecentos oitocentos novecentos'],
  [0, 1, 'nul ?een twee drie vier vijf zes zeven acht negen'],
  [10, 1, 'tien elf twaalf dertien veertien vijftien zestien zeventien achttien negentien'],
  [20, 10, 'twintig dertig veertig vijftig zestig zeventig tachtig negentig'],
];

const OTHERS: readonly (readonly [NumberWord, string])[] = [
  [{ is: 'times', by: 100 }, 'hundred hundert cien ciento cent cents cento cem honderd'],
  [{ is: 'times', by: 1000 }, 'thousand tausend mil mille mila duizend'],
  [
    { is: 'times', by: 1e6 },
    'million millionen millon millones millions milione milioni milhao milhoes miljoen',
  ],
  [{ is: 'repeat', count: 2 }, 'double doppel doppelt doble doppio doppia dubbel zweimal'],
  [{ is: 'repeat', count: 3 }, 'triple treble triplo tripla tripel dreimal'],
  [{ is: 'repeat', count: 4 }, 'quadruple quadruplo viermal'],
  [{ is: 'fold' }, 'mal fois veces volte vezes times keer'],
  [{ is: 'joiner' }, 'and und y e et en'],
];

const WORDS = new Map<string, NumberWord>(
  OTHERS.flatMap(([word, all]) => all.split(' ').map((each) => [each, word])),
);
for (const [from, step, spellings] of VALUES)
  for (const [place, forms] of spellings.split(' ').entries())
    for (const form of forms.split('|')) {
      const value = from + place * step;
      const spelling = form.replace('?', '');
      const isWeak = form !== spelling && WORDS.get(spelling)?.is !== 'number';
      WORDS.set(spelling, { is: 'number', value, room: roomOf(value, spelling), isWeak });
    }

/** What is left out where an Italian vowel follows: "ventuno", "centotto". */
const ELIDED = 'vent trent quarant cinquant sessant settant ottant novant';
const PARTS = new Map<string, NumberWord>(WORDS);
for (const [place, stem] of ELIDED.split(' ').entries())
  PARTS.set(stem, { is: 'number', value: 20 + place * 10, room: 10, isWeak: false });

// "fünften" is no five and ten.
PARTS.delete('ten');

const LONGEST_PART = Math.max(...[...PARTS.keys()].map(({ length }) => length));
const LONGEST_WORD = 80;

/** The highest number that may be added behind it, and one more: "forty two", "soixante-douze", "doscientos doce". */
function roomOf(value: number, spelling: string): number {
  if (value >= 100) return 100;
  if (spelling === 'soixante') return 20;
  return value >= 20 && value % 10 === 0 ? 10 : 0;
}

/** The number words that a folded word consists of: "twenty", "einundzwanzig", "duemilaventisei". Empty where it has another one in it. */
export function numberWordsIn(word: string): readonly NumberWord[] {
  const whole = WORDS.get(word);
  if (whole !== undefined) return [whole];
  return word.length > LONGEST_WORD ? [] : (partsOf(word) ?? []);
}

/** From the end to the beginning: at each place, the parts that the rest consists of. The longest first part wins. */
function partsOf(word: string): NumberWord[] | undefined {
  if (!startsLikeNumber(word)) return undefined;
  const from: (NumberWord[] | undefined)[] = new Array(word.length + 1);
  from[word.length] = [];
  for (let at = word.length - 1; at >= 0; at -= 1)
    for (let length = Math.min(LONGEST_PART, word.length - at); length > 1; length -= 1) {
      const rest = from[at + length];
      const part = rest && PARTS.get(word.slice(at, at + length));
      if (
        part === undefined ||
        rest === undefined ||
        (part.is !== 'number' && at === 0 && part.is !== 'times')
      )
        continue;
      from[at] = [part, ...rest];
      break;
    }
  return from[0];
}

function startsLikeNumber(word: string): boolean {
  for (let length = Math.min(LONGEST_PART, word.length - 1); length > 1; length -= 1)
    if (PARTS.has(word.slice(0, length))) return true;
  return false;
}
