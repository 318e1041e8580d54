import { once } from 'node:events';
import { chmod, lstat, mkdir, readdir, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dashboardSocket, isOwnSocket, type SocketPlace } from '../../src/base/dashboard-socket.js';
import { userFolder } from '../../src/base/user-folder.js';
import { createHttp } from '../../src/server/http.js';
import { openPrivateSocket, type PrivateSocket } from '../../src/server/private-socket.js';
import { post, socketFolder } from '../support/ingest-dashboard.js';

let room: ReturnType<typeof socketFolder>;
let place: SocketPlace;
const opened: PrivateSocket[] = [];

beforeEach(() => {
  room = socketFolder();
  place = dashboardSocket(join(room.folder, 'offhook'));
});
afterEach(async () => {
  for (const socket of opened.splice(0)) await socket.close();
  room.remove();
});

async function open(where: SocketPlace = place): Promise<PrivateSocket> {
  const socket = await openPrivateSocket(
    where,
    createHttp((_request, response) => response.end('{}')),
    { inUse: 'A program listens on {path}: stop it', elsewhere: 'set XDG_RUNTIME_DIR' },
  );
  opened.push(socket);
  return socket;
}

/** Leaves a socket file of which nobody listens any more. */
async function leaveStale(path: string): Promise<void> {
  const server = createServer().listen(`${path}-`);
  await once(server, 'listening');
  // Under another name it outlives its server, which takes only its own away.
  await rename(`${path}-`, path);
  server.close();
  await once(server, 'close');
}

describe('the socket of the user', () => {
  it('stands in a folder that is closed to others, and is gone when it is closed', async () => {
    const socket = await open();
    expect((await lstat(place.folder ?? '')).mode & 0o777).toBe(0o700);
    expect((await lstat(place.path)).mode & 0o777).toBe(0o600);
    expect(await isOwnSocket(place)).toBe(true);
    expect((await post(socket.path, '{}')).status).toBe(200);
    await socket.close();
    expect(await readdir(place.folder ?? '')).toEqual([]);
    expect(await isOwnSocket(place)).toBe(false);
  });

  it('takes the place of one that a dead process left', async () => {
    await mkdir(place.folder ?? '', { mode: 0o700 });
    await leaveStale(place.path);
    expect((await lstat(place.path)).isSocket()).toBe(true);
    expect((await post((await open()).path, '{}')).status).toBe(200);
  });

  it('is had by one of several that find a dead one at the same time', async () => {
    for (let round = 0; round < 20; round += 1) {
      await mkdir(place.folder ?? '', { mode: 0o700, recursive: true });
      await leaveStale(place.path);
      const tries = await Promise.allSettled([open(), open(), open(), open()]);
      const won = tries.filter(({ status }) => status === 'fulfilled');
      expect(won).toHaveLength(1);
      expect((await post(place.path, '{}')).status).toBe(200);
      expect(await readdir(place.folder ?? '')).toHaveLength(1);
      for (const socket of opened.splice(0)) await socket.close();
    }
  });

  it('is had although a process died while it took one away', async () => {
    await mkdir(place.folder ?? '', { mode: 0o700 });
    await leaveStale(place.path);
    await writeFile(`${place.path}.lock`, '');
    await utimes(`${place.path}.lock`, 1, 1);
    expect((await post((await open()).path, '{}')).status).toBe(200);
    expect(await readdir(place.folder ?? '')).toHaveLength(1);
  });

  it('is not taken from a process that lives', async () => {
    const first = await open();
    await expect(open()).rejects.toMatchObject({ code: 'CONFIG_CONFLICT' });
    expect((await post(first.path, '{}')).status).toBe(200);
  });

  it.each([
    [
      'others can open',
      async (folder: string) => {
        await mkdir(folder);
        await chmod(folder, 0o755);
      },
    ],
    [
      'is a link',
      async (folder: string) => {
        await mkdir(`${folder}-elsewhere`, { mode: 0o700 });
        await symlink(`${folder}-elsewhere`, folder);
      },
    ],
  ])('is opened, and looked for, in no folder that %s', async (_what, prepare) => {
    const folder = place.folder ?? '';
    await prepare(folder);
    await expect(open()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(folder),
    });
    const server = createServer().listen(place.path);
    expect(await isOwnSocket(place)).toBe(false);
    server.close();
  });

  it('says what is wrong with a folder that is a file, and a path that is too long', async () => {
    await writeFile(place.folder ?? '', '');
    await expect(open()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    const long = dashboardSocket(join(room.folder, 'x'.repeat(120)));
    await expect(open(long)).rejects.toThrow(/too long/);
  });

  it('is no file that stands in its place', async () => {
    await mkdir(place.folder ?? '', { mode: 0o700 });
    await writeFile(place.path, '', { mode: 0o600 });
    expect(await isOwnSocket(place)).toBe(false);
  });
});

describe('the folder of the user', () => {
  it('is in XDG_RUNTIME_DIR, unless that is no absolute path', async () => {
    const { vi } = await import('vitest');
    vi.stubEnv('XDG_RUNTIME_DIR', '/run/user/7');
    expect(userFolder()).toBe('/run/user/7/offhook');
    vi.stubEnv('XDG_RUNTIME_DIR', 'here');
    expect(userFolder()).not.toContain('here');
    vi.unstubAllEnvs();
  });
});
