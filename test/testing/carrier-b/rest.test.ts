import { describe, expect, it } from 'vitest';
import type { CarrierBSimulatorOptions } from '../../../src/testing/carrier-b/options.js';
import type { CallerStep } from '../../../src/testing/caller-script.js';
import { startCarrierBSimulator } from '../../../src/testing/carrier-b/simulator.js';
import {
  answerCalls,
  API_KEY,
  CONNECTION_ID,
  moveUntil,
  moveWhile,
  nextCommandId,
  startScene,
  STREAM_FIELDS,
  type CommandAnswer,
} from './fake-phone.js';

const TALK: CallerStep[] = [{ type: 'pause', durationMs: 600_000 }, { type: 'hang-up' }];

const start = (options: Partial<CarrierBSimulatorOptions> = {}) => startScene({}, options);

/** A call that is up, with a stream. */
async function talking(options: Partial<CarrierBSimulatorOptions> = {}) {
  const started = await startScene({ onEvent: answerCalls }, options);
  const { clock, phone, simulator } = started;
  const running = simulator.call({ script: TALK });
  await moveUntil(clock, () => (phone.streams[0]?.messages.length ?? 0) > 3);
  const [leg] = simulator.legs;
  if (leg === undefined) throw new Error('there is no leg');
  const finish = async () => {
    leg.hangUp();
    await moveWhile(clock, running);
  };
  return { ...started, leg, id: leg.carrierCallId, finish };
}

const codeOf = ({ body }: CommandAnswer) => body.errors?.[0]?.code;
const DIAL = { connection_id: CONNECTION_ID, to: '+15005550030', from: '+15005550010' };

describe('the door of the API', () => {
  it('wants the key', async () => {
    const { simulator } = await start();
    for (const authorization of ['', 'Bearer wrong', `Basic ${API_KEY}`]) {
      const answer = await fetch(`${simulator.url}/v2/calls/x`, { headers: { authorization } });
      expect(answer.status).toBe(401);
      expect(await answer.json()).toMatchObject({
        errors: [
          {
            code: '10009',
            title: expect.any(String),
            detail: expect.any(String),
            meta: { url: expect.any(String) },
          },
        ],
      });
    }
    expect(simulator.requests).toEqual([]);
    expect(simulator.violations).toEqual(['a wrong or missing API key']);
  });

  it('knows no other version, path, method or body', async () => {
    const { phone, simulator } = await start();
    const headers = { authorization: `Bearer ${API_KEY}` };
    expect((await fetch(`${simulator.url}/calls`, { headers })).status).toBe(404);
    expect(codeOf(await phone.request('GET', '/fax_applications'))).toBe('10005');
    expect(codeOf(await phone.request('DELETE', '/calls/x'))).toBe('10005');
    expect(codeOf(await phone.request('POST', '/calls/x/actions/dance', {}))).toBe('10005');
    const form = await fetch(`${simulator.url}/v2/calls`, { method: 'POST', headers, body: 'a=b' });
    expect(form.status).toBe(415);
    const list = await fetch(`${simulator.url}/v2/calls`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '[]',
    });
    expect(list.status).toBe(422);
    expect(simulator.violations).toHaveLength(6);
  });

  it('needs an address, a key and a connection that can be', async () => {
    const options = { url: 'http://127.0.0.1:1', apiKey: 'k', connectionId: '1' };
    for (const missing of [{ apiKey: '' }, { connectionId: '' }]) {
      await expect(startCarrierBSimulator({ ...options, ...missing })).rejects.toMatchObject({
        code: 'CONFIG_MISSING',
      });
    }
    for (const wrong of [
      { url: 'nowhere' },
      { webhookHost: 'https://x' },
      { phoneNumbers: ['5550010'] },
      { privateKeySeed: new Uint8Array(31) },
      { callees: { '*': { type: 'human' as const, ringMs: -1 } } },
    ]) {
      await expect(startCarrierBSimulator({ ...options, ...wrong })).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
      });
    }
  });
});

describe('commands', () => {
  it('are wanted with a percent-encoded id and a command_id', async () => {
    const { phone, leg, id, finish } = await talking();
    await phone.request('POST', `/calls/${id}/actions/send_dtmf`, {
      digits: '1',
      command_id: nextCommandId(),
    });
    await phone.request('POST', `/calls/${encodeURIComponent(id)}/actions/send_dtmf`, { digits: '2' });
    expect(leg.sentDigits).toEqual(['1', '2']);
    expect(leg.violations).toEqual([
      'send_dtmf: a call_control_id that is not percent-encoded',
      'send_dtmf: no command_id',
    ]);
    expect(codeOf(await phone.command('v3:unknown', 'hangup'))).toBe('90015');
    await finish();
  });

  it('with the same id are executed once within a minute, and answered alike', async () => {
    const { clock, phone, leg, id, finish } = await talking();
    const command = { digits: '1', command_id: 'same' };
    const first = await phone.command(id, 'send_dtmf', command);
    const second = await phone.command(id, 'send_dtmf', command);
    expect(second.body).toEqual(first.body);
    expect(leg.sentDigits).toEqual(['1']);
    expect(leg.violations).toEqual([]);
    await phone.command(id, 'send_dtmf', { ...command, digits: '2' });
    expect(leg.sentDigits).toEqual(['1']);
    expect(leg.violations).toEqual(['a command_id that stands for two different commands']);
    clock.advance(61_000);
    await phone.command(id, 'send_dtmf', command);
    expect(leg.sentDigits).toEqual(['1', '1']);
    expect(leg.violations).toContain('a command_id that is used again after a minute');
    await finish();
  });

  it('repeat an answer that was lost, also after the end', async () => {
    const { phone, leg, id, finish } = await talking();
    const command = { command_id: 'same' };
    await phone.command(id, 'hangup', command);
    expect(await phone.command(id, 'hangup', command)).toMatchObject({
      status: 200,
      body: { data: { result: 'ok' } },
    });
    expect(leg.violations).toEqual([]);
    await finish();
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['streaming_start', { ...STREAM_FIELDS, stream_codec: 'l16' }, '10015'],
    ['streaming_start', { ...STREAM_FIELDS, stream_bidirectional_mode: 'RTP' }, '10015'],
    ['streaming_start', { ...STREAM_FIELDS, stream_bidirectional_target_legs: 'me' }, '10015'],
    ['streaming_start', { ...STREAM_FIELDS, stream_track: 'inbound' }, '10015'],
    ['streaming_start', { ...STREAM_FIELDS, stream_bidirectional_sampling_rate: 11_025 }, '10015'],
    ['streaming_start', { ...STREAM_FIELDS, stream_bidirectional_sampling_rate: '16000' }, '10015'],
    ['streaming_start', { ...STREAM_FIELDS, stream_url: 'https://voice.example/' }, '10015'],
    ['streaming_start', { ...STREAM_FIELDS, custom_parameters: { a: 'b' } }, '10015'],
    ['streaming_start', {}, '10004'],
    ['streaming_stop', { stream_id: 'another' }, '10015'],
    ['transfer', {}, '10004'],
    ['transfer', { to: '5550030' }, '10015'],
    ['transfer', { to: '+15005550030', timeout_secs: 4 }, '10015'],
    ['transfer', { to: '+15005550030', target_leg_client_state: '{}' }, '90017'],
    ['hangup', { client_state: 'not base64!' }, '90017'],
    ['answer', {}, '10015'],
    ['reject', { cause: 'BUSY' }, '10015'],
    ['reject', {}, '10004'],
    ['speak', { payload: 'x', voice: 'female', payload_type: 'html' }, '10015'],
    ['speak', { payload: 'x'.repeat(3001), voice: 'female' }, '10015'],
    ['record_start', { format: 'wav' }, '10004'],
  ])('%s is refused where it cannot be meant: %o', async (name, fields, code) => {
    const { phone, leg, id, finish } = await talking();
    const answer = await phone.command(id, name, fields);
    expect(answer.status).toBe(422);
    expect(codeOf(answer)).toBe(code);
    expect(leg.violations).toHaveLength(1);
    expect(leg.isOver).toBe(false);
    await finish();
  });

  it('name the field that is at fault, where it is one', async () => {
    const { phone, id, finish } = await talking();
    const digits = await phone.command(id, 'send_dtmf', { digits: 'x' });
    expect(digits.body.errors).toMatchObject([{ code: '90014', source: { pointer: '/digits' } }]);
    const answered = await phone.command(id, 'answer');
    expect(answered.body.errors?.[0]).not.toHaveProperty('source');
    await finish();
  });

  it('say so when a field does not exist or cannot be meant', async () => {
    const { phone, leg, id, finish } = await talking();
    await phone.command(id, 'streaming_start', {
      ...STREAM_FIELDS,
      stream_bidirectional_sampling_rate: 8000,
      streamUrl: 'x',
    });
    expect(leg.violations).toEqual([
      'streaming_start: a field that the command does not have: streamUrl',
      'streaming_start: a sampling rate that the codec does not have',
    ]);
    await finish();
  });

  it('carry the client state into what follows', async () => {
    const { clock, phone, leg, id, finish } = await talking();
    await phone.command(id, 'send_dtmf', { digits: '1', client_state: 'YQ==' });
    expect(leg.clientState).toBe('YQ==');
    await finish();
    await moveUntil(clock, () => phone.find('call.hangup') !== undefined);
    expect(phone.find('call.hangup')?.payload.client_state).toBe('YQ==');
  });

  it('record a call', async () => {
    const { clock, phone, simulator, leg, id, finish } = await talking();
    await phone.command(id, 'record_start', { format: 'wav', channels: 'dual' });
    expect(leg.isRecorded).toBe(true);
    await finish();
    await moveWhile(clock, simulator.settled());
    expect(phone.find('call.recording.saved')?.payload).toMatchObject({ channels: 'dual' });
  });
});

describe('a dial', () => {
  it.each<[Record<string, unknown>, string]>([
    [{ to: undefined }, '10004'],
    [{ from: undefined }, '10004'],
    [{ connection_id: undefined }, '10004'],
    [{ connection_id: '17' }, '10015'],
    [{ to: '555' }, '10015'],
    [{ to: ['+15005550030', '+15005550031'] }, '10015'],
    [{ from: '+15005559999' }, '10015'],
    [{ timeout_secs: 601 }, '10015'],
    [{ time_limit_secs: 59 }, '10015'],
    [{ answering_machine_detection: 'yes' }, '10015'],
    [{ client_state: '{"callId":1}' }, '90017'],
    [{ stream_url: 'http://voice.example' }, '10015'],
    [{ webhook_url: 'voice.example' }, '10015'],
  ])('is refused with %j', async (fields, code) => {
    const { phone, simulator } = await start({ phoneNumbers: ['+15005550010'] });
    const answer = await phone.request('POST', '/calls', { ...DIAL, command_id: nextCommandId(), ...fields });
    expect(codeOf(answer)).toBe(code);
    expect(simulator.legs).toEqual([]);
    expect(simulator.violations).toHaveLength(1);
  });

  it('says so when it is careless', async () => {
    const { clock, phone, simulator } = await start({ callees: { '*': { type: 'busy' } } });
    await phone.request('POST', '/calls', { ...DIAL, to: '+15005550030,,9', time_limit_secs: 14_400 });
    expect(simulator.legs[0]).toMatchObject({
      to: '+15005550030',
      violations: [
        'dial: time_limit_secs over 14000',
        'dial: digits behind the called number',
        'dial: no command_id',
      ],
    });
    await moveWhile(clock, simulator.settled());
  });

  it('is placed once however often it is repeated', async () => {
    const { clock, phone, simulator } = await start({ callees: { '*': { type: 'busy' } } });
    const body = { ...DIAL, command_id: 'same' };
    const [first, second] = [
      await phone.request('POST', '/calls', body),
      await phone.request('POST', '/calls', body),
    ];
    expect(second.body).toEqual(first.body);
    expect(simulator.legs).toHaveLength(1);
    await moveWhile(clock, simulator.settled());
  });

  it('sends its events where it says', async () => {
    const { clock, phone, simulator } = await start({ callees: { '*': { type: 'busy' } } });
    const webhook_url = 'https://other.example/webhooks/carrier-b/voice?x=1';
    await phone.request('POST', '/calls', { ...DIAL, command_id: nextCommandId(), webhook_url });
    await moveWhile(clock, simulator.settled());
    expect(phone.events.map(({ path, headers, meta }) => [path, headers.host, meta?.delivered_to])).toEqual(
      phone.events.map(() => ['/webhooks/carrier-b/voice?x=1', 'other.example', webhook_url]),
    );
  });
});

describe('what can be read', () => {
  it('calls, alive or not', async () => {
    const { phone, id, finish } = await talking();
    const path = `/calls/${encodeURIComponent(id)}`;
    expect((await phone.request('GET', path)).body.data).toMatchObject({
      is_alive: true,
      call_control_id: id,
    });
    const active = await phone.request('GET', `/connections/${CONNECTION_ID}/active_calls`);
    expect(active.body.data).toHaveLength(1);
    await finish();
    expect((await phone.request('GET', path)).body.data).toMatchObject({ is_alive: false });
    expect(codeOf(await phone.request('GET', '/calls/v3%3Anone'))).toBe('10005');
  });

  it('the application and the numbers', async () => {
    const { phone, simulator } = await start({ phoneNumbers: ['+15005550010', '+15005550011'] });
    const path = `/call_control_applications/${CONNECTION_ID}`;
    expect((await phone.request('GET', path)).body.data).toMatchObject({
      webhook_event_url: 'https://voice.example/webhooks/carrier-b/voice',
      webhook_api_version: '2',
    });
    await phone.request('PATCH', path, { webhook_api_version: '1', id: 'x' });
    expect((await phone.request('GET', '/call_control_applications')).body.data).toMatchObject([
      { id: CONNECTION_ID, webhook_api_version: '1' },
    ]);
    expect(codeOf(await phone.request('GET', '/call_control_applications/17'))).toBe('10005');
    const query = `filter[phone_number]=${encodeURIComponent('+15005550011')}`;
    const found = await phone.request('GET', `/phone_numbers?${query}`);
    expect(found.body.data).toMatchObject([{ phone_number: '+15005550011', connection_id: CONNECTION_ID }]);
    expect(simulator.requests.every(({ purpose }) => purpose === 'number')).toBe(true);
  });
});

describe('disturbances of the API', () => {
  it('fail requests by purpose, for a time', async () => {
    const restFailures = [
      { purpose: 'send-digits' as const, status: 500, times: 1 },
      { purpose: 'send-digits' as const, status: 429, times: 1 },
      { purpose: 'send-digits' as const, status: 0, times: 1 },
    ];
    const { phone, simulator, leg, id, finish } = await talking({ disturbances: { restFailures } });
    const command = { digits: '1', command_id: 'same' };
    expect((await phone.command(id, 'send_dtmf', command)).status).toBe(500);
    const limited = await phone.command(id, 'send_dtmf', command);
    expect(codeOf(limited)).toBe('10011');
    expect(limited.headers.get('x-ratelimit-remaining')).toBe('0');
    await expect(phone.command(id, 'send_dtmf', command)).rejects.toThrow();
    expect(leg.sentDigits).toEqual([]);
    expect((await phone.command(id, 'send_dtmf', command)).status).toBe(200);
    const digits = simulator.requests.filter(({ purpose }) => purpose === 'send-digits');
    expect(digits.map(({ status }) => status)).toEqual([500, 429, 0, 200]);
    expect(leg).toMatchObject({ sentDigits: ['1'], violations: [] });
    await finish();
  });

  it('carry a command out and lose the answer; its repetition is answered', async () => {
    const { phone, leg, id, finish } = await talking({ disturbances: { lostAnswers: ['send-digits'] } });
    const command = { digits: '1', command_id: 'same' };
    await expect(phone.command(id, 'send_dtmf', command)).rejects.toThrow();
    expect(leg.sentDigits).toEqual(['1']);
    expect((await phone.command(id, 'send_dtmf', command)).status).toBe(200);
    expect(leg).toMatchObject({ sentDigits: ['1'], violations: [] });
    await finish();
  });

  it('hold the answers back', async () => {
    const { clock, phone, simulator, leg, id, finish } = await talking();
    simulator.disturb({ restDelayMs: 4000 });
    const sentMs = clock.now();
    const answer = phone.command(id, 'send_dtmf', { digits: '1' });
    await moveUntil(clock, () => leg.sentDigits.length === 1);
    expect((await moveWhile(clock, answer)).status).toBe(200);
    expect(clock.now() - sentMs).toBeGreaterThanOrEqual(4000);
    await finish();
  });
});
