// Seals what leaves the process for the broker or for another node: AES-256-GCM, one key a call, and what it is about bound to it. Who cannot open it
// learns nothing, and what was changed, or stands in the place of something else, does not open.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomFillSync,
  timingSafeEqual,
} from 'node:crypto';
import { ConfigError } from '../base/errors.js';
import { Oldest } from '../base/oldest.js';

const CIPHER = 'aes-256-gcm';
const VERSION = 1;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
/** Drawn at once. */
const NONCES = 256;
const TAG_BYTES = 16;
/** Version, time and nonce stand before what is sealed. */
const HEAD_BYTES = 1 + 8 + NONCE_BYTES;
const SHORTEST_SECRET_BYTES = 32;
/** Keys that are remembered. */
const MAX_KEYS = 4096;
/** Of a name that says nothing. 96 bits: no two of them are ever the same. */
const NAME_BYTES = 12;

/** What something sealed is about. It opens for no other. */
export interface SealedAbout {
  readonly type: string;
  /** Its ID, or what else has a key of its own. */
  readonly call: string;
  readonly term: number;
}

export interface Opened {
  readonly plain: Buffer;
  /** When it was sealed, by the clock of who has sealed it: epoch milliseconds. */
  readonly at: number;
}

interface CallKey {
  readonly bytes: Buffer;
}

/** Random bytes, of which many are asked for at once: asking the system costs more than sealing a fact does. */
class Nonces {
  readonly #pool = Buffer.alloc(NONCES * NONCE_BYTES);
  #at = this.#pool.length;

  /** Valid until the next one is taken. */
  take(): Buffer {
    if (this.#at === this.#pool.length) {
      randomFillSync(this.#pool);
      this.#at = 0;
    }
    this.#at += NONCE_BYTES;
    return this.#pool.subarray(this.#at - NONCE_BYTES, this.#at);
  }
}

export class ClusterSeal {
  readonly #secret: Buffer;
  readonly #keys = new Map<string, CallKey>();
  readonly #oldest = new Oldest(this.#keys);
  readonly #proofKey: Buffer;
  readonly #nonces = new Nonces();

  /** @throws ConfigError for a secret that is too short */
  constructor(secret: string) {
    this.#secret = Buffer.from(secret, 'utf8');
    this.#proofKey = this.#derived('offhook cluster proof');
    if (this.#secret.length >= SHORTEST_SECRET_BYTES) return;
    throw new ConfigError(
      'CONFIG_INVALID',
      `cluster.secret must have at least ${SHORTEST_SECRET_BYTES} bytes, and is the same for the whole cluster. Make one with: openssl rand -base64 32`,
    );
  }

  /** `at`: epoch milliseconds. The nonce is random: a key would have to seal 2^32 times before two could meet. Source: NIST SP 800-38D, section 8.3. */
  seal(about: SealedAbout, plain: Uint8Array | string, at: number): Buffer {
    const head = Buffer.alloc(HEAD_BYTES);
    head[0] = VERSION;
    head.writeDoubleBE(at, 1);
    const nonce = this.#nonces.take();
    head.set(nonce, 1 + 8);
    const cipher = createCipheriv(CIPHER, this.#keyOf(about.call), nonce);
    cipher.setAAD(boundTo(about, at));
    const sealed = typeof plain === 'string' ? cipher.update(plain, 'utf8') : cipher.update(plain);
    return Buffer.concat([head, sealed, cipher.final(), cipher.getAuthTag()]);
  }

  /** Undefined for what was not sealed about this with the same secret. */
  open(about: SealedAbout, sealed: Uint8Array): Opened | undefined {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
    if (bytes.length < HEAD_BYTES + TAG_BYTES || bytes[0] !== VERSION) return undefined;
    const at = bytes.readDoubleBE(1);
    const decipher = createDecipheriv(CIPHER, this.#keyOf(about.call), bytes.subarray(1 + 8, HEAD_BYTES));
    decipher.setAAD(boundTo(about, at));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const plain = decipher.update(bytes.subarray(HEAD_BYTES, -TAG_BYTES));
      // It checks the tag: a cipher that streams has nothing left to give.
      decipher.final();
      return { plain, at };
    } catch {
      return undefined;
    }
  }

  /** The same for every node, and nobody else can tell from it what it stands for. */
  nameFor(text: string): string {
    const digest = createHmac('sha256', this.#secret).update(`offhook cluster name ${text}`).digest();
    return digest.subarray(0, NAME_BYTES).toString('base64url');
  }

  /** Shows who has the same secret that `text`, which everybody can read, is from one who has it. */
  proofOf(text: string): string {
    return createHmac('sha256', this.#proofKey).update(text).digest('base64url');
  }

  isProven(text: string, proof: string): boolean {
    const [expected, given] = [Buffer.from(this.proofOf(text), 'latin1'), Buffer.from(proof, 'latin1')];
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  #keyOf(call: string): Buffer {
    const known = this.#keys.get(call);
    if (known !== undefined) return known.bytes;
    const bytes = this.#derived(`offhook cluster call ${call}`);
    this.#keys.set(call, { bytes });
    const oldest = this.#keys.size > MAX_KEYS ? this.#oldest.find() : undefined;
    if (oldest !== undefined) this.#keys.delete(oldest[0]);
    return bytes;
  }

  /** Source: RFC 5869 (HKDF). */
  #derived(info: string): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#secret, '', info, KEY_BYTES));
  }
}

function boundTo({ type, call, term }: SealedAbout, at: number): Buffer {
  return Buffer.from(JSON.stringify([VERSION, type, call, term, at]), 'utf8');
}
