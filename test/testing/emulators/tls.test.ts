// An emulator that serves TLS alone.
import { readdirSync } from 'node:fs';
import { Agent, get } from 'node:https';
import { text } from 'node:stream/consumers';
import { expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { ConfigError } from '../../../src/base/errors.js';
import { makeCertificate } from '../../../src/testing/emulators/self-signed-certificate.js';
import { emulateChatCompletions, emulateDeepgram, type Emulator } from '../../../src/testing/index.js';
import { makeFolder } from '../../support/data-folder.js';
import { describeNeeding } from '../../support/describe-needing.js';
import { hasOpenssl } from '../../support/openssl.js';
import { soon } from '../../support/soon.js';
import { closedAfterTest } from '../../support/closed-after-test.js';

const headers = { authorization: 'Bearer test-key' };
const LISTEN = '/v1/listen?model=nova-3&encoding=linear16&sample_rate=16000';

const start = async (): Promise<Emulator> => closedAfterTest(await emulateChatCompletions({ tls: true }));

/** The body, by a client that trusts the certificate; rejects with what went wrong. */
function read(
  emulator: Emulator,
  { ca = emulator.certificate, path = '/v1/models' }: { ca?: string | undefined; path?: string } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const agent = new Agent(ca === undefined ? {} : { ca });
    get(`${emulator.url}${path}`, { agent, headers }, (response) => resolve(text(response))).on(
      'error',
      reject,
    );
  });
}

describeNeeding('openssl', hasOpenssl)('an emulator with tls', () => {
  it('answers https, with a certificate that a client can be told to trust', async () => {
    const emulator = await start();
    expect(emulator.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    expect(await read(emulator)).toContain('"list"');
    await expect(read(emulator, { ca: '' })).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    await expect(fetch(emulator.url.replace('https', 'http'))).rejects.toThrow();
  });

  it('has the one certificate of the process', async () => {
    const [one, other] = [await start(), await start()];
    expect(one.certificate).toMatch(/^-----BEGIN CERTIFICATE-----/);
    expect(other.certificate).toBe(one.certificate);
  });

  it('has none, and an http address, without', async () => {
    const emulator = closedAfterTest(await emulateChatCompletions());
    expect([emulator.certificate, emulator.url.slice(0, 5)]).toEqual([undefined, 'http:']);
  });

  it('speaks wss, in segments as small as it is told, and stands still', async () => {
    const emulator = closedAfterTest(await emulateDeepgram({ tls: true }));
    const socket = new WebSocket(`${emulator.url.replace('http', 'ws')}${LISTEN}`, {
      headers,
      ca: emulator.certificate,
    });
    const told: string[] = [];
    socket.on('message', (data) => told.push(String(data)));
    let pieces = 0;
    socket.on('upgrade', (response) => response.socket.on('data', () => (pieces += 1)));
    await soon(() => expect(emulator.openSockets).toBe(1));
    emulator.troubles = { segmentBytes: 4 };
    emulator.sendAll('{"type":"Metadata","n":1}');
    await soon(() => expect(told).toEqual(['{"type":"Metadata","n":1}']));
    // A machine that stands still joins some of them.
    expect(pieces).toBeGreaterThan(2);
    emulator.freeze();
    emulator.sendAll('{"n":2}');
    let hasEnded = false;
    socket.on('close', () => {
      hasEnded = true;
    });
    emulator.disconnectAll();
    await soon(() => expect(hasEnded).toBe(true));
    expect(told).toHaveLength(1);
  });

  it('resets the connection of a request', async () => {
    const emulator = await start();
    emulator.resetNext();
    await expect(read(emulator, { path: '/v1' })).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await read(emulator)).toContain('"list"');
  });

  it('names the program that is missing, or that complains, and leaves no file behind', async () => {
    const folder = await makeFolder();
    vi.stubEnv('TMPDIR', folder);
    const missing = makeCertificate('no-such-openssl');
    await expect(missing).rejects.toThrow(ConfigError);
    await expect(missing).rejects.toThrow(
      /needs the program no-such-openssl .*install it, or leave "tls" out/,
    );
    await expect(makeCertificate('false')).rejects.toThrow(/false made no certificate/);
    expect((await makeCertificate()).key).toMatch(/^-----BEGIN PRIVATE KEY-----/);
    expect(readdirSync(folder)).toEqual([]);
    vi.unstubAllEnvs();
  });
});
