// The unit of the page on going live, as systemd reads it.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeNeeding } from '../support/needing.js';
import { docBlocks } from './blocks.js';

describeNeeding('systemd-analyze', 'systemd', (analyze = '') => {
  const unit = docBlocks().find(({ language, code }) => language === 'ini' && code.includes('[Service]'));

  /** What systemd has to say of a unit, but for programs that are not on this machine. */
  function complaints(code: string): string {
    const folder = mkdtempSync(join(tmpdir(), 'offhook-unit-'));
    try {
      const file = join(folder, 'offhook.service');
      writeFileSync(file, code.replace('/usr/bin/node', process.execPath));
      const { stdout, stderr } = spawnSync(analyze, ['verify', '--man=no', file], { encoding: 'utf8' });
      return (stdout + stderr)
        .split('\n')
        .filter((line) => line.includes('offhook'))
        .join('\n');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  it('takes the unit', () => {
    expect(unit?.code).toContain('ExecStart=/usr/bin/node ');
    expect(complaints(unit?.code ?? '')).toBe('');
    expect(complaints(`${unit?.code}\nNoSuchSetting=1\n`)).not.toBe('');
  });
});
