// Where the standalone dashboard of a user listens for the servers of the same user. Nobody else gets in between.
import { lstat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { isPrivate, isPrivateFolder, userFolder } from './user-folder.js';

/** Place of the socket. `folder` is null for a named pipe, which has none. */
export interface SocketPlace {
  readonly path: string;
  readonly folder: string | null;
}

/** A Unix domain socket in the user's folder; on Windows a named pipe under the user's name. */
export function dashboardSocket(folder: string = userFolder()): SocketPlace {
  if (process.platform === 'win32') {
    return { path: `\\\\.\\pipe\\offhook-dashboard-${userInfo().username}`, folder: null };
  }
  return { path: join(folder, 'dashboard.sock'), folder };
}

/** True when there is a socket that only this user can have put there. Whether anybody listens only a connection tells. */
export async function isOwnSocket({ path, folder }: SocketPlace): Promise<boolean> {
  if (folder === null) return true;
  if (!(await isPrivateFolder(folder))) return false;
  try {
    const stats = await lstat(path);
    return stats.isSocket() && isPrivate(stats);
  } catch {
    return false;
  }
}
