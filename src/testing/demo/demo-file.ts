// How a demo tells other programs of the same user what its carrier would know: a private file, named by the port.
import { lstat, mkdir, open, readFile, rm } from 'node:fs/promises';
import { rmSync, type Stats } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { readEnv } from '../../base/env.js';
import { ConfigError } from '../../base/errors.js';

/** What the carrier of a running demo knows. */
export interface DemoFacts {
  port: number;
  /** Public host that webhooks are signed with. */
  webhookHost: string;
  authToken: string;
  /** The number that is called. */
  phoneNumber: string;
  processId: number;
}

export interface DemoFile {
  readonly path: string;
  /** Idempotent. */
  remove(): void;
}

/** Folder of the user: `$XDG_RUNTIME_DIR/offhook`, else in the temporary folder under the user's id. */
export function demoFileFolder(): string {
  const runtime = readEnv('XDG_RUNTIME_DIR');
  if (runtime !== undefined) return join(runtime, 'offhook');
  const { uid, username } = userInfo();
  return join(tmpdir(), `offhook-${uid >= 0 ? uid : username}`);
}

/** True when nobody but this user can read or replace it. On Windows the profile's own access rules do that. */
function isPrivate(stats: Stats): boolean {
  const uid = process.getuid?.();
  return uid === undefined || (stats.uid === uid && (stats.mode & 0o077) === 0);
}

async function openFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const stats = await lstat(folder);
  if (!stats.isDirectory() || !isPrivate(stats)) {
    throw new ConfigError('CONFIG_INVALID', `${folder} must be a folder that only you can open (mode 0700).`);
  }
}

/** Writes the file with mode 0600 into a folder with mode 0700. @throws ConfigError when somebody else owns the folder. */
export async function writeDemoFile(facts: DemoFacts, folder = demoFileFolder()): Promise<DemoFile> {
  await openFolder(folder);
  const path = join(folder, `demo-${facts.port}.json`);
  await rm(path, { force: true });
  // `wx` refuses to follow what somebody may have put in its place.
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(JSON.stringify(facts));
  } finally {
    await file.close();
  }
  return { path, remove: () => rmSync(path, { force: true }) };
}

function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code === 'EPERM';
  }
}

function isFacts(value: unknown): value is DemoFacts {
  if (typeof value !== 'object' || value === null) return false;
  const { port, webhookHost, authToken, phoneNumber, processId } = value as Record<string, unknown>;
  return (
    typeof port === 'number' &&
    typeof processId === 'number' &&
    [webhookHost, authToken, phoneNumber].every((field) => typeof field === 'string')
  );
}

/** The facts of the demo that runs on this port of this machine; undefined when there is none, or its file is not private. */
export async function findDemo(port: number, folder = demoFileFolder()): Promise<DemoFacts | undefined> {
  const path = join(folder, `demo-${port}.json`);
  try {
    const [folderStats, stats] = await Promise.all([lstat(folder), lstat(path)]);
    if (!folderStats.isDirectory() || !stats.isFile() || !isPrivate(folderStats) || !isPrivate(stats))
      return undefined;
    const facts: unknown = JSON.parse(await readFile(path, 'utf8'));
    return isFacts(facts) && facts.port === port && isRunning(facts.processId) ? facts : undefined;
  } catch {
    return undefined;
  }
}
