import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  type Manifest,
  toPlatform,
  toPlatformManifest,
  toReleaseManifest,
} from '../../scripts/release-packages.mjs';
import { platformNames } from '../../src/transcoder/native.js';

const manifest: Manifest & { optionalDependencies?: Record<string, string> } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);
const platforms = manifest.napi.targets.map(toPlatform);

describe('the manifests of a release', () => {
  it('name every platform package at exactly the version of the main one', () => {
    const { optionalDependencies } = toReleaseManifest({ ...manifest, version: '3.2.1-rc.1' });
    expect(optionalDependencies).toEqual({
      '@offhook/transcoder-linux-x64-gnu': '3.2.1-rc.1',
      '@offhook/transcoder-linux-arm64-gnu': '3.2.1-rc.1',
      '@offhook/transcoder-linux-x64-musl': '3.2.1-rc.1',
      '@offhook/transcoder-linux-arm64-musl': '3.2.1-rc.1',
      '@offhook/transcoder-darwin-x64': '3.2.1-rc.1',
      '@offhook/transcoder-darwin-arm64': '3.2.1-rc.1',
      '@offhook/transcoder-win32-x64-msvc': '3.2.1-rc.1',
    });
  });

  it('keep what users need, and leave out what only a clone can run', () => {
    const { optionalDependencies: _added, ...published } = toReleaseManifest(manifest);
    const { scripts: _scripts, devDependencies: _devDependencies, ...kept } = manifest;
    expect(published).toEqual(kept);
  });

  it("are not the clone's own, whose npm ci would ask for them", () => {
    expect(manifest.optionalDependencies).toBeUndefined();
  });

  it('say where an addon runs', () => {
    expect(toPlatformManifest(manifest, toPlatform('aarch64-unknown-linux-musl'))).toMatchObject({
      name: '@offhook/transcoder-linux-arm64-musl',
      version: manifest.version,
      license: 'MIT',
      main: 'offhook-transcoder.linux-arm64-musl.node',
      os: ['linux'],
      cpu: ['arm64'],
      libc: ['musl'],
    });
    expect(toPlatformManifest(manifest, toPlatform('x86_64-pc-windows-msvc'))).not.toHaveProperty('libc');
  });

  it.each(platforms)('$platform is a name that the loader asks for', ({ platform, os, cpu }) => {
    expect(platformNames(os, cpu)).toContain(platform);
  });

  it('refuse a target that is not known', () => {
    expect(() => toPlatform('riscv64gc-unknown-linux-gnu')).toThrow('no target');
  });
});
