// A certificate for loopback that no authority has signed, made by the machine's own `openssl`. One for the whole process.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ConfigError } from '../../base/errors.js';

/** Both as PEM. */
export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** In a file, because the command line for alternative names is not the same in OpenSSL and LibreSSL. */
const CONFIGURATION = `[req]
prompt = no
distinguished_name = name
x509_extensions = extensions
[name]
CN = offhook emulator
[extensions]
subjectAltName = IP:127.0.0.1, DNS:localhost
basicConstraints = critical, CA:TRUE
`;

let made: Promise<Certificate> | undefined;

/** Made at the first call, valid for a day. @throws ConfigError that says what to install. */
export function selfSignedCertificate(): Promise<Certificate> {
  made ??= makeCertificate();
  return made;
}

/** `program` is started without a shell. What it writes is gone from disk when this is settled. @throws ConfigError */
export async function makeCertificate(program = 'openssl'): Promise<Certificate> {
  const folder = await mkdtemp(join(tmpdir(), 'offhook-tls-'));
  const configuration = join(folder, 'openssl.cnf');
  const keyFile = join(folder, 'key.pem');
  const certFile = join(folder, 'cert.pem');
  try {
    await writeFile(configuration, CONFIGURATION);
    const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-sha256', '-days', '1'];
    const files = ['-config', configuration, '-keyout', keyFile, '-out', certFile];
    await promisify(execFile)(program, [...request, ...files]);
    return { key: await readFile(keyFile, 'utf8'), cert: await readFile(certFile, 'utf8') };
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw new ConfigError(
      'CONFIG_INVALID',
      isMissing
        ? `An emulator with "tls" needs the program ${program} for its certificate: install it, or leave "tls" out.`
        : `The program ${program} made no certificate for an emulator with "tls": its complaint is the cause of this error.`,
      { cause },
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
