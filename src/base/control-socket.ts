// Where a server that keeps its calls in a data folder is spoken to by programs of the same user: the command line, and the process after it.
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join, resolve, win32 } from 'node:path';
import type { SocketPlace } from './dashboard-socket.js';
import { isPrivateFolder, userFolder } from './user-folder.js';

/** A longer path is no path of a Unix domain socket on some system. The shortest limit is 103 bytes, of macOS. */
const MAX_PATH_BYTES = 100;
const SUFFIX = '.sock';
/** Where Windows has its named pipes. */
const PIPES = '\\\\.\\pipe\\';

/** Names in a folder, or of all pipes. */
type ListNames = (folder: string) => Promise<string[]>;

/** Of a server. `nodeId`: hexadecimal, of its process. */
export function controlSocket(
  dataDir: string,
  nodeId: string,
  platform: NodeJS.Platform = process.platform,
): SocketPlace {
  const { folder, prefix } = placeOf(dataDir, platform);
  const path = folder === null ? `${PIPES}${prefix}${nodeId}` : join(folder, `${prefix}${nodeId}${SUFFIX}`);
  return { path, folder };
}

/** Paths of those that there are, which a dead process may have left. None in a folder that others can open. */
export async function controlSocketsIn(
  dataDir: string,
  { platform = process.platform, list = readdir as ListNames } = {},
): Promise<string[]> {
  const { folder, prefix } = placeOf(dataDir, platform);
  if (folder !== null && !(await isPrivateFolder(folder))) return [];
  const names = await list(folder ?? PIPES).catch(() => []);
  const ours = names.filter((name) => name.startsWith(prefix));
  if (folder === null) return ours.map((name) => `${PIPES}${name}`);
  return ours.filter((name) => name.endsWith(SUFFIX)).map((name) => join(folder, name));
}

/** In the data folder, or where its path is too long in that of the user. */
function placeOf(dataDir: string, platform: NodeJS.Platform): { folder: string | null; prefix: string } {
  const isWindows = platform === 'win32';
  // `c:\calls` and `C:\Calls` are one folder there.
  const path = isWindows ? win32.resolve(dataDir).toLowerCase() : resolve(dataDir);
  const hash = createHash('sha256').update(path).digest('hex').slice(0, 16);
  if (isWindows) return { folder: null, prefix: `offhook-${hash}-` };
  const folder = join(path, 'control');
  const longest = join(folder, `01234567${SUFFIX}`);
  const isShort = Buffer.byteLength(longest) <= MAX_PATH_BYTES;
  return isShort ? { folder, prefix: '' } : { folder: userFolder(), prefix: `${hash}-` };
}
