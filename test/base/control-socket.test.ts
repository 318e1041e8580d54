import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { controlSocket, controlSocketsIn } from '../../src/base/control-socket.js';
import { userFolder } from '../../src/base/user-folder.js';
import { makeFolder } from '../support/data-folder.js';

const NODE = '0a1b2c3d';

describe('the control socket of a server', () => {
  it('stands in its data folder', () => {
    expect(controlSocket('/srv/calls', NODE, 'linux')).toEqual({
      path: '/srv/calls/control/0a1b2c3d.sock',
      folder: '/srv/calls/control',
    });
  });

  it('stands in the folder of the user where that path were longer than 100 bytes', () => {
    const longest = `/${'x'.repeat(77)}`;
    expect(Buffer.byteLength(controlSocket(longest, NODE, 'linux').path)).toBe(100);
    // Bytes, not letters.
    for (const dataDir of [`${longest}x`, `/${'ö'.repeat(40)}`]) {
      const { path, folder } = controlSocket(dataDir, NODE, 'linux');
      expect(folder).toBe(userFolder());
      expect(path).toMatch(/\/[0-9a-f]{16}-0a1b2c3d\.sock$/);
    }
    const [one, other] = ['1', '2'].map((end) => controlSocket(longest + end, NODE, 'linux').path);
    expect(one).not.toBe(other);
  });

  it('is found beside those of other processes, and not in a folder that others can open', async () => {
    const dataDir = await makeFolder();
    const { path, folder } = controlSocket(dataDir, NODE);
    await mkdir(folder ?? '', { mode: 0o700 });
    for (const name of ['0a1b2c3d.sock', 'ffffffff.sock', '0a1b2c3d.sock.lock'])
      await writeFile(join(folder ?? '', name), '');
    expect((await controlSocketsIn(dataDir)).sort()).toEqual([path, join(folder ?? '', 'ffffffff.sock')]);
    await chmod(folder ?? '', 0o755);
    expect(await controlSocketsIn(dataDir)).toEqual([]);
  });

  it('is none of a folder that is not there', async () => {
    expect(await controlSocketsIn(join(await makeFolder(), 'missing'))).toEqual([]);
  });
});

describe('the control socket on Windows', () => {
  const PIPE = /^\\\\\.\\pipe\\offhook-[0-9a-f]{16}-0a1b2c3d$/;

  it('is a named pipe of the data folder, however that is spelled', () => {
    const place = controlSocket('C:\\Calls', NODE, 'win32');
    expect(place).toEqual({ path: expect.stringMatching(PIPE), folder: null });
    for (const same of ['c:\\calls', 'C:/calls/', 'C:\\other\\..\\Calls'])
      expect(controlSocket(same, NODE, 'win32')).toEqual(place);
    expect(controlSocket('D:\\Calls', NODE, 'win32')).not.toEqual(place);
  });

  it('is found among the pipes of all programs', async () => {
    const [own, other] = ['C:\\Calls', 'C:\\Others'].map(
      (dataDir) => controlSocket(dataDir, NODE, 'win32').path,
    );
    const nameOf = (path = '') => path.slice('\\\\.\\pipe\\'.length);
    const asked: string[] = [];
    const list = async (folder: string) => {
      asked.push(folder);
      return ['docker_engine', nameOf(own), nameOf(other)];
    };
    expect(await controlSocketsIn('c:\\calls', { platform: 'win32', list })).toEqual([own]);
    expect(asked).toEqual(['\\\\.\\pipe\\']);
  });
});
