// Sets the clone up and plays a trial of the built package: `npm run chaos`, `npm run soak`, `npm run fuzz`,
// `npm run kills`, `npm run outages`. Trials stand in test/trials.
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { setUp } from './setup.mjs';

const USAGE = [
  'usage: npm run chaos -- [--calls 50] [--seconds 90] [--seed N]',
  '       npm run soak -- [--minutes 10] [--calls 20] [--seed N]',
  '       npm run fuzz -- [--seconds 60] [--seed N]',
  '       npm run kills -- [--count 20 | --deploys 20] [--seed N]',
  '       npm run outages -- [--minutes 2] [--seed N] [--together]',
].join('\n');

const [name = '', ...rest] = process.argv.slice(2);
const trial = new URL(`../test/trials/${name}.trial.mjs`, import.meta.url);
if (!/^[a-z]+$/.test(name) || !existsSync(trial)) giveUsage();

/** @returns {never} */
function giveUsage() {
  console.error(USAGE);
  process.exit(2);
}

/** @returns {Record<string, number> & { together?: boolean }} */
function readFlags() {
  const flag = /** @type {const} */ ({ type: 'string' });
  try {
    const { values } = parseArgs({
      args: rest,
      options: {
        ...{ calls: flag, count: flag, deploys: flag, seconds: flag, minutes: flag, seed: flag },
        together: { type: 'boolean' },
      },
    });
    const { together, ...numbers } = values;
    const flags = Object.entries(numbers).map(([key, value]) => [key, Number(value)]);
    if (flags.every(([, value]) => Number(value) > 0))
      return Object.fromEntries([...flags, ...(together === undefined ? [] : [['together', together]])]);
  } catch {
    // The usage says what is allowed.
  }
  return giveUsage();
}

const flags = readFlags();
const seed = flags.seed ?? Math.floor(Math.random() * 1_000_000) + 1;
await setUp();
const { run } = await import(trial.href);
console.log(`seed ${seed}: \`npm run ${name} -- --seed ${seed}\` plays the same schedule again`);
const { passed, failed } = await run({ ...flags, seed });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
