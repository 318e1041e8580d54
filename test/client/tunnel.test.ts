import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFakeCloudflared, FAKE_HOST, type FakeCloudflared } from '../support/fake-cloudflared.js';
import { ClientBench, until } from '../support/client-bench.js';
import { createPlainCarrier, PlainRest } from '../support/plain-carrier.js';

let bench: ClientBench;

beforeEach(async () => {
  bench = await ClientBench.open();
});
afterEach(() => bench[Symbol.asyncDispose]());

describe('a tunnel', () => {
  let program: FakeCloudflared;
  const useProgram = (...parts: Parameters<typeof createFakeCloudflared>) => {
    program = createFakeCloudflared(...parts);
    vi.stubEnv('PATH', program.folder);
  };
  const serveTunnel = async () => {
    const rest = new PlainRest();
    bench.phone = bench.create({ carrier: createPlainCarrier({ rest }) });
    const server = await bench.serve({ tunnel: true });
    return { rest, server };
  };
  afterEach(async () => {
    await bench.phone.disconnect();
    program[Symbol.dispose]();
    vi.unstubAllEnvs();
  });

  it('leads to the port, is announced, leaves the number alone, and ends with the server', async () => {
    useProgram();
    const { rest, server } = await serveTunnel();
    const { pid, args } = await program.started();
    expect(args).toEqual(['tunnel', '--url', server.url]);
    expect(rest.requests).toEqual([]);
    expect(bench.logger.lines).toContainEqual({
      level: 'info',
      fields: { voiceUrl: `https://${FAKE_HOST}/webhooks/carrier-b/voice` },
      sentence: 'the tunnel is open: point your number at this voice URL',
    });
    expect(bench.warnings().join()).not.toContain('manageWebhook');
    await bench.phone.disconnect();
    await program.gone(pid);
  });

  it('is loud in the log when it is gone, and outbound calls are refused then', async () => {
    useProgram();
    await serveTunnel();
    process.kill((await program.started()).pid, 'SIGKILL');
    await until(async () => bench.logger.sentences('error').length > 0);
    expect(bench.logger.sentences('error')).toEqual([expect.stringContaining('the tunnel closed')]);
    await expect(bench.phone.call({ to: '+15550111' })).rejects.toMatchObject({
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
    await expect(fetch(`http://127.0.0.1:${bench.port}/health`)).rejects.toThrow();
  });

  it('that does not come up leaves nothing listening', async () => {
    useProgram([], 'process.exit(1);');
    await expect(serveTunnel()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await expect(fetch(`http://127.0.0.1:${bench.port}/health`)).rejects.toThrow();
  });

  it('is given up when disconnect is called meanwhile', async () => {
    useProgram([]);
    const serving = expect(serveTunnel()).rejects.toMatchObject({
      code: expect.stringContaining('CONFIG'),
    });
    const { pid } = await program.started();
    await bench.phone.disconnect();
    await serving;
    await program.gone(pid);
  });
});
