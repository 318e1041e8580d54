import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findPrivate, type FinderContext } from '../../../src/calls/privacy/finder.js';

/** What was found, as `kind: words`. */
const found = (text: string, context?: FinderContext) =>
  findPrivate(text, context).map(({ kind, from, to }) => `${kind}: ${text.slice(from, to)}`);

describe('findPrivate', () => {
  it.each([
    ['seven, three', 'a few digits'],
    ['My order number is 482913.', 'an order of six digits'],
    ['It costs $1,299.00, or 4500000 euros.', 'prices'],
    ['On 12/05/1984 or 2026-11-27 at 14:45:30, in May nineteen eighty-four.', 'dates and times'],
    ['From 2019 and 2020 until 2024 we had 3 million guests.', 'years and quantities'],
    ['Call nine one one, or eins eins zwei!', 'numbers for help'],
    ['The card is valid until 12/27.', 'until when a card is valid'],
    ['Rooms 101, 102, 103 and 104.', 'a list'],
    ['I was born on twelve five nineteen eighty-four.', 'a day of birth'],
    ['We need 1000 flyers and 2500 posters.', 'quantities with other words between them'],
    ['I work at web dot de, at the dot on the map.', 'where somebody works'],
    ['I sent an email yesterday at noon.', 'an e-mail that was sent'],
    ['See example dot com, or write us.', 'a site'],
    ['Meet me at the dot on the map.', 'a dot'],
  ])('leaves %j: %s', (text) => {
    expect(found(text)).toEqual([]);
  });

  it.each([
    ['my mail is anna at example dot com. i would like some bread.', 'anna at example dot com'],
    ['my email is anna@example.de and a plum cake', 'anna@example.de'],
    [
      'meine mail ist anna punkt meier ät beispiel punkt de. und brot',
      'anna punkt meier ät beispiel punkt de',
    ],
    ['meine mail ist anna ät beispiel punkt de und zwei brote bitte', 'anna ät beispiel punkt de'],
    ['my email address is anna at example dot com and also bread', 'anna at example dot com'],
  ])('ends an address where it ends, whoever may go on behind: %j', (text, address) => {
    for (const end of ['open', 'speaking'] as const)
      expect(found(text, { end })).toEqual([`email: ${address}`]);
  });

  it('holds back what may be the rest of an address', () => {
    const rest = (text: string) => found(text, { end: 'open' });
    expect(rest('my mail is anna at example dot')).toEqual(['email: anna at example dot']);
    expect(rest('my mail is anna at the')).toHaveLength(1);
    expect(rest('my mail is anna at example dot my domain')).toEqual([
      'email: anna at example dot my domain',
    ]);
  });

  it('tells the kind by what is said around a number', () => {
    expect(found('My card is 4929 1234, the CVC 123.')).toEqual(['card: 4929 1234', 'card: 123']);
    expect(found('Meine Kontonummer ist 48291.')).toEqual(['account: 48291']);
    expect(found('mi teléfono es 91 23 45')).toEqual(['phone: 91 23 45']);
    expect(found('4929 1234 is my account')).toEqual(['account: 4929 1234']);
    expect(found('4829', { asked: ['Quel est votre numéro de carte ?'] })).toEqual(['card: 4829']);
    expect(found('4829', { asked: ['Sure.', 'Your card number?'] })).toEqual(['card: 4829']);
    expect(found('4829', { asked: ['Your order number?', 'Your card number?'] })).toEqual([]);
  });

  it('tells the kind of a long number by its length', () => {
    expect(found('4111 1111 1111 1111')).toEqual(['card: 4111 1111 1111 1111']);
    expect(found('0171 3920045')).toEqual(['phone: 0171 3920045']);
    expect(found('(+49) 171 3920045')).toEqual(['phone: (+49) 171 3920045'.replace('(+', '+')]);
    expect(found('48291304')).toEqual(['number: 48291304']);
  });

  it('takes figures of any alphabet, and sees through signs that take no room', () => {
    for (const text of [
      '４１１１ １１１１ １１１１ １１１１',
      '٤١١١ ١١١١ ١١١١ ١١١١',
      '4\u200b1\u200b1\u200b1\u200b1111 1111 1111',
      '4️⃣1️⃣1️⃣1️⃣1111 1111 1111',
      '①②③④⑤⑥⑦⑧⑨①②③④⑤⑥⑦',
      '𝟒𝟏𝟏𝟏 𝟏𝟏𝟏𝟏 𝟏𝟏𝟏𝟏 𝟏𝟏𝟏𝟏',
      '4111\u00a01111\u202f1111\u20091111',
      '4111·1111•1111—1111',
      '4111/1111_1111*1111',
    ])
      expect(found(text)).toEqual([`card: ${text}`]);
  });

  it('takes number words of seven languages, whole, in parts and in one', () => {
    for (const text of [
      'five five five double oh one triple nine',
      'fivefivefiveohonenine nine',
      'einundzwanzig zweiundvierzig dreiundsechzig vierundachtzig',
      'quatre-vingt-dix-sept soixante et onze quatre vingt treize, vingt et un',
      'veintiuno, treinta y dos, cuarenta y tres, cincuenta y cuatro',
      'ventuno trentotto quarantatré cinquantasei',
      'nove um dois, três quatro cinco, meia sete oito',
      'nul zes, eenentwintig, tweeëndertig, vierenvijftig',
      'fünf five cinco cinq cinque vijf cinco',
    ])
      expect(found(text).map((each) => each.slice(each.indexOf(': ') + 2))).toEqual([text]);
  });

  it('takes an everyday word for a number only beside others', () => {
    expect(found('Once a week I see one or two of them, sei sicuro, eine Frage.')).toEqual([]);
    expect(found('un un un un, sept sept sept sept')).toEqual(['number: un un un un, sept sept sept sept']);
  });

  it('goes over what stands between the pieces of a number', () => {
    expect(found('4929, uh, and then 1234')).toEqual(['number: 4929, uh, and then 1234']);
    expect(found('4929 guests came, 1234 of them twice')).toEqual([]);
    expect(found('GB29 NWBK 6016 1331 9268 19')).toEqual([
      'card: GB29 NWBK 6016 1331 9268 19'.replace('card', 'account'),
    ]);
  });

  it('takes pieces with other words between them for one number where they are long enough', () => {
    const digitsOf = (text: string) => findPrivate(text).map(({ digits }) => digits);
    expect(
      digitsOf('the first four are 4929, the second four are 1234, the third four are 5678, then comes 9012'),
    ).toEqual(['49294', '1234', '5678', '9012']);
    expect(digitsOf('4929 hold on let me get my glasses 1234 5678 9012')).toEqual(['4929', '123456789012']);
    expect(digitsOf('The flight is 4929, and we paid 1234.')).toEqual([]);
  });

  it('goes over words that sound like numbers between single digits', () => {
    expect(found('nine to nine one too three four five')).toEqual([
      'number: nine to nine one too three four five',
    ]);
    expect(found('from 10 to 12 or 14 to 16')).toEqual([]);
  });

  it('finds addresses, written and spoken', () => {
    for (const text of [
      'anna.meier+news@mail.example.co.uk',
      'anna @ example . com',
      'anna[at]example[dot]com',
      'a dot b underscore c at my dash shop dot co dot uk',
      'anna punkt meier ät example punkt de',
      'ana guion bajo lopez arroba example punto es',
      'anne tiret du bas martin arobase example point fr',
      'bob at gmail',
      'anna, dot, meier, at, example, dot, com',
      'anna meier at example com',
      'a for apple n for november at example dot com',
      'A wie Anton N wie Nordpol ät example punkt de',
      'anna＠example．com',
      'meier klammer affe example punkt de',
      'ana punto lopez a roba example punto es',
      'm e i e r 7 7 at web dot de',
    ])
      expect(found(text)).toEqual([`email: ${text}`]);
    expect(found('Mail anna@example.com, please.')).toEqual(['email: anna@example.com']);
  });

  it('holds back figures at the end of what somebody says', () => {
    const held = (text: string, context: FinderContext = {}) =>
      findPrivate(text, { end: 'open', ...context }).map(({ isHeldBack, digits }) => isHeldBack && digits);
    expect(held('It is four nine two nine')).toEqual(['4929']);
    expect(held('It is 49')).toEqual([]);
    expect(held('It is 49', { asked: ['Your card number?'] })).toEqual(['49']);
    expect(held('It is +4')).toEqual(['4']);
    expect(held('a n n a', { asked: ['Your e-mail?'] })).toEqual(['']);
    expect(held('at example', { asked: ['Your e-mail?'] })).toEqual(['']);
    expect(held('It is 4929 and, uh')).toEqual(['4929']);
    expect(held('It is 4929 I think')).toEqual([]);
    expect(held('Order number 4929')).toEqual([]);
    expect(held('at seven thirty')).toEqual([]);
    expect(held('two hundred and fifty')).toEqual([]);
    expect(held('nine one one')).toEqual([]);
  });

  it('holds back everything that may become a number while somebody is speaking', () => {
    const held = (text: string) =>
      findPrivate(text, { end: 'speaking' }).map(({ from, to }) => text.slice(from, to));
    expect(held('I want two')).toEqual(['two']);
    expect(held('Order number 4')).toEqual(['4']);
    expect(held('I want two of')).toEqual(['two of']);
    expect(held('I want two of them')).toEqual([]);
    expect(held('one two three fou')).toEqual(['one two three fou']);
    expect(held('Mail an')).toEqual(['an']);
    expect(held('my e-mail is anna dot')).toEqual(['anna dot']);
    expect(held('anna dot meier at exam')).toEqual(['anna dot meier at exam']);
  });

  it('finds pieces of the text in their order, whatever that is', () => {
    const words =
      'a 12 1984 4111 one two twenty hundred mil double mal die at @ . dot dash gmail com de card May of 12:30 € and vingt quatre - , \u200b \ud800 \udc00 𝟏 ١ ① ﷺ İ ß ( + … klammer affe NWBK';
    const text = fc
      .array(fc.constantFrom(...words.split(' '), ' ', ' ', ' '), { maxLength: 40 })
      .map((all) => all.join(''));
    fc.assert(
      fc.property(text, fc.constantFrom(undefined, 'open' as const, 'speaking' as const), (said, end) => {
        let at = 0;
        for (const { from, to } of findPrivate(said, { end })) {
          expect(from).toBeGreaterThanOrEqual(at);
          expect(to).toBeGreaterThan(from);
          at = to;
        }
        expect(at).toBeLessThanOrEqual(said.length);
      }),
      { numRuns: 500 },
    );
  });

  it('knows a part of a number that was found before', () => {
    const known = ['4929123456789012'];
    expect(found('It ends in 9012, right?', { known })).toEqual(['number: 9012']);
    expect(found('It ends in 012, right?', { known })).toEqual([]);
    expect(found('492 it is', { known: ['492'] })).toEqual(['number: 492']);
  });
});
