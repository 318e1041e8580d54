// The table of prices in the README is the one that is shipped. When it is not, the failure shows what belongs there.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { FREE, type ModelPrice, type PriceOrigin } from '../../src/contract/price.js';
import { CARRIERS } from '../../src/carriers/index.js';
import { MODEL_PRICES } from '../../src/options/price-list.js';

const readme = readFileSync(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8');

const number = (value: number | undefined) => (value === undefined ? '' : value.toString());

function tokens(price: ModelPrice, kind: 'text' | 'audio'): string | undefined {
  const [input, cached, output] =
    kind === 'text'
      ? [price.inputPerMillionTokens, price.cachedInputPerMillionTokens, price.outputPerMillionTokens]
      : [
          price.audioInputPerMillionTokens,
          price.cachedAudioInputPerMillionTokens,
          price.audioOutputPerMillionTokens,
        ];
  if (input === undefined) return undefined;
  const written = kind === 'text' ? price.cacheWritePerMillionTokens : undefined;
  const parts = [
    number(input),
    ...(cached === undefined ? [] : [`${number(cached)} cached`]),
    ...(written === undefined ? [] : [`${number(written)} written to the cache`]),
    number(output),
  ];
  return `${parts.join(' / ')} per million tokens of ${kind}`;
}

function describePrice(price: ModelPrice): string {
  const { perAudioMinute, perThousandCharacters } = price;
  return [
    tokens(price, 'text'),
    tokens(price, 'audio'),
    perAudioMinute === undefined ? undefined : `${perAudioMinute} per minute of audio`,
    perThousandCharacters === undefined ? undefined : `${perThousandCharacters} per thousand characters`,
  ]
    .filter((part) => part !== undefined)
    .join('; ');
}

function row(name: string, price: string, { asOf, source }: PriceOrigin): string {
  return `| ${name} | ${price} | ${asOf}, ${source} |`;
}

function table(): string {
  const models = Object.entries(MODEL_PRICES).flatMap(([vendor, prices]) =>
    Object.entries(prices).map(([model, price]) =>
      row(`\`${vendor}\` ${model}`, describePrice(price), price),
    ),
  );
  const calls = [...CARRIERS].flatMap(([carrier, { prices }]) =>
    Object.entries(prices).map(([item, price]) =>
      row(`\`${carrier}\` ${item}`, `${price.perMinute} per begun minute`, price),
    ),
  );
  return ['| what | US dollars, in / out | as of |', '|---|---|---|', ...models, ...calls].join('\n');
}

it('the README shows the prices that are shipped', () => {
  for (const { prices } of CARRIERS.values())
    for (const price of Object.values(prices)) expect(price.stepSeconds).toBe(60);
  const shown = /<!-- prices -->\n\n([\s\S]*?)\n\n<!-- end -->/.exec(readme)?.[1];
  expect(shown).toBe(table());
});

it('the README names every unit of a price', () => {
  for (const unit of [...Object.keys(FREE), 'perMinute', 'stepSeconds'])
    expect(readme).toContain(`\`${unit}\``);
});
