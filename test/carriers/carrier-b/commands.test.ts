import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CarrierError } from '../../../src/base/errors.js';
import { createCommands } from '../../../src/carriers/carrier-b/commands.js';
import { RestClient } from '../../../src/carriers/carrier-b/rest-client.js';
import type { CarrierCommands } from '../../../src/carriers/carrier.js';
import { HandTiming, OK, type RestServer, refusal, startRestServer } from './rest-server.js';

const ID = 'v3:a/b==';
const ACTIONS = '/v2/calls/v3%3Aa%2Fb%3D%3D/actions';
const UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const STATE = Buffer.from('{"callId":"call-1"}').toString('base64');

let server: RestServer;
let commands: CarrierCommands;

beforeEach(async () => {
  server = await startRestServer();
  commands = createCommands(new RestClient({ baseUrl: server.url, apiKey: 'KEY1' }, new HandTiming()));
});
afterEach(() => server.close());

const paths = () => server.seen.map(({ path }) => path?.slice(ACTIONS.length + 1));

describe('answer', () => {
  it('answers, and leaves our id with the leg', async () => {
    server.replies = [OK];
    await commands.answer(ID, { callId: 'call-1' });
    expect(server.seen).toMatchObject([{ method: 'POST', path: `${ACTIONS}/answer` }]);
    expect(server.seen[0]?.body).toEqual({ client_state: STATE, command_id: UUID });
  });

  it('says that the caller is gone', async () => {
    server.replies = [refusal(422, '90018')];
    await expect(commands.answer(ID, { callId: 'call-1' })).rejects.toMatchObject({
      status: 422,
      retryable: false,
    });
  });

  it('is repeated under the same id when its answer is lost', async () => {
    server.replies = ['cut', { status: 503, body: '' }, OK];
    await commands.answer(ID, { callId: 'call-1' });
    expect(new Set(server.seen.map(({ body }) => body.command_id)).size).toBe(1);
    expect(server.seen).toHaveLength(3);
  });
});

describe('reject', () => {
  it.each([
    ['busy', 'USER_BUSY'],
    ['rejected', 'CALL_REJECTED'],
  ] as const)('turns a caller away: %s', async (reason, cause) => {
    server.replies = [OK];
    await commands.reject(ID, reason);
    expect(paths()).toEqual(['reject']);
    expect(server.seen[0]?.body).toEqual({ cause, command_id: UUID });
  });

  it('is content with a caller who is gone', async () => {
    server.replies = [refusal(422, '90018')];
    await expect(commands.reject(ID, 'busy')).resolves.toBeUndefined();
  });
});

describe('startStream', () => {
  const url = 'wss://voice.example/ws/stream/call-1/token?caller=%2B15005550020&callee=%2B15005550010';
  const request = { url, parameters: { caller: '+15005550020' }, callId: 'call-1' };

  it.each([
    ['preferred', 'L16', 16_000],
    ['fallback', 'PCMU', 8000],
  ] as const)('asks for the %s codec in both directions', async (codec, name, rate) => {
    server.replies = [OK];
    await commands.startStream(ID, { ...request, codec });
    expect(paths()).toEqual(['streaming_start']);
    expect(server.seen[0]?.body).toEqual({
      stream_url: url,
      stream_track: 'inbound_track',
      stream_codec: name,
      stream_bidirectional_mode: 'rtp',
      stream_bidirectional_codec: name,
      stream_bidirectional_sampling_rate: rate,
      stream_bidirectional_target_legs: 'self',
      client_state: STATE,
      command_id: UUID,
    });
  });

  it('replaces a stream that is open', async () => {
    server.replies = [refusal(422, '90045'), OK, OK];
    await commands.startStream(ID, { ...request, codec: 'fallback' });
    expect(paths()).toEqual(['streaming_start', 'streaming_stop', 'streaming_start']);
    expect(new Set(server.seen.map(({ body }) => body.command_id)).size).toBe(3);
  });

  it('does not try for ever to replace one', async () => {
    server.replies = [refusal(422, '90045'), OK, refusal(422, '90045')];
    await expect(commands.startStream(ID, { ...request, codec: 'preferred' })).rejects.toBeInstanceOf(
      CarrierError,
    );
    expect(server.seen).toHaveLength(3);
  });

  it('says that the call is not answered yet', async () => {
    server.replies = [refusal(422, '90034')];
    await expect(commands.startStream(ID, { ...request, codec: 'preferred' })).rejects.toMatchObject({
      status: 422,
      retryable: false,
    });
  });
});

describe('stopStream', () => {
  it.each([
    ['a stream', OK],
    ['no stream', refusal(422, '90048')],
    ['no call', refusal(422, '90018')],
  ])('is content with %s', async (_, reply) => {
    server.replies = [reply];
    await expect(commands.stopStream(ID)).resolves.toBeUndefined();
    expect(paths()).toEqual(['streaming_stop']);
  });

  it('says when it failed', async () => {
    await expect(commands.stopStream(ID)).rejects.toMatchObject({ status: 500, retryable: true });
  });
});
