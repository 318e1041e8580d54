// Words that tell what a number is: of a card, an account, a telephone, or one that may stay.

/** `code`: the few digits on the back of a card. `keep`: an order, a room, a postal code. `date`: a day, a year, a time. */
export type Cue = 'card' | 'code' | 'account' | 'phone' | 'keep' | 'date';

/** The number is of somebody, and has to go. */
export function isPrivateCue(cue: Cue | undefined): boolean {
  return cue !== undefined && cue !== 'keep' && cue !== 'date';
}

/** Whole words, and beginnings or endings of longer ones with `-` where they go on. All folded. */
const LISTS: Readonly<Record<Cue, string>> = {
  code: 'cvv cvc cvv2 -prufziffer- -pruefziffer- cryptogramme criptogramma sicherheitscode kartenprufnummer pin',
  card: '-card credit debit visa -mastercard- amex maestro -kreditkarte- -kartennummer- karte -bankkarte- tarjeta- carte carta kaart creditcard- cartao- bancomat -girocard-',
  account:
    'account iban -konto -kontonummer -kontos routing checking -bankleitzahl- blz cuenta compte conto rib ssn social -sozialversicherung- -versichertennummer- -steuernummer- -steuer-id dni nie nif nss secu securite fiscale insurance bsn cpf rekening- conta sort siren siret passport',
  phone:
    '-phone- -telefon- -telephon- mobile mobil- movil- cell cellphone cellular- celular- handy- portable call callback reach text landline fax whatsapp tel -ruckruf- -zuruckruf- erreich- anruf- rufen ruf llam- joindre rappel- appel- chiam- richiam- bellen ligar-',
  date: 'date datum fecha data birth birthday born geboren geburtstag geburtsdatum nacimiento naci nacio naissance nascita nato nata time uhrzeit hora heure when wann cuando quand quando',
  keep: 'order- booking- reserv- room- flight- ticket- -bestell- -auftrag- -buchung- -zimmer- flug- pedido- habitacion- vuelo- commande- chambre- vol billet- ordin- prenotazion- camera volo zip -postcode- postal- postleitzahl- plz cap apartment- street calle rue via -strasse hausnummer- reference- referenz- referencia- invoice- -rechnung- factura- facture- fattura- bus gate train zug tracking -kunden- customer- size page seite table tisch mesa tavolo version year many viele cuantos cuantas combien quanti quante guests extension durchwahl anexo poste interno ano annee anno jahr',
};

const EXACT = new Map<string, Cue>();
const BEGINNINGS: [string, Cue][] = [];
const ENDINGS: [string, Cue][] = [];
const PARTS: [string, Cue][] = [];
for (const cue of ['code', 'card', 'account', 'phone', 'date', 'keep'] as const)
  for (const form of LISTS[cue].split(' ')) {
    const stem = form.replace(/^-/, '').replace(/-$/, '');
    if (form.startsWith('-') && form.endsWith('-')) PARTS.push([stem, cue]);
    else if (form.endsWith('-')) BEGINNINGS.push([stem, cue]);
    else if (form.startsWith('-')) ENDINGS.push([stem, cue]);
    else EXACT.set(stem, cue);
  }

/** No word that tells anything is longer. */
const LONGEST = 40;

/** "seguridad social" is an account; "código de seguridad" is on a card. */
const SECURITY = new Set(['security', 'seguridad', 'sicurezza', 'securite', 'seguranca']);

/** What the word at `index` says of a number near it. */
export function cueAt(words: readonly string[], index: number): Cue | undefined {
  const word = words[index] ?? '';
  if (word === '' || word.length > LONGEST) return undefined;
  if (SECURITY.has(word)) {
    const near = words.slice(Math.max(0, index - 3), index + 3);
    if (near.some((each) => /^codi|^code/.test(each))) return 'code';
    return near.some((each) => /^(social|numero|sociale)$/.test(each)) ? 'account' : undefined;
  }
  return cueOf(word);
}

function cueOf(word: string): Cue | undefined {
  const exact = EXACT.get(word);
  if (exact !== undefined) return exact;
  return (
    BEGINNINGS.find(([stem]) => word.startsWith(stem))?.[1] ??
    ENDINGS.find(([stem]) => word.endsWith(stem))?.[1] ??
    PARTS.find(([stem]) => word.includes(stem))?.[1]
  );
}

/** The last cue of `words`; one that asks for what has to go comes before one that does not. */
export function cueIn(words: readonly string[]): Cue | undefined {
  let kept: Cue | undefined;
  for (let index = words.length - 1; index >= 0; index -= 1) {
    const cue = cueAt(words, index);
    if (isPrivateCue(cue)) return cue;
    kept ??= cue;
  }
  return kept;
}
