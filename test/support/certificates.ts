// An authority of a test's own, and certificates that it gives out, made by the machine's `openssl`.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where both stand, as PEM. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

export class Authority implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'offhook-authority-'));
  readonly #openssl: string;
  readonly #key = join(this.#folder, 'ca.key');
  /** Its own certificate, for `NODE_EXTRA_CA_CERTS`. */
  readonly file = join(this.#folder, 'ca.pem');
  #made = 0;

  constructor(openssl: string) {
    this.#openssl = openssl;
    const own = ['-subj', '/CN=authority of a test', '-keyout', this.#key, '-out', this.file];
    this.#run(['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-sha256', '-days', '1', ...own]);
  }

  /** `names`: as in `subjectAltName`. Of one for -1 days, the time is over. */
  certify(names = 'IP:127.0.0.1,DNS:localhost', days = 1): CertificateFiles {
    this.#made += 1;
    const path = (name: string) => join(this.#folder, `${this.#made}.${name}`);
    const [cert, key, asked, names_] = ['pem', 'key', 'csr', 'names'].map(path) as [
      string,
      string,
      string,
      string,
    ];
    writeFileSync(names_, `subjectAltName=${names}\n`);
    this.#run([
      'req',
      '-new',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-subj',
      '/CN=test',
      '-keyout',
      key,
      '-out',
      asked,
    ]);
    const by = ['-CA', this.file, '-CAkey', this.#key, '-CAcreateserial', '-extfile', names_];
    this.#run(['x509', '-req', '-in', asked, ...by, '-days', String(days), '-out', cert]);
    return { cert, key };
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #run(args: readonly string[]): void {
    execFileSync(this.#openssl, args, { stdio: 'pipe' });
  }
}

export const pemOf = ({ cert, key }: CertificateFiles) => ({
  cert: readFileSync(cert, 'utf8'),
  key: readFileSync(key, 'utf8'),
});
