// `--env-file`: settings that a project keeps in a file, where its server reads them, too.
import { addToEnv } from '../base/env.js';
import { readNamedFile } from './named-file.js';

/** The option of commands that look for settings in the environment. */
export const ENV_FILE_OPTION = [
  '--env-file <file>',
  'read settings from a file like .env; those in the environment come first',
] as const;

/** Takes the settings of the file into the environment. Does nothing without a file. @throws UsageError when it cannot be read. */
export async function readEnvFile(path: string | undefined): Promise<void> {
  if (path !== undefined) addToEnv((await readNamedFile(path)).toString('utf8'));
}
