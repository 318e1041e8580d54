// Input that nobody should send, the same in every run.
import { seededRandom } from '../seeded-random.js';

/** Texts that are no message of anybody. */
export const GARBAGE_TEXTS: readonly string[] = [
  '',
  ' ',
  '\u0000',
  'null',
  'true',
  '0',
  '"text"',
  '[]',
  '{}',
  '{"event":',
  '{"event":null}',
  '{"event":{}}',
  '{"event":"media"}',
  '{"event":"media","media":null}',
  '{"event":"media","media":{"payload":7}}',
  '{"event":"media","media":{"payload":"*"}}',
  '{"event":"start","start":[]}',
  '{"event":"__proto__"}',
  '{"__proto__":{"event":"stop"}}',
  '{"data":null}',
  '{"data":{"event_type":7,"payload":[]}}',
  '='.repeat(10),
  '&&&===&&&',
  '%',
  '%zz=%',
  'a=1&a=2&a[]=3',
  '<xml/>',
  `${'['.repeat(2000)}${']'.repeat(2000)}`,
  `{"event":"${'x'.repeat(50_000)}"}`,
  '\uD800',
  '\uFEFF{}',
];

/** Bytes that are no text. */
export const GARBAGE_BYTES: readonly Uint8Array[] = [
  new Uint8Array([0xff, 0xfe, 0x00, 0x80]),
  new Uint8Array([0x7b, 0xc3, 0x28, 0x7d]),
  Uint8Array.from({ length: 512 }, (_, index) => index % 256),
];

/** The input cut short, and with single bytes changed: 40 variants. */
export function mutate(bytes: Uint8Array): Uint8Array[] {
  const random = seededRandom(bytes.length);
  const below = (limit: number) => Math.floor(random() * limit);
  return Array.from({ length: 40 }, (_, index) => {
    if (index % 4 === 0) return bytes.slice(0, below(bytes.length + 1));
    const changed = bytes.slice();
    if (changed.length > 0) changed[below(changed.length)] = below(256);
    return changed;
  });
}
