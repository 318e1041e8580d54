// The table of the prices that are shipped.
import { table } from './sources.mjs';

/** @typedef {import('../../src/contract/price.js').ModelPrice} ModelPrice */
/** @typedef {import('../../src/contract/price.js').PriceOrigin} PriceOrigin */
/**
 * @typedef {object} PriceLists
 * @property {Readonly<Record<string, import('../../src/contract/price.js').ModelPrices>>} models By vendor.
 * @property {Readonly<Record<string, import('../../src/contract/price.js').CallPrices>>} calls By carrier.
 */

/** @param {ModelPrice} price @param {'text' | 'audio'} kind */
function tokens(price, kind) {
  const [input, cached, output] =
    kind === 'text'
      ? [price.inputPerMillionTokens, price.cachedInputPerMillionTokens, price.outputPerMillionTokens]
      : [
          price.audioInputPerMillionTokens,
          price.cachedAudioInputPerMillionTokens,
          price.audioOutputPerMillionTokens,
        ];
  if (input === undefined) return [];
  const written = kind === 'text' ? price.cacheWritePerMillionTokens : undefined;
  const parts = [
    `${input}`,
    ...(cached === undefined ? [] : [`${cached} cached`]),
    ...(written === undefined ? [] : [`${written} written to the cache`]),
    `${output ?? ''}`,
  ];
  return [`${parts.join(' / ')} per million tokens of ${kind}`];
}

/** @param {ModelPrice} price */
function describe(price) {
  const { perAudioMinute, perThousandCharacters } = price;
  return [
    ...tokens(price, 'text'),
    ...tokens(price, 'audio'),
    ...(perAudioMinute === undefined ? [] : [`${perAudioMinute} per minute of audio`]),
    ...(perThousandCharacters === undefined ? [] : [`${perThousandCharacters} per thousand characters`]),
  ].join('; ');
}

/** @param {PriceOrigin} origin */
function origin({ asOf, source }) {
  return `${asOf}, ${source}`;
}

/** @param {PriceLists} lists */
export function priceTable({ models, calls }) {
  return table(
    ['what', 'US dollars, in / out', 'as of'],
    [
      ...Object.entries(models).flatMap(([vendor, prices]) =>
        Object.entries(prices).map(([model, price]) => [
          `\`${vendor}\` ${model}`,
          describe(price),
          origin(price),
        ]),
      ),
      ...Object.entries(calls).flatMap(([carrier, prices]) =>
        Object.entries(prices).map(([item, price]) => {
          // The word is that of the table; another step needs another word.
          if (price.stepSeconds !== 60)
            throw new Error(`${carrier} ${item} is not charged by begun minutes.`);
          return [`\`${carrier}\` ${item}`, `${price.perMinute} per begun minute`, origin(price)];
        }),
      ),
    ],
  );
}
