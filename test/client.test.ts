import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ConfigError } from '../src/base/errors.js';
import { CarrierA } from '../src/carriers/carrier-a/index.js';
import { Offhook } from '../src/client.js';
import type { CallRecord } from '../src/contract/call-record.js';
import type { AgentOptions } from '../src/options/agent.js';
import type { ClientOptions } from '../src/options/client.js';
import type { ServeOptions } from '../src/options/serve.js';
import type { TextToSpeech } from '../src/providers/text-to-speech.js';
import { startCarrierASimulator } from '../src/testing/carrier-a/simulator.js';
import { makeSpeechTones } from '../src/testing/tones.js';
import { createFakeCloudflared, FAKE_HOST, type FakeCloudflared } from './support/fake-cloudflared.js';
import { freePort } from './support/free-port.js';
import { HandDialledCall, ring } from './support/hand-dialled-call.js';
import { createPlainCarrier, PlainRest } from './support/plain-carrier.js';
import { RecordedLogger } from './support/recorded-logger.js';

const AUTH_TOKEN = '0123456789abcdef0123456789abcdef';
const PUBLIC_HOST = 'voice.example.com';
const TONE_MS = 600;

/** Says every sentence as a tone whose pitch is the number at its end. */
const toneVoice: TextToSpeech = {
  name: 'tone',
  open: () => ({
    async *synthesize(text) {
      const hertz = Number(/(\d+)\D*$/.exec(text)?.[1] ?? 0);
      yield Int16Array.from({ length: TONE_MS * 16 }, (_, index) =>
        Math.round(8000 * Math.sin((2 * Math.PI * hertz * index) / 16_000)),
      );
    },
    close() {},
  }),
};

describe('Offhook', () => {
  let logger: RecordedLogger;
  let port: number;
  let phone: Offhook;
  const create = (options: Partial<ClientOptions> = {}) =>
    new Offhook({
      carrier: new CarrierA({ authToken: AUTH_TOKEN }),
      phoneNumber: '+15005550010',
      ...options,
    });
  const serve = (options: Partial<ServeOptions> = {}, agent: AgentOptions = { tts: toneVoice }) =>
    phone.serve({ agent: phone.agent(agent), port, host: '127.0.0.1', logger, dataDir: false, ...options });
  /** Whether the page is built is no business of this room. */
  const warnings = () => logger.sentences('warn').filter((line) => line !== 'dashboard page not built');
  const dialOptions = (caller: string) => ({ port, caller, publicHost: PUBLIC_HOST, authToken: AUTH_TOKEN });
  const dial = (caller: string) => HandDialledCall.dial(dialOptions(caller));

  beforeEach(async () => {
    logger = new RecordedLogger();
    port = await freePort();
    phone = create({ webhookUrl: PUBLIC_HOST });
  });
  afterEach(() => phone.disconnect());

  describe('serve', () => {
    it('resolves when it listens, with its addresses, and warns once of each open door', async () => {
      phone = create();
      const server = await serve({ dashboardToken: undefined });
      expect(server).toEqual({
        port,
        url: `http://127.0.0.1:${port}`,
        dashboardUrl: `http://127.0.0.1:${port}/`,
      });
      expect(await (await fetch(`${server.url}/health`)).json()).toEqual({ status: 'ok', mode: 'local' });
      expect(warnings()).toEqual([
        'the agent does not name these stages: a key in the environment chooses, else the local stack, which is for trying out',
        'dashboard and API are open to whoever reaches one of these addresses: set dashboardToken',
        'manageWebhook skipped: the number is left as it is',
      ]);
      expect(logger.lines.find((line) => line.sentence.startsWith('dashboard and'))?.fields).toEqual({
        addresses: [server.url],
      });
      expect(logger.lines.filter((line) => line.sentence === 'transcoder chosen')).toMatchObject([
        { level: 'info', fields: { backend: expect.stringMatching(/native|wasm|javascript/) } },
      ]);
    });

    it('names what is open without a token, from outside as well', async () => {
      await serve({ manageWebhook: false, dashboardToken: undefined });
      const line = logger.lines.find(({ sentence }) => sentence.startsWith('dashboard and'));
      expect(line?.fields).toEqual({
        addresses: [`http://127.0.0.1:${port}`, `https://${PUBLIC_HOST}`],
      });
    });

    it('says that it shuts down, and when it has', async () => {
      await serve();
      await phone.disconnect();
      expect(logger.lines.slice(-2)).toEqual([
        { level: 'info', fields: { calls: 0 }, sentence: 'shutting down' },
        { level: 'info', fields: {}, sentence: 'shut down' },
      ]);
    });

    it('has nothing to warn of when everything is set', async () => {
      const rest = new PlainRest();
      phone = create({
        carrier: createPlainCarrier({ rest, key: new Uint8Array([1]) }),
        webhookUrl: PUBLIC_HOST,
      });
      const stt = { name: 'stt', open: () => ({ pushAudio() {}, finishUtterance() {}, close() {} }) };
      await serve({ dashboardToken: 's3cret', onMessage: () => '' }, { stt, tts: toneVoice });
      expect(warnings()).toEqual([]);
      const base = `https://${PUBLIC_HOST}/webhooks/carrier-b`;
      expect(rest.requests).toEqual([`setVoiceUrl +15005550010 ${base}/voice ${base}/status`]);
      expect(logger.text).not.toContain('s3cret');
    });

    it('warns of missing secrets, and takes the page away but not the API', async () => {
      phone = create({ carrier: createPlainCarrier({ rest: new PlainRest() }) });
      const server = await serve({ dashboard: false });
      expect(server.dashboardUrl).toBeNull();
      expect(logger.lines.find((line) => line.sentence.startsWith('webhooks are not'))?.fields).toEqual({
        setting: 'PLAIN_SECRET',
      });
      expect((await fetch(server.url)).status).toBe(404);
      expect((await fetch(`${server.url}/api/dashboard/calls`)).status).toBe(200);
    });

    it.each(['slow', 'failing'])('is not held up by a %s carrier', async (trouble) => {
      const rest = new PlainRest();
      if (trouble === 'slow') rest.answer = new Promise(() => {});
      else rest.failure = new Error('500');
      const carrier = createPlainCarrier({ rest, key: new Uint8Array([1]) });
      phone = create({ carrier, webhookUrl: PUBLIC_HOST });
      await serve();
      expect(rest.requests).toHaveLength(1);
    });

    it('leaves the number alone when it is managed elsewhere', async () => {
      const rest = new PlainRest();
      phone = create({ carrier: createPlainCarrier({ rest }), webhookUrl: PUBLIC_HOST });
      await serve({ manageWebhook: false });
      expect(rest.requests).toEqual([]);
      expect(logger.sentences('warn').join()).not.toContain('manageWebhook');
    });

    it('refuses to serve twice, and serves again after disconnect', async () => {
      await serve();
      await expect(serve()).rejects.toMatchObject({ code: 'CONFIG_CONFLICT' });
      await phone.disconnect();
      await serve();
      expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
    });

    it('names a port that is in use, and can be asked again', async () => {
      const other = create();
      await other.serve({
        agent: other.agent({ tts: toneVoice }),
        port,
        host: '127.0.0.1',
        logger,
        dataDir: false,
      });
      await expect(serve()).rejects.toMatchObject({
        code: 'CONFIG_PORT_IN_USE',
        message: expect.stringContaining(String(port)),
      });
      await other.disconnect();
      await serve();
    });

    it('listens on nothing when an option cannot work', async () => {
      await expect(serve({ maxCalls: 0 })).rejects.toBeInstanceOf(ConfigError);
      await expect(serve({ tunnel: true })).rejects.toMatchObject({ code: 'CONFIG_CONFLICT' });
      await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow();
    });
  });

  describe('a tunnel', () => {
    let program: FakeCloudflared;
    const useProgram = (...parts: Parameters<typeof createFakeCloudflared>) => {
      program = createFakeCloudflared(...parts);
      vi.stubEnv('PATH', program.folder);
    };
    const serveTunnel = async () => {
      const rest = new PlainRest();
      phone = create({ carrier: createPlainCarrier({ rest }) });
      const server = await serve({ tunnel: true });
      return { rest, server };
    };
    afterEach(async () => {
      await phone.disconnect();
      program[Symbol.dispose]();
      vi.unstubAllEnvs();
    });

    it('leads to the port, is announced, leaves the number alone, and ends with the server', async () => {
      useProgram();
      const { rest, server } = await serveTunnel();
      const { pid, args } = await program.started();
      expect(args).toEqual(['tunnel', '--url', server.url]);
      expect(rest.requests).toEqual([]);
      expect(logger.lines).toContainEqual({
        level: 'info',
        fields: { voiceUrl: `https://${FAKE_HOST}/webhooks/carrier-b/voice` },
        sentence: 'the tunnel is open: point your number at this voice URL',
      });
      expect(warnings().join()).not.toContain('manageWebhook');
      await phone.disconnect();
      await program.gone(pid);
    });

    it('is loud in the log when it is gone, and outbound calls are refused then', async () => {
      useProgram();
      await serveTunnel();
      process.kill((await program.started()).pid, 'SIGKILL');
      await until(async () => logger.sentences('error').length > 0);
      expect(logger.sentences('error')).toEqual([expect.stringContaining('the tunnel is gone')]);
      await expect(phone.call({ to: '+15550111' })).rejects.toMatchObject({
        code: 'CONFIG_MISSING',
        message: expect.stringContaining('tunnel'),
      });
    });

    it('that is not there leaves nothing listening', async () => {
      useProgram();
      vi.stubEnv('PATH', '/nowhere');
      await expect(serveTunnel()).rejects.toMatchObject({
        code: 'CONFIG_MISSING',
        message: expect.stringContaining('cloudflared'),
      });
      await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow();
    });

    it('that does not come up leaves nothing listening', async () => {
      useProgram([], 'process.exit(1);');
      await expect(serveTunnel()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
      await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow();
    });

    it('is given up when disconnect is called meanwhile', async () => {
      useProgram([]);
      const serving = expect(serveTunnel()).rejects.toMatchObject({
        code: expect.stringContaining('CONFIG'),
      });
      const { pid } = await program.started();
      await phone.disconnect();
      await serving;
      await program.gone(pid);
    });
  });

  describe('commands', () => {
    const commands: [string, (phone: Offhook) => Promise<unknown>][] = [
      ['call', (each) => each.call({ to: '+15550111' })],
      ['hangUp', (each) => each.hangUp('x')],
      ['transfer', (each) => each.transfer('x', '+15550123')],
      ['sendDigits', (each) => each.sendDigits('x', '1')],
    ];

    it.each(commands)('%s needs a running server', async (name, run) => {
      const missing = { code: 'CONFIG_MISSING', message: expect.stringContaining(`${name}()`) };
      await expect(run(phone)).rejects.toMatchObject(missing);
      await serve();
      await phone.disconnect();
      await expect(run(phone)).rejects.toMatchObject(missing);
    });

    it.each(commands.slice(1))('%s knows no call that never was', async (_, run) => {
      await serve();
      await expect(run(phone)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    });

    it('transfer refuses what is no number', async () => {
      await serve();
      await expect(phone.transfer('x', '5550123')).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
    });
  });

  describe('an outbound call', () => {
    const report = (message: object) =>
      fetch(`http://127.0.0.1:${port}/webhooks/carrier-b/status`, {
        method: 'POST',
        body: JSON.stringify(message),
      });

    it('is placed, and one that nobody takes has its record and onCallEnd, but no onCallStart', async () => {
      const rest = new PlainRest();
      phone = create({ carrier: createPlainCarrier({ rest }), webhookUrl: PUBLIC_HOST });
      const heard: string[] = [];
      await serve({
        manageWebhook: false,
        onCallStart: () => void heard.push('start'),
        onCallEnd: ({ outcome }) => void heard.push(`end ${outcome}`),
      });
      const { callId, ended } = await phone.call({ to: '+15550111', ringTimeoutSeconds: 30 });
      expect(rest.dials).toMatchObject([
        {
          callId,
          from: '+15005550010',
          to: '+15550111',
          webhookBaseUrl: `https://${PUBLIC_HOST}/webhooks/carrier-b`,
          ringTimeoutSeconds: 30,
          machineDetection: false,
          recording: false,
        },
      ]);
      const status = { type: 'status', callId, carrierCallId: 'carrier-call-1', sequence: null };
      await report({ ...status, status: 'ringing', outcome: null });
      await report({ ...status, status: 'completed', outcome: 'busy' });
      expect(await ended).toMatchObject({
        callId,
        direction: 'outbound',
        outcome: 'busy',
        caller: '+15005550010',
        callee: '+15550111',
      });
      await until(async () => heard.length > 0);
      expect(heard).toEqual(['end busy']);
    });

    it('is refused with the setting that is missing', async () => {
      const rest = new PlainRest();
      phone = create({ carrier: createPlainCarrier({ rest }) });
      await serve();
      await expect(phone.call({ to: '+15550111' })).rejects.toMatchObject({
        message: expect.stringContaining('webhookUrl'),
      });
      rest.configured = false;
      await expect(phone.call({ to: '+15550111' })).rejects.toMatchObject({
        message: expect.stringContaining('CARRIER_B_API_KEY'),
      });
      await expect(phone.call({ to: '0111' })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
      expect(rest.dials).toEqual([]);
    });
  });

  describe('disconnect', () => {
    it('does nothing before serve, and may be called again', async () => {
      await phone.disconnect();
      await serve();
      await Promise.all([phone.disconnect(), phone.disconnect()]);
      await phone.disconnect();
      await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow();
    });

    it('stops a serve that is still starting', async () => {
      const serving = serve();
      await Promise.all([
        expect(serving).rejects.toMatchObject({ code: 'CONFIG_CONFLICT' }),
        phone.disconnect(),
      ]);
      await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow();
    });

    it('is what disposes of the client', async () => {
      {
        await using disposed = create();
        await disposed.serve({
          agent: disposed.agent({ tts: toneVoice }),
          port,
          host: '127.0.0.1',
          logger,
          dataDir: false,
        });
      }
      await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow();
    });

    it('hangs up through the carrier, then closes with 1001, and tells of the end before it resolves', async () => {
      const accountSid = `AC${'0'.repeat(32)}`;
      const simulator = await startCarrierASimulator({
        url: `http://127.0.0.1:${port}`,
        accountSid,
        authToken: AUTH_TOKEN,
        unknownCalls: 'accept',
      });
      const carrier = new CarrierA({ accountSid, authToken: AUTH_TOKEN, baseUrl: simulator.url });
      phone = create({ carrier, webhookUrl: PUBLIC_HOST });
      const ended: CallRecord[] = [];
      await serve({
        manageWebhook: false,
        onCallEnd: async (record) => {
          await new Promise((resolve) => setTimeout(resolve, 20));
          ended.push(record);
        },
      });
      const calls = [await dial('+15550111'), await dial('+15550112')];
      await until(async () => (await active(port)).length === 2);
      const hungUpAtClose = calls.map(async ({ closed }) => {
        await closed;
        return simulator.requests.map(({ path }) => path);
      });
      await phone.disconnect();
      expect(ended.map(({ endReason, outcome }) => [endReason, outcome])).toEqual([
        ['server-shutdown', 'answered'],
        ['server-shutdown', 'answered'],
      ]);
      for (const [index, call] of calls.entries()) {
        expect(await call.closed).toEqual({ code: 1001, reason: 'Server shutting down' });
        const paths = (await hungUpAtClose[index])?.join() ?? '';
        for (const { callSid } of calls) expect(paths).toContain(callSid);
      }
      await simulator.close();
    });

    it('does not wait for an onCallEnd that never returns', async () => {
      await serve({ drainSeconds: 0.2, onCallEnd: () => new Promise(() => {}) });
      const call = await dial('+15550111');
      await until(async () => (await active(port)).length === 1);
      await phone.disconnect();
      await call.closed;
    });
  });

  describe('a call', () => {
    it('goes from bell to goodbye, and two at once stay apart', async () => {
      const ended = new Map<string, CallRecord>();
      const started: string[] = [];
      const said: string[] = [];
      await serve(
        {
          onMessage: ({ text, caller }) => `You said ${text}. Your pitch is ${caller.slice(-3)}0`,
          onCallStart: ({ caller }) => void started.push(caller),
          onTranscript: ({ role, text, caller }) => void said.push(`${caller} ${role}: ${text}`),
          onCallEnd: (record) => void ended.set(record.caller, record),
        },
        { tts: toneVoice, systemPrompt: 'Be brief.' },
      );
      const callers = ['+15550040', '+15550090'];
      const calls = await Promise.all(callers.map(dial));
      await Promise.all(
        calls.map(async (call, index) => {
          call.tell(`words ${index}`);
          await call.speak(makeSpeechTones(1000));
          const answer = until(async () => loudSamples(call.heard).length >= 8 * (TONE_MS - 100));
          await Promise.race([answer, call.speak(new Int16Array(8000 * 8))]);
          await answer;
          // What was sent ahead takes this long to be heard.
          await call.speak(new Int16Array(8 * 400));
          call.hangUp();
          await call.closed;
        }),
      );
      await until(async () => ended.size === 2);

      expect([...started].sort()).toEqual(callers);
      for (const [index, caller] of callers.entries()) {
        const pitch = Number(caller.slice(-3)) * 10;
        expect(Math.abs(pitchOf(loudSamples(calls[index]?.heard ?? new Int16Array())) - pitch)).toBeLessThan(
          20,
        );
        const record = ended.get(caller);
        expect(record).toMatchObject({
          status: 'completed',
          endReason: 'caller-hangup',
          outcome: 'answered',
          carrierCallId: calls[index]?.callSid,
          callee: '+15005550010',
          media: { unexpectedMessages: 0 },
        });
        const transcript = record?.transcript.map(({ role, text }) => `${caller} ${role}: ${text}`) ?? [];
        expect(transcript[0]).toBe(`${caller} user: words ${index}`);
        expect(transcript[1]).toContain(`agent: You said words ${index}`);
        expect(said).toEqual(expect.arrayContaining(transcript.slice(0, 1)));
      }
      expect(logger.text).not.toMatch(/\+155500|words \d/);
    });

    it('whatever one stream sends, the other goes on', async () => {
      await serve();
      const [broken, whole] = [await dial('+15550111'), await dial('+15550112')];
      await until(async () => (await active(port)).length === 2);
      const noise = [
        '',
        '{',
        'null',
        '[]',
        '{"event":"media"}',
        '{"event":"media","media":{"payload":"%%%"}}',
      ];
      for (const text of noise) broken.sendRaw(text);
      broken.sendRaw(new Uint8Array(100));
      for (let count = 0; count < 1000; count += 1) broken.sendRaw(`{"event":"${'x'.repeat(100)}"}`);
      expect((await broken.closed).code).toBe(1008);
      whole.sendAudio(new Uint8Array(160).fill(0xff));
      await until(async () => {
        const [call] = await active(port);
        return call?.caller === '+15550112' && (await finished(port)).length === 1;
      });
      expect(await finished(port)).toMatchObject([{ caller: '+15550111', endReason: 'protocol-error' }]);
      whole.hangUp();
      await whole.closed;
    });

    it('over the limit gets the busy answer and a record, and the one that is up does not notice', async () => {
      await serve({ maxCalls: 1 });
      const call = await dial('+15550111');
      await until(async () => (await active(port)).length === 1);
      const refused = await ring(dialOptions('+15550112'), `CA${'1'.repeat(32)}`);
      expect(await refused.text()).toContain('busy');
      await until(async () => (await finished(port)).length === 1);
      expect(await finished(port)).toMatchObject([
        { caller: '+15550112', outcome: 'busy', endReason: 'over-capacity' },
      ]);
      expect(await active(port)).toHaveLength(1);
      call.hangUp();
      await call.closed;
    });
  });
});

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20));
}

async function active(port: number): Promise<CallRecord[]> {
  return calls(port, 'active');
}

async function finished(port: number): Promise<CallRecord[]> {
  return calls(port, 'calls?status=completed');
}

async function calls(port: number, path: string): Promise<CallRecord[]> {
  const response = await fetch(`http://127.0.0.1:${port}/api/dashboard/${path}`);
  const body: { calls: CallRecord[] } = JSON.parse(await response.text());
  return body.calls;
}

/** What of 8 kHz PCM is no silence. */
function loudSamples(pcm: Int16Array): Int16Array {
  const first = pcm.findIndex((sample) => Math.abs(sample) > 1000);
  const last = pcm.findLastIndex((sample) => Math.abs(sample) > 1000);
  return first === -1 ? new Int16Array() : pcm.subarray(first, last + 1);
}

/** Hertz of a tone, by the rising zero crossings of 400 ms of it. */
function pitchOf(pcm: Int16Array): number {
  const part = pcm.subarray(0, 3200);
  let rises = 0;
  for (let index = 1; index < part.length; index += 1) {
    if ((part[index - 1] ?? 0) < 0 && (part[index] ?? 0) >= 0) rises += 1;
  }
  return rises / (part.length / 8000);
}
