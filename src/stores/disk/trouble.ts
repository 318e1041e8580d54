// What may be wrong with a data folder, in the words of who has to mend it.
import { OffhookError, StoreError } from '../../base/errors.js';

interface Trouble {
  readonly sign: RegExp;
  readonly sentence: (folder: string) => string;
}

const TROUBLES: readonly Trouble[] = [
  {
    sign: /LEVEL_LOCKED/,
    sentence: (folder) =>
      `Another process uses ${folder}: stop it, or give this one a data folder of its own.`,
  },
  {
    sign: /ENOSPC|EDQUOT|No space left|quota exceeded|File too large/i,
    sentence: (folder) => `The disk of ${folder} is full: make space.`,
  },
  {
    sign: /EACCES|EPERM|EROFS|Permission denied|Read-only|Operation not permitted/i,
    sentence: (folder) =>
      `${folder} cannot be written: make it writable for this user, or give another data folder.`,
  },
  {
    sign: /ENOTDIR|EEXIST|Not a directory/i,
    sentence: (folder) => `${folder} is not a folder: move what is there away, or give another data folder.`,
  },
  {
    sign: /ELOOP|ENAMETOOLONG|ENOENT/,
    sentence: (folder) => `${folder} cannot be made there: give another data folder.`,
  },
  {
    sign: /No native build|Cannot find (module|package)|ERR_DLOPEN/i,
    sentence: (folder) =>
      `classic-level, which writes ${folder}, does not run on this system: install it, or keep calls in memory.`,
  },
  {
    sign: /LEVEL_CORRUPTION/,
    sentence: (folder) => `${folder} is damaged: move it away and start again.`,
  },
];

/** The error as one that names the folder and the fix. One of ours does already. */
export function toStoreError(error: unknown, folder: string): OffhookError {
  if (error instanceof OffhookError) return error;
  const story = tell(error);
  const trouble = TROUBLES.find(({ sign }) => sign.test(story));
  if (trouble !== undefined) return new StoreError(trouble.sentence(folder), { cause: error });
  return new StoreError(`${folder} could not be read or written: check the disk.`, { cause: error });
}

/** Codes and messages of an error and of what caused it. */
function tell(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const { code } = error as { code?: unknown };
  return `${String(code ?? '')} ${error.message} ${tell(error.cause)}`;
}
