// A PostgreSQL of a test's own: a cluster in a temporary folder, reached by a socket in it, and gone with the test.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from 'pg';

/** Paths of the programs. */
export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
}

export class PostgresCluster {
  readonly #postgres: string;
  readonly #user: { uid?: number; gid?: number };
  readonly #folder: string;
  #server: ChildProcess | undefined;

  static async start({ initdb, postgres }: PostgresPrograms): Promise<PostgresCluster> {
    const cluster = new PostgresCluster(postgres);
    cluster.#initialize(initdb);
    await cluster.start();
    return cluster;
  }

  private constructor(postgres: string) {
    this.#postgres = postgres;
    // PostgreSQL refuses to run as root. Debian's package makes this user.
    const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
    this.#user = process.getuid?.() === 0 ? { uid: id('-u'), gid: id('-g') } : {};
    this.#folder = mkdtempSync(join(tmpdir(), 'offhook-pg-'));
    const { uid, gid } = this.#user;
    if (uid !== undefined && gid !== undefined) chownSync(this.#folder, uid, gid);
  }

  get url(): string {
    return this.urlOf('postgres');
  }

  urlOf(database: string): string {
    return `postgres://postgres@/${database}?host=${encodeURIComponent(this.#folder)}`;
  }

  /** Makes an empty database of that name. */
  async create(database: string): Promise<void> {
    const client = new Client(this.url);
    await client.connect();
    await client.query(`CREATE DATABASE "${database}"`);
    await client.end();
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }

  #initialize(initdb: string): void {
    const flags = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
    execFileSync(initdb, ['-D', this.#data, ...flags], {
      ...this.#user,
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }

  /** Resolves when it takes connections. */
  async start(): Promise<void> {
    const settings = ['-c', 'listen_addresses=', '-c', 'fsync=off', '-k', this.#folder];
    const server = spawn(this.#postgres, ['-D', this.#data, ...settings], {
      ...this.#user,
      cwd: this.#folder,
      env: { ...process.env, LC_ALL: 'C' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#server = server;
    process.once('exit', this.#kill);
    const said: string[] = [];
    for await (const line of createInterface(server.stderr)) {
      said.push(line);
      if (line.includes('ready to accept connections')) {
        // What it says from now on is read by nobody, and must not stop it.
        server.stderr.resume();
        return;
      }
    }
    throw new Error(`PostgreSQL did not start:\n${said.join('\n')}`);
  }

  /** At once, as if its machine had failed: connections break, and what is committed is there after the next `start`. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    process.off('exit', this.#kill);
    const over = server.exitCode === null && server.signalCode === null ? once(server, 'exit') : undefined;
    server.kill('SIGQUIT');
    await over;
  }

  async close(): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  readonly #kill = () => void this.#server?.kill('SIGQUIT');
}
