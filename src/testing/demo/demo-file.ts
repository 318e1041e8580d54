// How a demo tells other programs of the same user what its carrier would know: a private file, named by the port.
import { lstat, open, readFile, rm } from 'node:fs/promises';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { isPrivate, isPrivateFolder, openPrivateFolder, userFolder } from '../../base/user-folder.js';

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

/** Writes the file with mode 0600 into a folder with mode 0700. @throws ConfigError when somebody else owns the folder. */
export async function writeDemoFile(facts: DemoFacts, folder = userFolder()): Promise<DemoFile> {
  await openPrivateFolder(folder);
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
export async function findDemo(port: number, folder = userFolder()): Promise<DemoFacts | undefined> {
  const path = join(folder, `demo-${port}.json`);
  try {
    const [isOwnFolder, stats] = await Promise.all([isPrivateFolder(folder), lstat(path)]);
    if (!isOwnFolder || !stats.isFile() || !isPrivate(stats)) return undefined;
    const facts: unknown = JSON.parse(await readFile(path, 'utf8'));
    return isFacts(facts) && facts.port === port && isRunning(facts.processId) ? facts : undefined;
  } catch {
    return undefined;
  }
}
