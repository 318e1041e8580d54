// Words that say nothing between the pieces of a number.

/** Folded. */
export const FILLERS = new Set(
  `uh um uhm er erm hm hmm ah oh okay ok yes yeah yep right then and so well no sorry wait next
   ahm ehm ja nein dann und also moment genau gut bitte entschuldigung
   eh este si luego y despues entonces bueno vale perdon sigue
   euh oui puis ensuite et alors bon voila pardon
   allora poi e dopo si ecco scusi
   sim depois entao em dan hoor
   dash hyphen minus slash space strich bindestrich schragstrich leerzeichen guion barra tiret trattino
   the die der das le la el il that this number nummer numero
   first second last erste zweite`.split(/\s+/),
);

/** What a recognizer writes for "four", "two", "eight" and "one". */
export const HOMOPHONES = new Map([
  ['for', '4'],
  ['fore', '4'],
  ['to', '2'],
  ['too', '2'],
  ['ate', '8'],
  ['won', '1'],
]);
