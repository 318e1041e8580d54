// Reads a manifest: which files of a LevelDB folder count. Source: LevelDB, db/version_edit.cc.
import { ByteReader } from './byte-reader.js';

/** Numbers of files. */
export interface Version {
  /** The oldest log that counts; 0 before there is one. */
  readonly log: number;
  readonly tables: ReadonlySet<number>;
}

/** Edits, one behind the other. @throws RangeError for bytes that are none. */
export function readVersion(edits: readonly Buffer[]): Version {
  const tables = new Set<number>();
  let log = 0;
  for (const edit of edits) {
    const reader = new ByteReader(edit);
    while (reader.left > 0) {
      const tag = reader.varint();
      if (tag === 2) log = reader.varint();
      else readChange(reader, { tag, tables });
    }
  }
  return { log, tables };
}

function readChange(reader: ByteReader, { tag, tables }: { tag: number; tables: Set<number> }): void {
  switch (tag) {
    case 1: // comparator
      reader.slice();
      break;
    case 3: // next file
    case 4: // last sequence
    case 9: // previous log
      reader.varint();
      break;
    case 5: // where compaction goes on
      reader.varint();
      reader.slice();
      break;
    case 6: // a table that goes away
      reader.varint();
      tables.delete(reader.varint());
      break;
    case 7: // a table that comes: level, number, size, first and last key
      reader.varint();
      tables.add(reader.varint());
      reader.varint();
      reader.slice();
      reader.slice();
      break;
    default:
      throw new RangeError('An edit has an unknown tag.');
  }
}
