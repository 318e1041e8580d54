import { describe, expect, it } from 'vitest';
import type { CallerStep } from '../../../src/testing/caller-script.js';
import { makeSpeechTones } from '../../../src/testing/tones.js';
import {
  answerCalls,
  HOST,
  moveBy,
  moveUntil,
  moveWhile,
  startScene,
  STREAM_FIELDS,
  type FakePhone,
  type PhoneStream,
  type ReceivedEvent,
} from './fake-phone.js';

const HANG_UP: CallerStep[] = [{ type: 'pause', durationMs: 200 }, { type: 'hang-up' }];
const TALK: CallerStep[] = [{ type: 'pause', durationMs: 60_000 }, { type: 'hang-up' }];

describe('an inbound call', () => {
  it('goes from the bell to the hang-up by the wire', async () => {
    const { clock, phone, simulator } = await startScene({ onEvent: answerCalls });
    const report = await moveWhile(clock, simulator.call({ script: HANG_UP, from: 'anonymous' }));
    await moveWhile(clock, simulator.settled());
    expect(report).toMatchObject({
      ok: true,
      carrier: 'carrier-b',
      callee: '…0010',
      answer: { outcome: 'answered', status: 200 },
      end: { by: 'caller', how: 'hang-up' },
      protocolErrors: [],
    });
    expect(phone.eventTypes()).toEqual([
      'call.initiated',
      'call.answered',
      'streaming.started',
      'streaming.stopped',
      'call.hangup',
    ]);
    const [bell] = phone.events;
    expect(bell?.path).toBe('/webhooks/carrier-b/voice');
    expect(bell?.headers.host).toBe(HOST);
    expect(bell?.payload).toMatchObject({
      direction: 'incoming',
      state: 'parked',
      from: 'anonymous',
      to: '+15005550010',
      client_state: null,
      connection_id: '1700000000000000001',
    });
    expect(bell?.meta).toEqual({ attempt: 1, delivered_to: `https://${HOST}/webhooks/carrier-b/voice` });
    expect(phone.find('call.hangup')?.payload).toMatchObject({
      hangup_cause: 'normal_clearing',
      hangup_source: 'caller',
      sip_hangup_cause: '200',
      call_quality_stats: { inbound: { mos: '4.50' } },
    });
    const [leg] = simulator.legs;
    expect(leg).toMatchObject({ direction: 'inbound', isOver: true, violations: [], spoken: [] });
    expect(leg?.reports).toHaveLength(1);
    expect(simulator.requests.map(({ purpose, status }) => [purpose, status])).toEqual([
      ['answer', 200],
      ['start-stream', 200],
    ]);
  });

  it('opens the stream with path, query and host as given, and numbers its messages', async () => {
    const { clock, phone, simulator } = await startScene({ onEvent: answerCalls });
    const script: CallerStep[] = [
      { type: 'play', samples: makeSpeechTones(200), sampleRateHz: 8000, text: 'two words' },
      { type: 'hang-up' },
    ];
    await moveWhile(clock, simulator.call({ script }));
    const [stream] = phone.streams;
    expect(stream?.path).toBe('/ws/stream/abc?caller=%2B15005550020&token=t');
    expect(stream?.headers.host).toBe(HOST);
    const messages = stream?.messages ?? [];
    expect(messages[0]).toEqual({ event: 'connected', version: '1.0.0' });
    expect(messages[1]).toMatchObject({
      event: 'start',
      sequence_number: '1',
      start: {
        call_control_id: simulator.legs[0]?.carrierCallId,
        from: '+15005550020',
        to: '+15005550010',
        tags: [],
        client_state: null,
        custom_parameters: {},
        media_format: { encoding: 'L16', sample_rate: 16_000, channels: 1 },
      },
    });
    const media = messages.filter(({ event }) => event === 'media');
    expect(media.map(({ media: { chunk, timestamp } = {} }) => [chunk, timestamp])).toEqual(
      media.map((_, index) => [String(index + 1), String(index * 20)]),
    );
    expect(media.every(({ media: { payload = '' } = {} }) => payload.length === 856)).toBe(true);
    const numbered = messages.filter((message) => message.sequence_number !== undefined);
    expect(numbered.map(({ sequence_number }) => sequence_number)).toEqual(
      numbered.map((_, index) => String(index + 1)),
    );
    const spoken = messages.filter(({ event }) => event === 'spoken-text');
    expect(spoken.map(({ spokenText }) => [spokenText?.text, spokenText?.final])).toEqual([
      ['two', false],
      ['two words', true],
    ]);
    expect(spoken[0]?.stream_id).toBe(messages[1]?.stream_id);
    expect(messages.at(-1)).toMatchObject({ event: 'stop' });
  });

  it('takes the stream with the answer as well', async () => {
    const { clock, phone, simulator } = await startScene({
      onEvent(event, server) {
        const { call_control_id: id } = event.payload;
        if (event.type === 'call.initiated') void server.command(id, 'answer', STREAM_FIELDS);
      },
    });
    const report = await moveWhile(clock, simulator.call({ script: HANG_UP }));
    expect(report.ok).toBe(true);
    expect(phone.find('call.answered')?.payload).toMatchObject({ stream_track: 'inbound_track' });
    expect(simulator.legs[0]?.violations).toEqual([]);
  });

  it('can be turned away', async () => {
    for (const [cause, outcome, hangup] of [
      ['USER_BUSY', 'busy', 'user_busy'],
      ['CALL_REJECTED', 'rejected', 'call_rejected'],
    ]) {
      const { clock, phone, simulator } = await startScene({
        onEvent(event, server) {
          if (event.type === 'call.initiated')
            void server.command(event.payload.call_control_id, 'reject', { cause });
        },
      });
      const report = await moveWhile(clock, simulator.call({ script: HANG_UP }));
      expect(report).toMatchObject({ ok: false, durationMs: null, answer: { outcome } });
      expect(phone.find('call.hangup')?.payload).toMatchObject({
        hangup_cause: hangup,
        call_quality_stats: null,
      });
    }
  });

  it('reports a bell that is refused, once, and one that nobody hears', async () => {
    const refused = await startScene({ statusFor: () => 403 });
    const report = await moveWhile(refused.clock, refused.simulator.call({ script: HANG_UP }));
    expect(report.answer).toMatchObject({ outcome: 'refused', status: 403 });
    expect(refused.phone.eventTypes()).toEqual(['call.initiated', 'call.hangup']);

    const { clock, simulator } = await startScene({}, { url: 'http://127.0.0.1:1' });
    const unheard = await moveWhile(clock, simulator.call({ script: HANG_UP }));
    expect(unheard.answer).toMatchObject({ outcome: 'failed', reason: 'nobody listens at 127.0.0.1:1' });
    expect(simulator.webhooks.every(({ status }) => status === null)).toBe(true);
  });

  it('reports a stream that is refused', async () => {
    const { clock, phone, simulator } = await startScene({ refuseUpgrade: 429, onEvent: answerCalls });
    const running = simulator.call({ script: HANG_UP, maxDurationMs: 1000 });
    const report = await moveWhile(clock, running);
    expect(report.answer).toMatchObject({ outcome: 'refused', status: 429 });
    expect(phone.find('streaming.failed')?.payload).toMatchObject({
      failure_reason: 'connection_failed',
      stream_params: { stream_url: STREAM_FIELDS.stream_url, track: 'inbound_track' },
      stream_type: 'websocket',
    });
  });

  it('answers too late: 90018, and no violation', async () => {
    const { clock, phone, simulator } = await startScene();
    const running = simulator.call({ script: TALK });
    await moveUntil(clock, () => phone.events.length === 1);
    const [leg] = simulator.legs;
    leg?.hangUp();
    const late = await phone.command(leg?.carrierCallId, 'answer');
    expect(late).toMatchObject({ status: 422, body: { errors: [{ code: '90018' }] } });
    const report = await moveWhile(clock, running);
    expect(report.answer).toMatchObject({ outcome: 'failed' });
    expect(phone.find('call.hangup')?.payload).toMatchObject({ hangup_cause: 'originator_cancel' });
    expect(leg?.violations).toEqual([]);

    await moveUntil(clock, () => clock.now() > 10_000);
    expect((await phone.command(leg?.carrierCallId, 'hangup')).status).toBe(422);
    expect(leg?.violations).toEqual(['hangup: a command long after call.hangup']);
  });

  it('is hung up by command: stop, close, call.hangup', async () => {
    const { clock, phone, simulator } = await startScene({ onEvent: answerCalls });
    const running = simulator.call({ script: TALK });
    await moveUntil(clock, () => (phone.streams[0]?.messages.length ?? 0) > 5);
    await phone.command(simulator.legs[0]?.carrierCallId, 'hangup');
    const report = await moveWhile(clock, running);
    expect(report).toMatchObject({ ok: true, end: { by: 'agent', how: 'hang-up' } });
    expect(phone.streams[0]?.messages.at(-1)?.event).toBe('stop');
    expect(phone.find('call.hangup')?.payload).toMatchObject({ hangup_cause: 'normal_clearing' });
  });

  it('goes on without audio when the server closes the socket, and takes a new stream', async () => {
    const { clock, phone, simulator } = await startScene({
      onEvent: answerCalls,
      onStart: (stream) => phone.streams.length === 1 && stream.socket.close(1000, 'bye'),
    });
    const running = simulator.call({ script: TALK });
    await moveUntil(clock, () => phone.find('streaming.stopped') !== undefined);
    const [leg] = simulator.legs;
    expect(leg?.isOver).toBe(false);
    expect(leg?.reports[0]?.end).toMatchObject({
      by: 'server',
      how: 'closed',
      closeCode: 1000,
      reason: 'bye',
    });
    await phone.command(leg?.carrierCallId, 'streaming_start', STREAM_FIELDS);
    await moveUntil(clock, () => (phone.streams[1]?.messages.length ?? 0) > 5);
    await phone.command(leg?.carrierCallId, 'hangup');
    const report = await moveWhile(clock, running);
    expect(report.ok).toBe(true);
    expect(leg?.reports).toHaveLength(2);
  });

  it('loses its stream on demand and stays up', async () => {
    const { clock, phone, simulator } = await startScene({ onEvent: answerCalls });
    const running = simulator.call({ script: TALK });
    const [first] = [() => phone.streams[0]];
    await moveUntil(clock, () => (first()?.messages.length ?? 0) > 5);
    const [leg] = simulator.legs;
    leg?.dropStream();
    await moveUntil(clock, () => phone.find('streaming.failed') !== undefined);
    expect(first()?.messages.at(-1)?.event).not.toBe('stop');
    expect(leg).toMatchObject({ isOver: false });
    expect(leg?.reports[0]?.end).toMatchObject({ by: 'network', how: 'lost' });
    leg?.hangUp();
    expect((await moveWhile(clock, running)).ok).toBe(false);
  });

  it('stops its stream by command; without one that is 90048', async () => {
    const { clock, phone, simulator } = await startScene({ onEvent: answerCalls });
    const running = simulator.call({ script: TALK });
    await moveUntil(clock, () => (phone.streams[0]?.messages.length ?? 0) > 5);
    const [leg] = simulator.legs;
    expect((await phone.command(leg?.carrierCallId, 'streaming_stop')).status).toBe(200);
    const again = await phone.command(leg?.carrierCallId, 'streaming_stop');
    expect(again.body.errors?.[0]?.code).toBe('90048');
    expect(leg).toMatchObject({ isOver: false, violations: [] });
    leg?.hangUp();
    expect((await moveWhile(clock, running)).end).toMatchObject({ by: 'agent', how: 'closed' });
  });

  it('refuses a second stream where it does not take the place of the first', async () => {
    const { clock, phone, simulator } = await startScene(
      { onEvent: answerCalls },
      { secondStream: 'refused' },
    );
    const running = simulator.call({ script: TALK });
    await moveUntil(clock, () => (phone.streams[0]?.messages.length ?? 0) > 5);
    const [leg] = simulator.legs;
    const second = await phone.command(leg?.carrierCallId, 'streaming_start', STREAM_FIELDS);
    expect(second.body.errors?.[0]?.code).toBe('90045');
    expect(leg?.violations).toEqual([]);
    leg?.hangUp();
    expect((await moveWhile(clock, running)).ok).toBe(true);
  });

  it('has a stream also while it is being opened, until that is given up', async () => {
    const { clock, phone, simulator } = await startScene(
      { onEvent: answerCalls },
      { secondStream: 'refused', disturbances: { streamDelayMs: 1000 } },
    );
    const running = simulator.call({ script: TALK });
    await moveUntil(clock, () => simulator.requests.some(({ purpose }) => purpose === 'start-stream'));
    const [leg] = simulator.legs;
    const codes: (string | undefined)[] = [];
    for (const name of ['streaming_start', 'streaming_stop', 'streaming_stop']) {
      const fields = name === 'streaming_start' ? STREAM_FIELDS : {};
      const { body } = await phone.command(leg?.carrierCallId, name, fields);
      codes.push(body.errors?.[0]?.code);
    }
    expect(codes).toEqual(['90045', undefined, '90048']);
    await moveBy(clock, 2000);
    expect(phone.streams).toEqual([]);
    leg?.hangUp();
    await moveWhile(clock, running);
  });

  it.each([
    ['cannot be opened', {}, { disturbances: { failedStreams: 1 } }],
    ['the server refuses', { refuseUpgrade: 503 }, {}],
    ['the server has closed', { onStart: ({ socket }: PhoneStream) => socket.close() }, {}],
  ])('has no stream any more that %s', async (_, phoneOptions, options) => {
    const { clock, phone, simulator } = await startScene({ onEvent: answerCalls, ...phoneOptions }, options);
    const running = simulator.call({ script: TALK });
    await moveUntil(clock, () => phone.eventTypes().some((type) => /^streaming.(failed|stopped)/.test(type)));
    const [leg] = simulator.legs;
    const { body } = await phone.command(leg?.carrierCallId, 'streaming_stop');
    expect(body.errors?.[0]?.code).toBe('90048');
    leg?.hangUp();
    await moveWhile(clock, running);
  });

  it('ends when the caller has waited long enough, or is called off', async () => {
    const { clock, phone, simulator } = await startScene();
    const report = await moveWhile(clock, simulator.call({ script: TALK, maxDurationMs: 1000 }));
    expect(report.answer).toMatchObject({ outcome: 'failed', reason: expect.any(String) });
    const controller = new AbortController();
    const running = simulator.call({ script: TALK, signal: controller.signal });
    await moveUntil(clock, () => phone.events.length >= 3);
    controller.abort();
    await moveWhile(clock, running);
    expect(simulator.legs[1]?.hangupCause).toBe('originator_cancel');
  });

  it('is given up by the carrier when no command comes, if the application says so', async () => {
    const application = { first_command_timeout: true, first_command_timeout_secs: 5 };
    const { clock, simulator } = await startScene({}, { application });
    const report = await moveWhile(clock, simulator.call({ script: TALK, maxDurationMs: 60_000 }));
    expect(clock.now()).toBeLessThan(10_000);
    expect(simulator.legs[0]?.hangupCause).toBe('timeout');
    const reason = `no command came: give the carrier of the server the baseUrl ${simulator.url} and the apiKey`;
    expect(report.answer).toMatchObject({ outcome: 'failed', reason: expect.stringContaining(reason) });
  });

  it('of a server with another API key says so', async () => {
    const application = { first_command_timeout: true, first_command_timeout_secs: 5 };
    const onEvent = ({ payload }: ReceivedEvent, { simulator }: FakePhone) =>
      void fetch(`${simulator.url}/v2/calls/${String(payload.call_control_id)}/actions/answer`, {
        method: 'POST',
        headers: { authorization: 'Bearer another' },
      });
    const { clock, simulator } = await startScene({ onEvent }, { application });
    const report = await moveWhile(clock, simulator.call({ script: TALK, maxDurationMs: 60_000 }));
    expect(report.answer.reason).toContain('came with another API key');
  });

  it('tells what it cost where the application asks for it', async () => {
    const application = { call_cost_in_webhooks: true };
    const { clock, phone, simulator } = await startScene({ onEvent: answerCalls }, { application });
    await moveWhile(clock, simulator.call({ script: HANG_UP }));
    await moveWhile(clock, simulator.settled());
    expect(phone.find('call.cost')?.payload).toMatchObject({
      status: 'success',
      total_cost: '0.0055',
      billed_duration_secs: 60,
    });
  });
});

describe('keys', () => {
  it.each([
    ['socket-first', true, true],
    ['webhook-first', true, true],
    ['socket-only', true, false],
    ['webhook-only', false, true],
  ] as const)('are told %s', async (digits, onSocket, asWebhook) => {
    const { clock, phone, simulator } = await startScene({ onEvent: answerCalls }, { digits });
    const script: CallerStep[] = [
      { type: 'press', digits: '7' },
      { type: 'pause', durationMs: 300 },
      { type: 'hang-up' },
    ];
    await moveWhile(clock, simulator.call({ script }));
    await moveWhile(clock, simulator.settled());
    const message = phone.streams[0]?.messages.find(({ event }) => event === 'dtmf');
    expect(message?.dtmf).toEqual(onSocket ? { digit: '7' } : undefined);
    expect(phone.find('call.dtmf.received')?.payload.digit).toBe(asWebhook ? '7' : undefined);
  });

  it('that are sent by command are kept, and checked', async () => {
    const { clock, phone, simulator } = await startScene({ onEvent: answerCalls });
    const running = simulator.call({ script: TALK });
    await moveUntil(clock, () => (phone.streams[0]?.messages.length ?? 0) > 5);
    const [leg] = simulator.legs;
    expect((await phone.command(leg?.carrierCallId, 'send_dtmf', { digits: '1w2W#A' })).status).toBe(200);
    const codes = [
      await phone.command(leg?.carrierCallId, 'send_dtmf', { digits: '1x' }),
      await phone.command(leg?.carrierCallId, 'send_dtmf', { digits: '1', duration_millis: 50 }),
      await phone.command(leg?.carrierCallId, 'send_dtmf', {}),
    ].map(({ body }) => body.errors?.[0]?.code);
    expect(codes).toEqual(['90014', '90027', '10004']);
    expect(leg?.sentDigits).toEqual(['1w2W#A']);
    expect(leg?.violations).toHaveLength(3);
    leg?.hangUp();
    await moveWhile(clock, running);
  });
});

describe("the carrier's own voice", () => {
  it('takes its time, is heard, and tells its end', async () => {
    const { clock, phone, simulator } = await startScene({ onEvent: answerCalls });
    const running = simulator.call({ script: TALK });
    await moveUntil(clock, () => (phone.streams[0]?.messages.length ?? 0) > 5);
    const [leg] = simulator.legs;
    const fields = { payload: 'Please leave a message.', voice: 'female', language: 'en-US' };
    const startedMs = clock.now();
    await phone.command(leg?.carrierCallId, 'speak', fields);
    await phone.command(leg?.carrierCallId, 'speak', {
      ...fields,
      payload: '<speak>Bye</speak>',
      payload_type: 'ssml',
    });
    await moveUntil(
      clock,
      () => phone.eventTypes().filter((type) => type === 'call.speak.ended').length === 2,
    );
    expect(clock.now() - startedMs).toBeGreaterThanOrEqual(fields.payload.length * 60 + 500);
    expect(leg?.spoken).toEqual(['Please leave a message.', 'Bye']);
    expect((await phone.command(leg?.carrierCallId, 'speak', { payload: 'x' })).body.errors?.[0]?.code).toBe(
      '10004',
    );
    await phone.command(leg?.carrierCallId, 'speak', fields);
    await phone.command(leg?.carrierCallId, 'hangup');
    await moveWhile(clock, running);
    await moveWhile(clock, simulator.settled());
    const ends = phone.events.filter(({ type }) => type === 'call.speak.ended');
    expect(ends.map(({ payload }) => payload.status)).toEqual(['completed', 'completed', 'call_hangup']);
  });
});
