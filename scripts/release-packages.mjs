// What the packages of a release are called and what their manifests say. Pure; scripts/release-pack.mjs makes the files.

/** What a target of `napi.targets` is for npm. `libc` only where there are two. @typedef {{ target: string, platform: string, os: string, cpu: string, libc?: string }} Platform */

/** @typedef {{ name: string, version: string, license: string, engines: Record<string, string>, bin: Record<string, string>, exports: Record<string, string | { types: string }>, napi: { binaryName: string, packageName: string, targets: string[] }, scripts?: Record<string, string>, [key: string]: unknown }} Manifest */

/** @type {ReadonlyMap<string, string>} */
const PROCESSORS = new Map([
  ['x86_64', 'x64'],
  ['aarch64', 'arm64'],
]);
/** @type {ReadonlyMap<string, Omit<Platform, 'target' | 'cpu' | 'platform'> & { suffix: string }>} */
const SYSTEMS = new Map([
  ['unknown-linux-gnu', { os: 'linux', libc: 'glibc', suffix: '-gnu' }],
  ['unknown-linux-musl', { os: 'linux', libc: 'musl', suffix: '-musl' }],
  ['apple-darwin', { os: 'darwin', suffix: '' }],
  ['pc-windows-msvc', { os: 'win32', suffix: '-msvc' }],
]);

/** @param {string} target as Rust names it, such as `x86_64-unknown-linux-gnu` @returns {Platform} @throws Error for one that is not known. */
export function toPlatform(target) {
  const [processor = ''] = target.split('-', 1);
  const cpu = PROCESSORS.get(processor);
  const system = SYSTEMS.get(target.slice(processor.length + 1));
  if (cpu === undefined || system === undefined) throw new Error(`${target} is no target that is known here`);
  const { suffix, ...rest } = system;
  return { target, platform: `${rest.os}-${cpu}${suffix}`, ...rest, cpu };
}

/** The addon's file, in the package and beside crates/transcoder-napi. @param {Manifest} manifest @param {Platform} platform */
export const toAddonFile = ({ napi }, { platform }) => `${napi.binaryName}.${platform}.node`;

/** @param {Manifest} manifest @param {Platform} platform */
export const toPlatformName = ({ napi }, { platform }) => `${napi.packageName}-${platform}`;

/** The package.json of a platform package. @param {Manifest} manifest the main one @param {Platform} platform */
export function toPlatformManifest(manifest, platform) {
  const file = toAddonFile(manifest, platform);
  return {
    name: toPlatformName(manifest, platform),
    version: manifest.version,
    description: `The native transcoder of offhook for ${platform.platform}.`,
    license: manifest.license,
    ...(manifest.repository !== undefined && { repository: manifest.repository }),
    main: file,
    files: [file, 'NOTICE.md'],
    os: [platform.os],
    cpu: [platform.cpu],
    ...(platform.libc !== undefined && { libc: [platform.libc] }),
    engines: manifest.engines,
    publishConfig: { access: 'public' },
  };
}

/**
 * The package.json that is published: with the platform packages of its own version, and without what only the clone can run. The
 * clone's own must not name them, since `npm ci` would ask a registry for versions that are not out yet.
 * @param {Manifest} manifest
 */
export function toReleaseManifest(manifest) {
  const { scripts: _scripts, devDependencies: _devDependencies, ...published } = manifest;
  const names = manifest.napi.targets.map((target) => toPlatformName(manifest, toPlatform(target)));
  const known = /** @type {Record<string, string> | undefined} */ (manifest.optionalDependencies);
  return {
    ...published,
    optionalDependencies: {
      ...known,
      ...Object.fromEntries(names.map((name) => [name, manifest.version])),
    },
  };
}

/** @param {Manifest} manifest @param {Platform} platform */
export function toPlatformReadme(manifest, platform) {
  return `# ${toPlatformName(manifest, platform)}

The native transcoder of ${manifest.name} ${manifest.version} for \`${platform.target}\`. npm installs it with ${manifest.name} where it fits. Do not install another
version than that of ${manifest.name}: it is not loaded then, and WebAssembly does its work.
`;
}

/** The declarations of the entry points, as the manifest writes their paths. @param {Manifest} manifest @returns {string[]} */
export function toTypes({ exports }) {
  return Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [] : [entry.types]));
}
