// The program that makes certificates for emulators with TLS. A bare machine may lack it: what needs it is then skipped.
import { spawnSync } from 'node:child_process';

export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;
