// `--settings`: what a project keeps in a file, where its server reads it, too. It is not called --env-file, which Node 20 takes for its
// own wherever it stands.
import { addToEnv } from '../base/env.js';
import { readNamedFile } from './named-file.js';

/** The option of commands that look for settings in the environment. */
export const SETTINGS_OPTION = [
  '--settings <file>',
  'read settings from a file like .env; those in the environment come first',
] as const;

/** Takes the settings of the file into the environment. Does nothing without a file. @throws UsageError when it cannot be read. */
export async function readSettingsFile(path: string | undefined): Promise<void> {
  if (path !== undefined) addToEnv((await readNamedFile(path)).toString('utf8'));
}
