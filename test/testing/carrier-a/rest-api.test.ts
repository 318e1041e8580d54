import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readWav } from '../../../src/testing/wav.js';
import { ACCOUNT, dialForm, HOST, OTHER, OWN, type Rig, startRig, TOKEN, valuesOf } from './rig.js';

let rig: Rig;
beforeEach(async () => {
  rig = await startRig({ simulator: { phoneNumbers: [OWN] } });
});
afterEach(() => rig.close());

const without = (name: string) => ({ ...dialForm(), [name]: [] });

describe('the REST API', () => {
  it('demands credentials, and knows one account', async () => {
    const wrong = { authorization: 'Basic eDp5' };
    expect(await rig.ask('Calls.json', dialForm(), wrong)).toMatchObject({
      status: 401,
      body: { code: 20_003, status: 401, more_info: expect.stringContaining('20003') },
    });
    const authorization = `Basic ${Buffer.from(`${ACCOUNT}:${TOKEN}`).toString('base64')}`;
    const other = await fetch(`${rig.simulator.url}/2010-04-01/Accounts/AC2/Calls.json`, {
      headers: { authorization },
    });
    expect(other.status).toBe(404);
    expect(rig.simulator.legs).toEqual([]);
  });

  it('answers a new call with the whole resource', async () => {
    const { status, body } = await rig.ask('Calls.json', dialForm());
    const [leg] = rig.simulator.legs;
    const uri = `/2010-04-01/Accounts/${ACCOUNT}/Calls/${leg?.carrierCallId}`;
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        sid: leg?.carrierCallId,
        account_sid: ACCOUNT,
        api_version: '2010-04-01',
        to: OTHER,
        to_formatted: '(500) 555-0020',
        from: OWN,
        from_formatted: '(500) 555-0010',
        phone_number_sid: rig.simulator.numbers[0]?.sid,
        parent_call_sid: null,
        status: 'queued',
        direction: 'outbound-api',
        answered_by: null,
        caller_name: null,
        forwarded_from: null,
        group_sid: null,
        trunk_sid: null,
        queue_time: '0',
        start_time: null,
        end_time: null,
        duration: null,
        price: null,
        price_unit: 'USD',
        date_created: null,
        date_updated: null,
        uri: `${uri}.json`,
        subresource_uris: { recordings: `${uri}/Recordings.json` },
      },
    });
    expect(rig.simulator.requests).toMatchObject([
      {
        purpose: 'dial',
        method: 'POST',
        path: `/Accounts/${ACCOUNT}/Calls.json`,
        status: 201,
        body: { To: OTHER, StatusCallbackEvent: ['initiated', 'ringing', 'answered', 'completed'] },
      },
    ]);
  });

  it.each<[string, Record<string, string | readonly string[]>, number]>([
    ['no To', without('To'), 21_201],
    ['no From', without('From'), 21_213],
    ['a To that is not a number', { To: '12' }, 21_211],
    ['a From that is not a number', { From: 'me' }, 21_212],
    ['a From of somebody else', { From: '+15005550099' }, 21_210],
    ['no instructions', without('Url'), 21_205],
    ['a URL that is none', { Url: 'voice.example/voice' }, 21_205],
    ['a host with an underscore', { Url: 'https://my_voice.example/voice' }, 21_205],
    ['a status callback that is none', { StatusCallback: 'ftp://voice.example/x' }, 21_609],
    ['an unknown event', { StatusCallbackEvent: ['in-progress'] }, 20_001],
    ['an endless ring', { Timeout: '601' }, 20_001],
    ['a ring that is not a number', { Timeout: '1e2' }, 20_001],
    ['an unknown method', { Method: 'PUT' }, 20_001],
    ['two numbers', { To: [OTHER, OWN] }, 20_001],
    ['keys that are none', { SendDigits: '1,2' }, 20_001],
    ['more keys than are taken', { SendDigits: '1'.repeat(33) }, 20_001],
    ['an unknown detection', { MachineDetection: 'true' }, 20_001],
    [
      'a detection that waits too long',
      { MachineDetection: 'Enable', MachineDetectionTimeout: '60' },
      20_001,
    ],
    ['a detection without callback', { MachineDetection: 'Enable', AsyncAmd: 'true' }, 21_262],
    ['a flag that is none', { Record: 'yes' }, 20_001],
    ['broken markup', { Url: '', Twiml: '<Response>' }, 12_100],
    [
      'markup that is too long',
      { Url: '', Twiml: `<Response><Say>${'x'.repeat(4000)}</Say></Response>` },
      20_001,
    ],
  ])('refuses a call with %s', async (_, change, code) => {
    const { status, body } = await rig.ask('Calls.json', { ...dialForm(), ...change });
    expect({ status, code: body.code }).toEqual({ status: 400, code });
    expect(rig.simulator.legs).toEqual([]);
    expect(rig.simulator.requests.at(-1)?.status).toBe(400);
  });

  it('takes a call with a parameter that it does not know, and notes it', async () => {
    const leg = await rig.dial({ Color: 'red' });
    expect(leg.violations).toEqual(['a request to the API has the unknown parameter "Color"']);
  });

  it('refuses what cannot be changed', async () => {
    const leg = await rig.dial();
    const path = `Calls/${leg.carrierCallId}.json`;
    expect(await rig.ask(path, { Color: 'red' })).toMatchObject({ status: 400, body: { code: 21_204 } });
    expect(await rig.ask(path, { Twiml: '<Response/>' })).toMatchObject({
      status: 400,
      body: { code: 21_220 },
    });
    expect(await rig.ask('Calls/CA1.json')).toMatchObject({ status: 404, body: { code: 20_404 } });
    expect(await rig.ask('Calls/CA1.json', { Status: 'completed' })).toMatchObject({ status: 404 });
    expect((await rig.ask('Weather.json')).status).toBe(404);
  });

  it('counts an unknown call as over where that was asked for', async () => {
    await rig.close();
    rig = await startRig({ simulator: { unknownCalls: 'accept' } });
    expect(await rig.ask('Calls/CA1.json', { Status: 'completed' })).toMatchObject({
      status: 200,
      body: { status: 'completed' },
    });
  });

  it('listens where it was told to, and says when it cannot', async () => {
    const port = Number(new URL(rig.simulator.url).port);
    await expect(startRig({ simulator: { port } })).rejects.toMatchObject({ code: 'CONFIG_PORT_IN_USE' });
    await rig.simulator.close();
    await rig.close();
    rig = await startRig({ simulator: { port } });
    expect(rig.simulator.url).toBe(`http://127.0.0.1:${port}`);
  });

  it('names a price some time after the end, as a charge', async () => {
    const leg = await rig.dial({ TimeLimit: '61' });
    const look = async () => (await rig.ask(`Calls/${leg.carrierCallId}.json`)).body;
    await rig.passUntil(() => leg.isAnswered);
    expect(await look()).toMatchObject({ status: 'in-progress', price: null, end_time: null });
    await rig.passUntil(() => leg.isOver);
    expect(await look()).toMatchObject({ status: 'completed', duration: '61', price: null });
    rig.clock.advance(2000);
    expect(await look()).toMatchObject({ price: '-0.02800', price_unit: 'USD' });
  });

  it('points a number somewhere', async () => {
    const { body } = await rig.ask('IncomingPhoneNumbers.json?PhoneNumber=%2B15005550010');
    const [found] = body.incoming_phone_numbers as Record<string, unknown>[];
    expect(found).toMatchObject({ phone_number: OWN, voice_url: '', status_callback: null, trunk_sid: null });
    const VoiceUrl = `https://${HOST}/webhooks/carrier-a/voice`;
    const path = `IncomingPhoneNumbers/${found?.sid}.json`;
    expect(await rig.ask(path, { VoiceUrl, VoiceMethod: 'POST' })).toMatchObject({ status: 200 });
    expect(rig.simulator.numbers[0]?.voiceUrl).toBe(VoiceUrl);
    expect((await rig.ask(path)).body).toMatchObject({ voice_url: VoiceUrl });
    expect((await rig.ask(path, { VoiceUrl: 'nowhere' })).body.code).toBe(21_205);
  });
});

describe('a recording', () => {
  const CALLBACK = `https://${HOST}/webhooks/carrier-a/recording?callId=c1`;

  it('of a whole call is reported after the end, without the base set', async () => {
    const leg = await rig.dial({
      Record: 'true',
      RecordingChannels: 'dual',
      RecordingStatusCallback: CALLBACK,
      RecordingStatusCallbackEvent: ['in-progress', 'completed', 'absent'],
      TimeLimit: '2',
    });
    await rig.pass(rig.simulator.settled());
    expect(valuesOf(rig.posts('recording'), 'RecordingStatus')).toEqual([['in-progress'], ['completed']]);
    const report = Object.fromEntries(rig.posts('recording').at(-1)?.form ?? []);
    expect(report).toMatchObject({
      CallSid: leg.carrierCallId,
      RecordingDuration: '2',
      RecordingChannels: '2',
      RecordingSource: 'OutboundAPI',
      RecordingTrack: 'both',
    });
    expect(report).not.toHaveProperty('From');
    expect(leg.isRecorded).toBe(true);
    const media = await fetch(`${report.RecordingUrl}.wav`, {
      headers: { authorization: `Basic ${Buffer.from(`${ACCOUNT}:${TOKEN}`).toString('base64')}` },
    });
    const wav = readWav(Buffer.from(await media.arrayBuffer()));
    expect(wav.channels).toHaveLength(2);
    expect(Math.round((wav.channels[0]?.length ?? 0) / 8000)).toBe(2);
    const path = `Recordings/${report.RecordingSid}.json`;
    expect((await rig.ask(path)).body).toMatchObject({ status: 'completed', duration: '2' });
    expect((await rig.ask(path, undefined, { method: 'DELETE' })).status).toBe(204);
    expect((await rig.ask(path)).status).toBe(404);
  });

  it('that is too short is absent', async () => {
    const leg = await rig.dial({
      Record: 'true',
      RecordingStatusCallback: CALLBACK,
      RecordingStatusCallbackEvent: ['completed', 'absent'],
    });
    await rig.passUntil(() => leg.isAnswered);
    await rig.ask(`Calls/${leg.carrierCallId}.json`, { Status: 'completed' });
    await rig.pass(rig.simulator.settled());
    expect(valuesOf(rig.posts('recording'), 'RecordingStatus', 'ErrorCode', 'RecordingUrl')).toEqual([
      ['absent', '16101', null],
    ]);
  });

  it('is started, paused and stopped while the call runs, and only then', async () => {
    const leg = await rig.dial();
    const path = `Calls/${leg.carrierCallId}/Recordings.json`;
    expect((await rig.ask(path, { RecordingStatusCallback: CALLBACK })).body.code).toBe(21_220);
    await rig.passUntil(() => leg.isAnswered);
    const started = await rig.ask(path, { RecordingStatusCallback: CALLBACK });
    expect(started).toMatchObject({
      status: 201,
      body: { status: 'in-progress', channels: 1, source: 'StartCallRecordingAPI' },
    });
    rig.clock.advance(1000);
    const current = `Calls/${leg.carrierCallId}/Recordings/Twilio.CURRENT.json`;
    expect((await rig.ask(current, { Status: 'paused' })).body.status).toBe('paused');
    await rig.ask(current, { Status: 'stopped' });
    await rig.passUntil(() => rig.posts('recording').length === 1);
    expect(leg.isOver).toBe(false);
    expect(valuesOf(rig.posts('recording'), 'RecordingStatus', 'RecordingChannels')).toEqual([
      ['completed', '1'],
    ]);
    expect((await rig.ask(path)).body.recordings).toHaveLength(1);
    expect(rig.simulator.requests.filter(({ purpose }) => purpose === 'record')).toHaveLength(4);
  });

  it('is started by markup', async () => {
    const recording = `<Recording recordingStatusCallback="${CALLBACK}"/>`;
    const leg = await rig.dial({
      Url: '',
      Twiml: `<Response><Start>${recording}</Start><Pause length="2"/></Response>`,
    });
    await rig.pass(rig.simulator.settled());
    expect(valuesOf(rig.posts('recording'), 'RecordingStatus', 'RecordingChannels')).toEqual([
      ['completed', '2'],
    ]);
    expect(leg.violations).toEqual([]);
  });
});

describe('a disturbed REST API', () => {
  it('fails as often as it was told, and does nothing then', async () => {
    rig.simulator.disturb({
      restFailures: [
        { purpose: 'dial', status: 429, times: 1 },
        { purpose: 'dial', status: 0, times: 1 },
      ],
    });
    expect(await rig.ask('Calls.json', dialForm())).toMatchObject({ status: 429, body: { code: 20_429 } });
    await expect(rig.ask('Calls.json', dialForm())).rejects.toThrow();
    expect(rig.simulator.legs).toEqual([]);
    expect((await rig.ask('Calls.json', dialForm())).status).toBe(201);
    expect(rig.simulator.requests.map(({ status }) => status)).toEqual([429, 0, 201]);
  });

  it('loses the answer to what it did', async () => {
    rig.simulator.disturb({ lostAnswers: ['dial'] });
    await expect(rig.ask('Calls.json', dialForm())).rejects.toThrow();
    expect(rig.simulator.legs).toHaveLength(1);
    await rig.passUntil(() => rig.posts('status').length > 0);
  });

  it('holds its answers back', async () => {
    rig.simulator.disturb({ restDelayMs: 5000 });
    const asked = rig.ask('Calls.json', dialForm());
    // The call goes its way meanwhile: its webhooks are there before the answer.
    await rig.passUntil(() => rig.posts('voice').length > 0);
    const before = rig.clock.now();
    await rig.pass(asked);
    expect(rig.clock.now()).toBeGreaterThan(before);
  });
});
