// What a caller is told in words that nobody chose for this call, in the languages that we have: by the agent, or by the carrier's voice
// in its place.
import { type Language, languageOf } from './lexicon.js';

export interface Apologies {
  /** The call cannot go on. */
  readonly call: string;
  /** A turn has no answer: the caller may say it once more. */
  readonly turn: string;
  /** BCP 47 tag of the language of `call`, as far as that is known. */
  readonly language: string | undefined;
}

export interface SetPhrases {
  readonly apologies: Apologies;
  /** The money for the call is used up. */
  readonly overBudget: { readonly text: string /** BCP 47 tag. */; readonly language: string };
  /** The caller is back from a transfer that came to nothing. */
  readonly notConnected: { readonly [result in 'busy' | 'no-answer' | 'failed']: string };
  /** The call goes on after a break. `repeat`: to a caller of whom the last words were lost by it. */
  readonly resumed: { readonly message: string; readonly repeat: string };
}

interface Words {
  readonly call: string;
  readonly turn: string;
  readonly overBudget: string;
  readonly busy: string;
  readonly 'no-answer': string;
  readonly failed: string;
  /** What the caller is asked behind `busy`, `no-answer` and `failed`. */
  readonly more: string;
  readonly back: string;
  readonly repeat: string;
  readonly fillers: readonly string[];
  readonly prompts: readonly string[];
  readonly goodbye: string;
}

const WORDS: Readonly<Record<Language, Words>> = {
  en: {
    call: 'I am sorry, something went wrong. Please call again later.',
    turn: 'I am sorry, something went wrong. Could you say that again?',
    overBudget: 'I am sorry, I have to end this call now. Goodbye.',
    busy: 'I am sorry, the line is busy.',
    'no-answer': 'I am sorry, nobody answers there.',
    failed: 'I am sorry, I could not connect you.',
    more: 'Is there anything else I can do for you?',
    back: 'I am back. We were cut off for a moment.',
    repeat: 'Could you say that again, please?',
    fillers: ['One moment.', 'Let me see.'],
    prompts: ['Are you still there?', 'Hello? Can you hear me?'],
    goodbye: 'I cannot hear you, so I will hang up now. Goodbye.',
  },
  de: {
    call: 'Es tut mir leid, da ist etwas schiefgegangen. Bitte rufen Sie später noch einmal an.',
    turn: 'Es tut mir leid, da ist etwas schiefgegangen. Könnten Sie das noch einmal sagen?',
    overBudget: 'Es tut mir leid, ich muss das Gespräch jetzt beenden. Auf Wiederhören.',
    busy: 'Es tut mir leid, dort ist besetzt.',
    'no-answer': 'Es tut mir leid, dort meldet sich niemand.',
    failed: 'Es tut mir leid, ich konnte Sie nicht verbinden.',
    more: 'Kann ich sonst noch etwas für Sie tun?',
    back: 'Da bin ich wieder. Die Verbindung war kurz unterbrochen.',
    repeat: 'Könnten Sie das bitte noch einmal sagen?',
    fillers: ['Einen Moment.', 'Ich sehe nach.'],
    prompts: ['Sind Sie noch da?', 'Hallo? Können Sie mich hören?'],
    goodbye: 'Ich kann Sie nicht hören und lege deshalb jetzt auf. Auf Wiederhören.',
  },
  es: {
    call: 'Lo siento, algo ha salido mal. Por favor, vuelva a llamar más tarde.',
    turn: 'Lo siento, algo ha salido mal. ¿Podría repetirlo?',
    overBudget: 'Lo siento, tengo que terminar esta llamada ahora. Adiós.',
    busy: 'Lo siento, la línea está ocupada.',
    'no-answer': 'Lo siento, allí no contesta nadie.',
    failed: 'Lo siento, no he podido pasar la llamada.',
    more: '¿Puedo ayudarle en algo más?',
    back: 'Ya estoy de vuelta. Se ha cortado la llamada un momento.',
    repeat: '¿Podría repetirlo, por favor?',
    fillers: ['Un momento.', 'Déjeme ver.'],
    prompts: ['¿Sigue ahí?', '¿Hola? ¿Me oye?'],
    goodbye: 'No le oigo, así que voy a colgar. Adiós.',
  },
  fr: {
    call: 'Je suis désolé, un problème est survenu. Veuillez rappeler plus tard.',
    turn: 'Je suis désolé, un problème est survenu. Pourriez-vous répéter ?',
    overBudget: 'Je suis désolé, je dois mettre fin à cet appel maintenant. Au revoir.',
    busy: 'Je suis désolé, la ligne est occupée.',
    'no-answer': 'Je suis désolé, personne ne répond.',
    failed: 'Je suis désolé, je ne peux pas vous mettre en relation.',
    more: 'Puis-je faire autre chose pour vous ?',
    back: 'Me revoilà. Nous avons été coupés un instant.',
    repeat: "Pourriez-vous répéter, s'il vous plaît ?",
    fillers: ['Un instant.', 'Voyons voir.'],
    prompts: ['Êtes-vous toujours là ?', "Allô ? Vous m'entendez ?"],
    goodbye: 'Je ne vous entends pas, je vais donc raccrocher. Au revoir.',
  },
  it: {
    call: 'Mi dispiace, qualcosa è andato storto. La prego di richiamare più tardi.',
    turn: 'Mi dispiace, qualcosa è andato storto. Potrebbe ripetere?',
    overBudget: 'Mi dispiace, ora devo terminare questa chiamata. Arrivederci.',
    busy: 'Mi dispiace, la linea è occupata.',
    'no-answer': 'Mi dispiace, non risponde nessuno.',
    failed: 'Mi dispiace, non è stato possibile metterla in contatto.',
    more: 'Posso fare altro per lei?',
    back: 'Eccomi di nuovo. La linea è caduta per un attimo.',
    repeat: 'Può ripetere, per favore?',
    fillers: ['Un momento.', 'Vediamo.'],
    prompts: ['È ancora in linea?', 'Pronto? Mi sente?'],
    goodbye: 'Non la sento, quindi ora riaggancio. Arrivederci.',
  },
  pt: {
    call: 'Desculpe, ocorreu um problema. Por favor, ligue mais tarde.',
    turn: 'Desculpe, ocorreu um problema. Poderia repetir?',
    overBudget: 'Desculpe, tenho de terminar esta chamada agora. Até logo.',
    busy: 'Desculpe, a linha está ocupada.',
    'no-answer': 'Desculpe, ninguém atende.',
    failed: 'Desculpe, não foi possível transferir a chamada.',
    more: 'Posso ajudar em mais alguma coisa?',
    back: 'Estou de volta. A ligação caiu por um momento.',
    repeat: 'Pode repetir, por favor?',
    fillers: ['Um momento.', 'Deixe-me ver.'],
    prompts: ['Ainda está aí?', 'Olá? Consegue ouvir-me?'],
    goodbye: 'Não ouço ninguém, por isso vou desligar agora. Até logo.',
  },
  nl: {
    call: 'Het spijt me, er is iets misgegaan. Bel later alstublieft nog eens.',
    turn: 'Het spijt me, er is iets misgegaan. Kunt u dat nog eens zeggen?',
    overBudget: 'Het spijt me, ik moet dit gesprek nu beëindigen. Tot ziens.',
    busy: 'Het spijt me, de lijn is bezet.',
    'no-answer': 'Het spijt me, er neemt niemand op.',
    failed: 'Het spijt me, ik kon u niet doorverbinden.',
    more: 'Kan ik nog iets anders voor u doen?',
    back: 'Daar ben ik weer. De verbinding was even weg.',
    repeat: 'Kunt u dat nog eens zeggen, alstublieft?',
    fillers: ['Een ogenblik.', 'Even kijken.'],
    prompts: ['Bent u er nog?', 'Hallo? Kunt u mij horen?'],
    goodbye: 'Ik hoor u niet, dus ik hang nu op. Tot ziens.',
  },
};

/** Those of an agent that speaks `language`; English where we do not have it. `apology`: words of its own for a call that cannot go on. */
export function setPhrasesFor(language: string | undefined, apology?: string): SetPhrases {
  const known = languageOf(language);
  const { call, turn, overBudget, more, back, repeat, ...others } = WORDS[known ?? 'en'];
  const spoken = known === undefined ? 'en-US' : (language ?? 'en-US');
  return {
    apologies: apology === undefined ? { call, turn, language: spoken } : { call: apology, turn, language },
    overBudget: { text: overBudget, language: spoken },
    notConnected: {
      busy: `${others.busy} ${more}`,
      'no-answer': `${others['no-answer']} ${more}`,
      failed: `${others.failed} ${more}`,
    },
    resumed: { message: back, repeat },
  };
}

/** What an agent says while an answer is slow, to a silent caller, and before it hangs up on one. */
export type WaitingPhrases = Pick<Words, 'fillers' | 'prompts' | 'goodbye'>;

/** Those of an agent that speaks `language`; undefined where we do not have it: callers are not spoken to in a language that is not theirs. */
export function waitingPhrasesFor(language: string | undefined): WaitingPhrases | undefined {
  const known = languageOf(language);
  return known && WORDS[known];
}
