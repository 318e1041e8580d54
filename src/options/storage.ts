// Where calls are kept: the option `dataDir`.
import { ConfigError } from '../base/errors.js';

const DEFAULT_DATA_DIR = '.offhook';

/** The folder, or false for memory only. @throws ConfigError */
export function checkDataDir(value: unknown): string | false {
  if (value === undefined) return DEFAULT_DATA_DIR;
  const isFolder = typeof value === 'string' && value.trim() !== '' && !value.includes('\0');
  if (isFolder || value === false) return value;
  throw new ConfigError(
    'CONFIG_INVALID',
    'dataDir must be the path of a folder, or false to keep calls in memory only.',
  );
}
