import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CARRIERS } from '../../src/carriers/index.js';
import { FLITE_VOICES } from '../../src/providers/tts/flite/flite.js';
import { makeSpeechTones } from '../../src/testing/tones.js';
import { readWav, writeWav } from '../../src/testing/wav.js';
import { transcoder } from '../../src/transcoder/select.js';
import packageFile from '../../package.json' with { type: 'json' };
import { startFakeServer, type FakeServerOptions } from '../testing/fake-phone-server.js';
import { itRefusesArguments, runCommand } from './run-command.js';

const run = (...args: string[]) => runCommand(args);

describe('offhook', () => {
  it('says its version and its commands', async () => {
    expect(await run('--version')).toMatchObject({ code: 0, out: packageFile.version });
    const help = await run('--help');
    expect(help.code).toBe(0);
    expect(help.out).toMatch(
      /demo[\s\S]*init[\s\S]*dashboard[\s\S]*status[\s\S]*drain[\s\S]*simulate[\s\S]*doctor/,
    );
    expect((await run('doctor', '--help')).out).toMatch(/--webhook-host[\s\S]*--request[\s\S]*Exit codes/);
    expect((await run('simulate', '--help')).out).toMatch(/--wav[\s\S]*--text[\s\S]*Exit codes/);
  });

  it.each(['', 'demo', 'init', 'dashboard', 'status', 'drain', 'simulate', 'doctor'])(
    'keeps the help of "%s" within 80 columns',
    async (command) => {
      const { out } = await run(...(command === '' ? [] : [command]), '--help');
      expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
    },
  );

  it.each(['init', 'simulate'])('%s says which firms the carriers are', async (command) => {
    const help = (await run(command, '--help')).out.replaceAll(/\s+/g, ' ');
    for (const [id, { vendor }] of CARRIERS) expect(help).toContain(`${id} is ${vendor}`);
  });

  it('offers every voice that there is', async () => {
    const help = (await run('simulate', '--help')).out.replaceAll(/\s+/g, ' ');
    expect(help).toContain(`choices: ${FLITE_VOICES.map((voice) => `"${voice}"`).join(', ')}`);
  });

  itRefusesArguments(run, [
    [['dance'], /unknown command/],
    [['simulate', '--loud'], /unknown option/],
    [['simulate', '--calls', '0'], /whole number from 1 to 200/],
    [['simulate', '--calls', '201'], /whole number from 1 to 200/],
    [['simulate', '--calls', '1e2'], /whole number/],
    [['simulate', '--max-duration', '-5'], /whole number/],
    [['simulate', '--url', 'nowhere'], /--url/],
    [['simulate', '--url', 'ftp://127.0.0.1'], /http or https/],
    [['simulate', '--wav', '/does/not/exist.wav'], /cannot be read \(ENOENT\)/],
    [['simulate', '--wav', 'package.json'], /package\.json: Not a usable WAV file/],
    [['simulate', '--text', '@/does/not/exist'], /cannot be read/],
    [['simulate', '--out', '/does/not/exist.wav'], /cannot be written \(ENOENT\)/],
    [['simulate', '--report', '/does/not/exist.json'], /cannot be written \(ENOENT\)/],
    [['simulate', '--text', '  '], /--text is empty/],
    [['simulate', '--webhook-host', 'https://voice.example'], /webhook host/],
    [['simulate', '--to', '555'], /--to must be a phone number/],
    [
      ['simulate', '--url', 'http://127.0.0.1:8000/webhooks'],
      /http:\/\/127\.0\.0\.1:8000, without \/webhooks/,
    ],
    [['simulate', '--voice', 'opera'], /Allowed choices are slt, kal16, awb, rms, kal/],
    [['demo', '--port', '0'], /from 1 to 65535/],
    [['demo', '--port', '65536'], /from 1 to 65535/],
    [['demo', '--nodes', '1'], /from 2 to 5/],
    [['demo', '--nodes', '6'], /from 2 to 5/],
    [['demo', '--nodes', '2', '--kill'], /cannot be used with/],
    [['demo', '--broker', 'redis://127.0.0.1:6379'], /--broker goes with --nodes/],
  ]);

  it('calls a PORT that is none a usage error', async () => {
    vi.stubEnv('PORT', 'eighty');
    const { code, errors } = await run('demo');
    vi.unstubAllEnvs();
    expect([code, errors]).toEqual([2, expect.stringContaining('PORT')]);
  });
});

describe('offhook simulate', () => {
  const closers: (() => Promise<void>)[] = [];
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'offhook-cli-'));
  });
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
    await rm(folder, { recursive: true });
  });

  /** Greets for 200 ms, and answers the caller's first second of call with 200 ms more. */
  async function startServer(options: FakeServerOptions = {}) {
    const greeting = transcoder.mulawEncode(makeSpeechTones(200));
    let frames = 0;
    const server = await startFakeServer({
      onStart: (stream) => stream.play(greeting),
      onMessage(message, stream) {
        if (message.event === 'media') frames += 1;
        if (frames === 125) stream.play(greeting);
      },
      ...options,
    });
    closers.push(() => server.close());
    return server;
  }

  it('calls with a WAV file, and leaves a report and a recording', async () => {
    const server = await startServer();
    const wav = join(folder, 'caller.wav');
    const speech = makeSpeechTones(500);
    await writeFile(
      wav,
      writeWav({
        sampleRateHz: 44_100,
        channels: [Int16Array.from({ length: 22_050 }, (_, i) => speech[Math.floor((i * 8) / 44.1)] ?? 0)],
      }),
    );
    const [out, report] = [join(folder, 'call.wav'), join(folder, 'report.json')];
    const result = await run(
      'simulate',
      '--url',
      server.url,
      '--wav',
      wav,
      '--out',
      out,
      '--report',
      report,
      '--auth-token',
      'secret',
      '--webhook-host',
      'voice.example',
    );
    expect(result).toMatchObject({ code: 0, errors: '' });
    expect(result.out).toMatch(
      /answered[\s\S]*answered after[\s\S]*first agent audio[\s\S]*turn 1[\s\S]*the caller hung up/,
    );
    const written = JSON.parse(await readFile(report, 'utf8'));
    expect(written).toMatchObject({
      ok: true,
      recording: out,
      frames: { received: 20 },
      turns: [{ responseMs: expect.any(Number) }],
    });
    expect(readWav(await readFile(out)).channels).toHaveLength(2);
    expect(server.webhooks[0]?.headers).toMatchObject({
      host: 'voice.example',
      'x-twilio-signature': expect.stringMatching(/^.{27}=$/),
    });
    expect(server.messages.some(({ event }) => event === 'spoken-text')).toBe(false);
  });

  it('fails with the reason when the call is refused', async () => {
    const server = await startServer({ status: 403 });
    const { code, out } = await run('simulate', '--url', server.url);
    expect(out).toMatch(/not answered: refused[\s\S]*403/);
    expect(code).toBe(1);
  });

  it('makes several calls at a time and sums them up', async () => {
    const server = await startServer({ refuseUpgrade: 429 });
    const { code, out } = await run(
      'simulate',
      '--url',
      server.url,
      '--calls',
      '3',
      '--json',
      '--from',
      '+15005550199',
    );
    const { summary, calls } = JSON.parse(out);
    expect(summary).toMatchObject({ calls: 3, ok: 0, failed: 3, responseP50Ms: null });
    expect(calls).toHaveLength(3);
    expect(new Set(server.webhooks.map(({ form }) => form.get('CallSid'))).size).toBe(3);
    expect(server.webhooks[0]?.form.get('From')).toBe('+15005550199');
    expect(code).toBe(1);
  });
});
