// The folder in which programs of one user find each other, closed to everybody else.
import { lstat } from 'node:fs/promises';
import type { Stats } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { readEnv } from './env.js';
import { ConfigError } from './errors.js';
import { makeFolder } from './make-folder.js';

/** `$XDG_RUNTIME_DIR/offhook`, else in the temporary folder under the user's id. Source: XDG Base Directory Specification 0.8. */
export function userFolder(): string {
  const runtime = readEnv('XDG_RUNTIME_DIR');
  if (runtime !== undefined && isAbsolute(runtime)) return join(runtime, 'offhook');
  const { uid, username } = userInfo();
  return join(tmpdir(), `offhook-${uid >= 0 ? uid : username}`);
}

/** True when nobody but this user can read or replace it. On Windows the profile's own access rules do that. */
export function isPrivate(stats: Stats): boolean {
  const uid = process.getuid?.();
  return uid === undefined || (stats.uid === uid && (stats.mode & 0o077) === 0);
}

/** True for a folder, not a link to one, that only this user can open. */
export async function isPrivateFolder(folder: string): Promise<boolean> {
  try {
    const stats = await lstat(folder);
    return stats.isDirectory() && isPrivate(stats);
  } catch {
    return false;
  }
}

/** Makes the folder with mode 0700 where it is missing. @throws ConfigError when somebody else owns it, or could look into it. */
export async function openPrivateFolder(folder: string): Promise<void> {
  await makeFolder(folder);
  if (await isPrivateFolder(folder)) return;
  throw new ConfigError('CONFIG_INVALID', `${folder} must be a folder that only you can open (mode 0700).`);
}
