// Looks through a LevelDB folder before the library opens it. The library checks the sums of a folder's logs only, drops 32 KiB and says
// nothing where one is wrong; it reads tables without, and believes a manifest that lost its end.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Entry, readWriteBatch, sequencesOf } from './entry.js';
import { readRecordFile } from './record-file.js';
import { readTableFile } from './table-file.js';
import { readVersion, type Version } from './version-edit.js';

export interface FolderContent {
  /** Of all files, as far as they can be read; in no order. */
  entries(): Entry[];
  /** Files that are missing or not as they were written. */
  readonly damaged: readonly string[];
  /** Bytes of a write that was under way when the process before this one ended. */
  readonly tornBytes: number;
}

/** What the files of a folder are named after: their number and their kind. */
const FILE = /^(\d+)\.(log|ldb|sst)$/;

/** Empty for a folder that is not there. @throws Error for one that may not be read. */
export async function readLevelFolder(folder: string): Promise<FolderContent> {
  const names = await list(folder);
  const files = names.flatMap((name) => {
    const [, number, kind] = FILE.exec(name) ?? [];
    return number === undefined ? [] : [{ name, number: Number(number), isLog: kind === 'log' }];
  });
  // A folder that was never used may end here: the first manifest comes before the name of it.
  if (files.length === 0 && !names.includes('CURRENT'))
    return { entries: () => [], damaged: [], tornBytes: 0 };
  files.sort((a, b) => a.number - b.number);
  const version = await currentVersion(folder);
  const contents: { entries(): Entry[] }[] = [];
  const damaged: string[] = version === undefined ? ['MANIFEST'] : missing(version, files);
  const counts = ({ number, isLog }: (typeof files)[number]) =>
    version === undefined || (isLog ? number >= version.log : version.tables.has(number));
  let tornBytes = 0;
  let next: number | undefined;
  for (const file of files) {
    const bytes = await read(join(folder, file.name));
    const content = file.isLog ? readLog(bytes, next) : { ...readTableFile(bytes), tornBytes: 0, next };
    contents.push(content);
    if (!counts(file)) continue;
    ({ next } = content);
    // Only what is written last may be unfinished.
    const isNewest = files.findLast(({ isLog }) => isLog) === file;
    if (content.isDamaged || (content.tornBytes > 0 && !isNewest)) damaged.push(file.name);
    if (isNewest) ({ tornBytes } = content);
  }
  return { entries: () => contents.flatMap((content) => content.entries()), damaged, tornBytes };
}

async function list(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Nothing of what the disk cannot read. */
async function read(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EIO' || code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

/** Undefined when nobody can tell. */
async function currentVersion(folder: string): Promise<Version | undefined> {
  const [name] = /^MANIFEST-\d+(?=\n$)/.exec((await read(join(folder, 'CURRENT'))).toString()) ?? [];
  if (name === undefined) return undefined;
  const { records, isDamaged, tornBytes } = readRecordFile(await read(join(folder, name)));
  if (isDamaged || tornBytes > 0 || records.length === 0) return undefined;
  try {
    return readVersion(records);
  } catch {
    return undefined;
  }
}

function missing(version: Version, files: readonly { number: number; isLog: boolean }[]): string[] {
  const has = (number: number, isLog: boolean) =>
    files.some((file) => file.number === number && file.isLog === isLog);
  const tables = [...version.tables].filter((number) => !has(number, false));
  const logs = version.log > 0 && !has(version.log, true) ? [version.log] : [];
  return [...tables.map((number) => `${number}.ldb`), ...logs.map((number) => `${number}.log`)];
}

interface LogFile {
  entries(): Entry[];
  readonly isDamaged: boolean;
  readonly tornBytes: number;
  /** The sequence that the next batch has, where that is known. */
  readonly next: number | undefined;
}

/** Batches are numbered without a gap, so that one that is missing or there twice shows. */
function readLog(bytes: Buffer, expected: number | undefined): LogFile {
  const { records, tornBytes, ...file } = readRecordFile(bytes);
  let { isDamaged } = file;
  let next = expected;
  for (const record of records) {
    try {
      const sequences = sequencesOf(record);
      if (next !== undefined && sequences.first !== next) isDamaged = true;
      ({ next } = sequences);
    } catch {
      isDamaged = true;
    }
  }
  return { entries: () => records.flatMap(entriesOf), isDamaged, tornBytes, next };
}

function entriesOf(record: Buffer): Entry[] {
  try {
    return readWriteBatch(record);
  } catch {
    return [];
  }
}
