import { beforeEach, describe, expect, it } from 'vitest';
import { CarrierError, ConfigError, NotFoundError, RequestError } from '../../src/base/errors.js';
import { Capacity } from '../../src/server/capacity.js';
import { CallBench, startText, text } from '../support/call-bench.js';
import { OUTBOUND, Scene } from './scene.js';

describe('CallDirectory', () => {
  let bench: CallBench;
  beforeEach(() => {
    bench = new CallBench();
  });

  it('knows a live call by either id, and for hours that it is over', () => {
    const { receiver } = bench.call();
    expect(bench.desk.liveCount).toBe(1);
    expect([bench.desk.isLive('call-1'), bench.desk.isLive('carrier-call-1')]).toEqual([true, true]);
    receiver.receiveText(text({ type: 'stop' }));
    expect(bench.desk.liveCount).toBe(0);
    expect([bench.desk.isLive('call-1'), bench.desk.isLive('carrier-call-1')]).toEqual([false, false]);
    bench.clock.advance(60 * 60_000);
    expect([bench.desk.hasEnded('call-1'), bench.desk.hasEnded('carrier-call-1')]).toEqual([true, true]);
    expect(bench.desk.hasEnded('call-2')).toBe(false);
  });

  it('wakes none of many calls that are over, however many have ended since', () => {
    const tokened = new CallBench({ key: new Uint8Array([1]) });
    tokened.call().receiver.receiveText(text({ type: 'stop' }));
    const parties = { caller: '+15550111', callee: '+15550100', direction: 'inbound' } as const;
    for (let call = 2; call < 1002; call += 1)
      tokened.desk.refuse({
        callId: `call-${call}`,
        carrierCallId: `carrier-${call}`,
        host: 'x',
        ...parties,
      });
    expect([tokened.desk.hasEnded('call-1'), tokened.desk.hasEnded('carrier-call-1')]).toEqual([true, true]);
    expect(tokened.ring()).toEqual({ type: 'hang-up' });
    expect(() => tokened.admit()).toThrow(RequestError);
  });

  it('asks for a hang-up that is pending again when anything is heard of the leg', async () => {
    const scene = new Scene({ steering: 'commands', direction: 'inbound' }, { isRecordKept: true });
    const { rest } = scene.bench;
    await scene.up();
    rest.failure = new CarrierError('No.', { status: 503, retryable: true });
    expect(await scene.bench.desk.hangUp(scene.callId)).toBe('pending');
    rest.failure = undefined;
    const before = rest.of('hangUp').length;
    scene.report({ type: 'leg-event' });
    await scene.bench.pass();
    expect(rest.of('hangUp')).toHaveLength(before + 1);
    expect(scene.record.hangUp).toBe('done');
  });

  it('places no call beyond maxCalls', async () => {
    const full = new CallBench({ maxCalls: 1 });
    const { receiver } = full.call();
    await expect(full.desk.dial(OUTBOUND)).rejects.toThrow('maxCalls');
    expect(full.rest.dials).toEqual([]);
    expect(full.events.at(-1)).toMatchObject({
      type: 'call.ended',
      endReason: 'over-capacity',
      outcome: 'failed',
    });
    receiver.receiveText(text({ type: 'stop' }));
    void full.desk.dial(OUTBOUND);
    expect(full.rest.dials).toHaveLength(1);
  });

  it('refuses a second stream for a live call, by either id, and the first goes on', () => {
    const { engine } = bench.call();
    expect(() => bench.admit()).toThrow(RequestError);
    expect(() => bench.admit({ callId: 'other', carrierCallId: 'carrier-call-1' })).toThrow(RequestError);
    const { socket, receiver } = bench.admit({ callId: 'other' });
    receiver.receiveText(startText());
    expect(socket.closes).toEqual([[1008, 'The call has a stream already']]);
    expect(bench.types('other')).toEqual([]);
    expect(bench.desk.isLive('carrier-call-1')).toBe(true);
    expect(engine.heard).toEqual(['start']);
  });

  it('refuses a stream for a call that is over where tokens name the calls', () => {
    const tokened = new CallBench({ key: new Uint8Array([1]) });
    tokened.call().receiver.receiveText(text({ type: 'stop' }));
    expect(() => tokened.admit()).toThrow(RequestError);
  });

  it('gives a call a fresh id where the path is only a claim', () => {
    bench.call().receiver.receiveText(text({ type: 'stop' }));
    bench.call();
    const started = bench.events.filter((event) => event.type === 'call.started');
    expect(started).toHaveLength(2);
    expect(started[1]?.callId).not.toBe('call-1');
    expect(started[1]?.seq).toBe(1);
  });

  it('records a refused call as busy, once', () => {
    const parties = { caller: '+15550111', callee: '+15550100', direction: 'inbound' } as const;
    const call = { callId: 'call-1', carrierCallId: 'carrier-call-1', host: 'voice.example', ...parties };
    bench.desk.refuse(call);
    bench.desk.refuse(call);
    expect(bench.events).toMatchObject([
      { type: 'call.status', status: 'initiated', seq: 1, carrierCallId: 'carrier-call-1', ...parties },
      { type: 'call.ended', endReason: 'over-capacity', outcome: 'busy', seq: 2 },
    ]);
    expect(bench.desk.hasEnded('carrier-call-1')).toBe(true);
    expect(bench.logger.text).not.toContain('+1555');
  });

  it.each([
    ['answered', 'carrier-hangup'],
    [null, 'carrier-hangup'],
    ['failed', 'failed'],
    ['canceled', 'canceled'],
  ] as const)('a report that a call is over (%s) ends it when the stream does not', (outcome, endReason) => {
    const { socket } = bench.call();
    bench.status('completed', { outcome });
    expect(bench.desk.liveCount).toBe(1);
    bench.clock.advance(2000);
    expect(bench.ofType('call.ended')).toMatchObject([{ endReason }]);
    expect(socket.closes).toEqual([[1000, 'Call ended']]);
  });

  it('reports on unknown calls, and those that are no end, change nothing; the stream may tell more', () => {
    const { receiver } = bench.call();
    bench.status('completed', { outcome: 'answered', carrierCallId: 'carrier-other' });
    bench.status('ringing');
    bench.clock.advance(5000);
    expect(bench.desk.liveCount).toBe(1);
    bench.status('completed', { outcome: 'answered' });
    receiver.receiveText(text({ type: 'stop' }));
    bench.clock.advance(5000);
    expect(bench.ofType('call.ended')).toMatchObject([{ endReason: 'caller-hangup' }]);
  });

  it('hangs up for an operator, by the carrier’s id too', async () => {
    const { socket } = bench.call();
    await bench.desk.hangUp('carrier-call-1');
    expect(bench.ofType('call.ended')).toMatchObject([{ endReason: 'operator-hangup' }]);
    expect(bench.rest.requests).toEqual(['hangUp carrier-call-1']);
    expect(socket.closes).toEqual([[1000, 'Call ended']]);
  });

  it('commands on calls that never were or are over say so', async () => {
    bench.call().receiver.receiveText(text({ type: 'stop' }));
    await expect(bench.desk.hangUp('nobody')).rejects.toBeInstanceOf(NotFoundError);
    await expect(bench.desk.transfer('nobody', '+15550123')).rejects.toBeInstanceOf(NotFoundError);
    await expect(bench.desk.transfer('call-1', '+15550123')).rejects.toMatchObject({
      code: 'REQUEST_CONFLICT',
    });
  });

  describe('ring', () => {
    const COMMANDS = { steering: 'commands' } as const;

    it('invites a stream where instructions travel in the reply, and keeps no session for it', () => {
      expect(bench.ring()).toEqual({
        type: 'stream',
        url: 'wss://voice.example/ws/stream/call-1?caller=%2B15550111&callee=%2B15550100',
        parameters: { caller: '+15550111', callee: '+15550100' },
      });
      expect(bench.desk.liveCount).toBe(0);
      expect(bench.desk.expectsStream('call-1')).toBe(true);
      expect(bench.events).toEqual([]);
      expect(bench.clock.pending).toBe(0);
    });

    it('awaits no stream of a call that another process has in a higher term', () => {
      bench.ring();
      const stated = { callId: 'call-1', type: 'call.status' } as const;
      bench.desk.learn({ ...stated, nodeId: 'node-2', term: 1 });
      expect(bench.desk.isInvited('call-1')).toBe(true);
      bench.desk.learn({ ...stated, nodeId: 'node-2', term: 2 });
      expect(bench.desk.isInvited('call-1')).toBe(false);
      bench.status('completed', { outcome: 'answered' });
      expect(bench.events).toEqual([]);
    });

    it('answers no call again that another process has ended, unless it goes on in a higher term', () => {
      const tokened = new CallBench({ key: new Uint8Array([1]) });
      const stated = { callId: 'call-1', nodeId: 'node-2' } as const;
      tokened.desk.learn({ ...stated, term: 2, type: 'call.ended' });
      tokened.desk.learn({ ...stated, term: 2, type: 'cost.updated' });
      expect(tokened.ring()).toEqual({ type: 'hang-up' });
      expect(() => tokened.admit()).toThrow(RequestError);
      expect([tokened.desk.isOver('call-1'), tokened.desk.hasEnded('call-1')]).toEqual([true, false]);
      tokened.desk.learn({ ...stated, term: 3, type: 'call.status' });
      expect(tokened.ring()).toMatchObject({ type: 'stream' });
    });

    it('asks other processes before it ends a call whose stream has not come here', async () => {
      let isTaken = false;
      const asked = async (callId: string) => {
        if (isTaken) shared.desk.giveInvited(callId);
      };
      const shared = new CallBench({
        others: {
          claimedTerm: () => 3,
          mayHaveTaken: () => false,
          asked,
          haveTaken: async () => false,
        },
      });
      shared.ring();
      isTaken = true;
      shared.status('completed', { outcome: 'answered' });
      await shared.pass();
      expect(shared.events).toEqual([]);
      isTaken = false;
      shared.ring();
      shared.status('completed', { outcome: 'answered' });
      await shared.pass();
      // In the term in which the call was claimed.
      expect(shared.events.map(({ type, term }) => [type, term])).toEqual([
        ['call.status', 3],
        ['call.ended', 3],
      ]);
    });

    it.each([true, false])(
      'asks other processes before it hangs up where the carrier refuses to answer, and another one has the call: %s',
      async (isTheirs) => {
        let answer = () => {};
        const asked = () => new Promise<void>((resolve) => (answer = resolve));
        const others = {
          claimedTerm: () => 1,
          mayHaveTaken: () => false,
          asked,
          haveTaken: async () => false,
        };
        const split = new CallBench({ ...COMMANDS, others });
        split.rest.failures.answer = new CarrierError('It is answered already.', {
          status: 422,
          retryable: false,
        });
        split.ring();
        await split.pass(5000);
        expect([split.rest.requests, split.ofType('call.ended')]).toEqual([['answer carrier-call-1'], []]);
        if (isTheirs) split.desk.learn({ callId: 'call-1', nodeId: 'node-2', term: 2, type: 'call.status' });
        answer();
        await split.pass(5000);
        expect(split.rest.requests.slice(1)).toEqual(isTheirs ? [] : ['hangUp carrier-call-1']);
        expect(split.ofType('call.ended')).toHaveLength(isTheirs ? 0 : 1);
      },
    );

    it('has a stream opened for a call of another process, and knows nothing of the call by that', () => {
      const tokened = new CallBench({ key: new Uint8Array([1]), resumes: true });
      const known = new CallBench();
      known.call();
      const record = known.record();
      const next = { number: 12, host: 'webhook.example' };
      const answer = tokened.desk.inviteAgain(record, next);
      expect(answer).toMatchObject({
        type: 'stream',
        url: expect.stringMatching(/^wss:\/\/voice\.example\/ws\/stream\/call-1\/.+caller=/),
        resume: { url: 'https://voice.example/webhooks/carrier-a/resume/call-1/13' },
      });
      expect([tokened.desk.isInvited('call-1'), tokened.desk.isLive('call-1'), tokened.events]).toEqual([
        false,
        false,
        [],
      ]);
      const transfer = { to: '+1', startedAt: 1, result: null };
      for (const other of [
        { endedAt: 5 },
        { transfer },
        { carrier: 'carrier-b' as const },
        { carrierCallId: null },
      ])
        expect(tokened.desk.inviteAgain({ ...record, ...other }, next)).toBeUndefined();
      tokened.desk.learn({ callId: 'call-1', nodeId: 'node-2', term: 2, type: 'call.ended' });
      expect(tokened.desk.inviteAgain(record, next)).toBeUndefined();
      // Without tokens, nobody is answered.
      expect(new CallBench({ resumes: true }).desk.inviteAgain(record, next)).toBeUndefined();
    });

    describe('that another process may have taken', () => {
      /** A call that is up, and what the others are asked about its end: `answered` lets it be known whether another one has it. */
      function takenAbout() {
        let answer: (isTaken: boolean) => void = () => {};
        const asked: [string, number][] = [];
        const others = {
          claimedTerm: () => undefined,
          mayHaveTaken: () => true,
          asked: async () => {},
          haveTaken: (callId: string, term: number) => {
            asked.push([callId, term]);
            return new Promise<boolean>((resolve) => (answer = resolve));
          },
        };
        const taken = new CallBench({ others });
        const { engine, receiver, socket } = taken.call();
        const answered = async (isTaken: boolean) => {
          answer(isTaken);
          await taken.pass();
        };
        return { bench: taken, engine, receiver, socket, asked, answered };
      }
      const ends = (of: CallBench) => of.ofType('call.ended');

      it.each([
        ['the operator', (of: CallBench) => of.desk.hangUp('call-1'), 'operator-hangup'],
        ['the agent', (of: CallBench) => of.engine.context.endCall('agent-hangup'), 'agent-hangup'],
      ] as const)(
        'is over at once by word of %s, and that is stated as of then once it is known that no other has it',
        async (_, hangUp, endReason) => {
          const { bench: taken, engine, socket, asked, answered } = takenAbout();
          const at = taken.clock.wallNow();
          hangUp(taken);
          await taken.pass();
          const known = taken.events.length;
          expect(ends(taken)).toEqual([]);
          expect(taken.rest.requests).toEqual(['hangUp carrier-call-1']);
          expect([engine.heard.at(-1), socket.closes.length]).toEqual(['close', 1]);
          expect(asked).toEqual([['call-1', 1]]);
          const { desk } = taken;
          expect([desk.isLive('call-1'), desk.hasEnded('call-1')]).toEqual([false, true]);
          await taken.pass(20_000);
          expect([taken.events.length, desk.closingTerm('call-1')]).toEqual([known, 1]);
          await answered(false);
          expect(desk.closingTerm('call-1')).toBeUndefined();
          expect(ends(taken)).toMatchObject([{ endReason, term: 1, at }]);
          expect(taken.record()).toMatchObject({ endedAt: at, hangUp: 'done' });
          expect(taken.events.map(({ seq }) => seq)).toEqual(taken.events.map((_, index) => index + 1));
        },
      );

      it('is that one’s where it has it: nothing more is stated here, and what comes of it is for that one', async () => {
        const { bench: taken, receiver, answered } = takenAbout();
        receiver.receiveText(text({ type: 'stop' }));
        receiver.socketClosed(1000);
        taken.status('completed', { outcome: 'answered' });
        await taken.pass(20_000);
        const known = taken.events.length;
        expect([taken.desk.hasEnded('call-1'), ends(taken)]).toEqual([true, []]);
        await answered(true);
        taken.report({ type: 'cost', costUsd: 1 });
        await taken.pass(60_000);
        expect(taken.events).toHaveLength(known);
        expect([taken.desk.isLive('call-1'), taken.desk.hasEnded('call-1')]).toEqual([false, false]);
      });

      it.each([
        ['the others say so', async ({ answered }: ReturnType<typeof takenAbout>) => answered(true)],
        [
          'it states something of it',
          async ({ bench: of }: ReturnType<typeof takenAbout>) =>
            of.desk.learn({ callId: 'call-1', nodeId: 'node-2', term: 2, type: 'call.status' }),
        ],
      ] as const)('is not hung up any more once another one has it: %s', async (_, show) => {
        const taken = takenAbout();
        const { rest } = taken.bench;
        rest.failure = new CarrierError('No.', { status: 503, retryable: true });
        taken.engine.context.endCall('agent-hangup');
        await taken.bench.pass(1000);
        expect(rest.requests).toEqual(['hangUp carrier-call-1']);
        await show(taken);
        rest.failure = undefined;
        await taken.bench.pass(10 * 60_000);
        await taken.bench.desk.shutDown(1000);
        expect(rest.requests.filter((request) => request.startsWith('hangUp'))).toHaveLength(1);
        expect([ends(taken.bench), taken.bench.desk.hasEnded('call-1')]).toEqual([[], false]);
      });

      it('states nothing of a call that was deleted meanwhile', async () => {
        const { bench: taken, answered } = takenAbout();
        taken.desk.hangUp('call-1');
        await taken.pass(1000);
        taken.desk.forgetEnded('call-1');
        await answered(false);
        await taken.desk.shutDown(1000);
        expect(ends(taken)).toEqual([]);
      });

      it('has its end stated by a server that stops meanwhile, once', async () => {
        const { bench: taken, answered } = takenAbout();
        taken.desk.hangUp('call-1');
        await taken.pass(1000);
        expect(ends(taken)).toEqual([]);
        await taken.desk.shutDown(1000);
        expect(ends(taken)).toMatchObject([{ endReason: 'operator-hangup' }]);
        await answered(true);
        await answered(false);
        expect(ends(taken)).toHaveLength(1);
      });

      it('is ended by a server that stops, and asks nobody', async () => {
        const { bench: taken, asked } = takenAbout();
        await taken.desk.shutDown(1000);
        expect(ends(taken)).toMatchObject([{ endReason: 'server-shutdown' }]);
        expect(asked).toEqual([]);
      });
    });

    it('uses the host that the webhook came to when no other is known', () => {
      const told = new CallBench({ publicHost: undefined });
      expect(told.ring()).toMatchObject({ url: expect.stringContaining('wss://webhook.example/') });
    });

    it('answers where commands are needed, after the webhook is answered and once', async () => {
      const commanded = new CallBench(COMMANDS);
      expect(commanded.ring()).toMatchObject({ type: 'stream' });
      expect(commanded.ring()).toMatchObject({ type: 'stream' });
      expect(commanded.rest.requests).toEqual([]);
      expect(commanded.desk.liveCount).toBe(1);
      expect(commanded.record()).toMatchObject({ status: 'ringing', answeredAt: null });
      await commanded.pass();
      expect(commanded.rest.requests).toEqual(['answer carrier-call-1']);
      commanded.status('active');
      commanded.status('active');
      expect(commanded.rest.requests).toEqual([
        'answer carrier-call-1',
        'startStream carrier-call-1 preferred',
      ]);
      expect(commanded.record().status).toBe('active');
    });

    it.each(['replies', 'commands'] as const)(
      'of a call whose end was reported before it rang (%s)',
      async (steering) => {
        const early = new CallBench({ steering });
        early.status('completed', { outcome: 'canceled' });
        expect(early.ring()).toEqual({ type: 'hang-up' });
        expect(early.ring()).toEqual({ type: 'hang-up' });
        await early.pass(60_000);
        expect(early.types()).toEqual(['call.status', 'call.ended']);
        expect(early.record()).toMatchObject({ endReason: 'caller-hangup', outcome: 'canceled' });
        expect(early.rest.requests).toEqual([]);
      },
    );

    it.each([
      ['canceled', 'caller-hangup', 'canceled'],
      ['no-answer', 'caller-hangup', 'no-answer'],
      ['failed', 'failed', 'failed'],
      ['answered', 'caller-hangup', 'answered'],
    ] as const)('records a call whose stream never came: %s', (reported, endReason, outcome) => {
      bench.ring();
      bench.status('completed', { outcome: reported });
      bench.status('completed', { outcome: reported });
      expect(bench.record()).toMatchObject({ endReason, outcome, caller: '+15550111', answeredAt: null });
      expect(bench.types()).toEqual(['call.status', 'call.ended']);
      expect(bench.desk.hasEnded('call-1')).toBe(true);
    });

    it.each([
      [3000, 'caller-hangup', 'answered', null],
      [10_000, 'caller-hangup', 'answered', null],
      [11_000, 'stream-lost', 'failed', expect.stringContaining('no stream to this server')],
    ] as const)(
      'records a caller who left %i ms after the answer, before the stream came',
      (durationMs, endReason, outcome, message) => {
        bench.ring();
        bench.report({
          type: 'status',
          status: 'completed',
          outcome: 'answered',
          sequence: null,
          durationMs,
        });
        const error = message === null ? null : { code: 'CARRIER_FAILED', message };
        expect(bench.record()).toMatchObject({ endReason, outcome, durationMs, error });
      },
    );

    it('turns a call away while the server stops', async () => {
      const commanded = new CallBench(COMMANDS);
      await commanded.desk.shutDown(1000);
      expect(commanded.ring()).toEqual({ type: 'hang-up' });
      await commanded.pass();
      expect(commanded.rest.requests).toEqual(['reject carrier-call-1 rejected']);
      expect(commanded.desk.expectsStream('call-1')).toBe(false);
      await bench.desk.shutDown(1000);
      expect(bench.ring()).toEqual({ type: 'hang-up' });
    });

    it('turns a call away that there is no room for, by command where it needs one', async () => {
      const commanded = new CallBench(COMMANDS);
      const call = {
        callId: 'call-1',
        carrierCallId: 'carrier-call-1',
        caller: '+15550111',
        callee: '+15550100',
        direction: 'inbound',
        host: 'h.example',
      } as const;
      commanded.desk.refuse(call);
      commanded.desk.refuse(call);
      await commanded.pass();
      expect(commanded.rest.requests).toEqual(['reject carrier-call-1 busy']);
      expect(commanded.record()).toMatchObject({ endReason: 'over-capacity', outcome: 'busy' });
      commanded.rest.failure = new Error('no');
      commanded.desk.refuse({ ...call, callId: 'call-2', carrierCallId: 'carrier-call-2' });
      await commanded.pass();
      expect(commanded.logger.sentences('warn')).toContain('the carrier did not reject the call');
    });
  });

  it('a report that breaks something is felt by nobody', () => {
    const { engine } = bench.call();
    const recording = Object.defineProperty({}, 'status', {
      get: () => {
        throw new Error('broken');
      },
    });
    expect(bench.report({ type: 'recording', recording: recording as never })).toBeUndefined();
    expect(bench.logger.sentences('error')).toEqual(['failed to handle a status report']);
    expect(engine.heard).toEqual(['start']);
  });

  describe('transfer', () => {
    it('hands the caller over with our number, and the stop that follows is no hang-up', async () => {
      const { receiver } = bench.call();
      let answer = () => {};
      bench.rest.answer = new Promise((resolve) => (answer = resolve));
      const transferred = bench.desk.transfer('call-1', '+15550123');
      await expect(bench.desk.transfer('call-1', '+15550124')).rejects.toMatchObject({
        code: 'REQUEST_CONFLICT',
      });
      receiver.receiveText(text({ type: 'stop' }));
      answer();
      await transferred;
      expect(bench.rest.requests).toEqual(['transfer carrier-call-1 +15550123 +15550100']);
      expect(bench.ofType('call.ended')).toEqual([]);
      expect(bench.report({ type: 'transfer', result: 'connected' })).toEqual({ type: 'hang-up' });
      expect(bench.ofType('call.ended')).toMatchObject([{ endReason: 'transferred' }]);
      expect(bench.record().transfer).toMatchObject({ to: '+15550123', result: 'connected' });
    });

    it('does not hang up on a caller whose stream closes in the middle of it', async () => {
      const { receiver } = bench.call();
      const transferred = bench.desk.transfer('call-1', '+15550123');
      receiver.socketClosed(1006);
      await transferred;
      await bench.pass(45_000);
      expect(bench.rest.requests).toEqual(['transfer carrier-call-1 +15550123 +15550100']);
      expect(bench.ofType('call.ended')).toMatchObject([{ endReason: 'transferred' }]);
    });

    it('that is refused after the stream has gone was no transfer: the caller has hung up', async () => {
      const { receiver } = bench.call();
      bench.rest.failures.transfer = new CarrierError('over', { status: 404, retryable: false });
      const transferred = bench.desk.transfer('call-1', '+15550123');
      receiver.receiveText(text({ type: 'stop' }));
      await expect(transferred).rejects.toBeInstanceOf(CarrierError);
      expect(bench.ofType('call.ended')).toMatchObject([{ endReason: 'caller-hangup' }]);
      expect(bench.record().transfer).toBeNull();
    });

    it.each([
      [new ConfigError('CONFIG_MISSING', 'no credentials'), ConfigError],
      [new CarrierError('refused', { status: 400, retryable: false }), CarrierError],
      [new TypeError('fetch failed'), CarrierError],
    ])('a call goes on when it fails: %s', async (failure, type) => {
      const { receiver, socket } = bench.call();
      bench.rest.failure = failure;
      const ordered = expect(bench.desk.transfer('call-1', '+15550123')).rejects.toBeInstanceOf(type);
      await bench.pass(5000);
      await ordered;
      expect(bench.desk.liveCount).toBe(1);
      expect(socket.closes).toEqual([]);
      receiver.receiveText(text({ type: 'stop' }));
      expect(bench.ofType('call.ended')).toMatchObject([{ endReason: 'caller-hangup' }]);
    });

    it.each(['', '15550123', '+0123', 'sip:a@b', '+1555 0123'])('takes E.164 alone, not %j', async (to) => {
      bench.call();
      await expect(bench.desk.transfer('call-1', to)).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
      expect(bench.rest.requests).toEqual([]);
    });
  });

  describe('shutDown', () => {
    it('ends every call, hangs up through the carrier, and leaves the sockets to the server', async () => {
      const calls = ['call-1', 'call-2'].map((callId) => bench.call(callId));
      const waiting = bench.admit({ callId: 'call-3' });
      let answer = () => {};
      bench.rest.answer = new Promise((resolve) => (answer = resolve));
      let isDone = false;
      const done = bench.desk.shutDown(5000).then(() => (isDone = true));
      expect(bench.rest.requests).toEqual(['hangUp carrier-call-1', 'hangUp carrier-call-2']);
      expect(bench.desk.liveCount).toBe(0);
      await bench.clock.advanceAsync(100);
      expect(isDone).toBe(false);
      answer();
      await done;
      for (const callId of ['call-1', 'call-2']) {
        expect(bench.ofType('call.ended', callId)).toMatchObject([{ endReason: 'server-shutdown' }]);
      }
      expect([...calls, waiting].flatMap(({ socket }) => socket.closes)).toEqual([]);
      expect(() => bench.admit({ callId: 'call-4' })).toThrow(RequestError);
      await bench.pass(2000);
      expect(bench.clock.pending).toBe(0);
    });

    it('waits for a carrier that never answers no longer than it may', async () => {
      bench.call();
      bench.rest.answer = new Promise(() => {});
      let isDone = false;
      const done = bench.desk.shutDown(5000).then(() => (isDone = true));
      await bench.clock.advanceAsync(4999);
      expect(isDone).toBe(false);
      await bench.clock.advanceAsync(1);
      await done;
      expect(isDone).toBe(true);
    });

    it('is done at once without calls', async () => {
      await bench.desk.shutDown(5000);
      expect(bench.events).toEqual([]);
    });
  });
});

describe('places', () => {
  const place = (prepares: boolean) => new CallBench({ steering: 'commands', prepares });

  it('are not taken by what an unsigned webhook says, until a stream is there', async () => {
    const bench = place(false);
    for (const callId of ['call-1', 'call-2']) bench.ring(callId);
    await bench.pass();
    expect([bench.desk.liveCount, bench.desk.takenPlaces]).toEqual([2, 0]);
    expect(bench.desk.holdsPlace('call-1')).toBe(false);
    bench.status('active', { callId: 'call-1', carrierCallId: 'carrier-call-1' });
    bench.connect('call-1');
    expect([bench.desk.takenPlaces, bench.desk.holdsPlace('call-1')]).toEqual([1, true]);
    await bench.pass(60_000);
    expect([bench.desk.liveCount, bench.desk.takenPlaces]).toEqual([1, 1]);
  });

  it('are taken at once by signed ones, by streams and by calls of our own', async () => {
    const bench = place(true);
    bench.ring('call-1');
    bench.call('call-2');
    expect(bench.desk.takenPlaces).toBe(2);
    const unsigned = place(false);
    unsigned.call('call-2');
    void unsigned.desk.dial({ ...OUTBOUND, to: '+15550111' });
    expect(unsigned.desk.takenPlaces).toBe(2);
  });

  it('are kept for calls that have their answer and no stream yet, for ten seconds', async () => {
    const bench = new CallBench({ key: new Uint8Array([1]), maxCalls: 2 });
    const { desk, carrier, clock } = bench;
    const capacity = new Capacity({ carrier, desk, maxCalls: 2, isDraining: () => false });
    for (const callId of ['call-1', 'call-2']) bench.ring(callId);
    expect([desk.expectedCount, capacity.isFull(), capacity.isFull('call-2')]).toEqual([2, true, false]);
    await expect(desk.dial(OUTBOUND)).rejects.toThrow('maxCalls');
    // The second call's stream comes, the first one's never does.
    bench.call('call-2');
    expect([desk.expectedCount, desk.takenPlaces, capacity.isFull('call-3')]).toEqual([1, 2, true]);
    clock.advance(10_000);
    expect([desk.expectedCount, desk.takenPlaces, capacity.isFull('call-3')]).toEqual([0, 1, false]);
  });

  it('are kept for no call that anybody could have announced', () => {
    const unsigned = new CallBench();
    unsigned.ring('call-1');
    expect([unsigned.desk.expectedCount, unsigned.desk.takenPlaces]).toEqual([0, 0]);
  });
});

it('a drain takes the stream of a call that was picked up, also where nobody signs webhooks', () => {
  const { desk, carrier } = new CallBench({ steering: 'commands', maxCalls: 1 });
  const capacity = new Capacity({ carrier, desk, maxCalls: 1, isDraining: () => false });
  desk.ring({
    callId: 'call-1',
    carrierCallId: 'carrier-call-1',
    caller: '+15550111',
    callee: '+15550100',
    direction: 'inbound',
    host: 'voice.example.com',
  });
  expect(desk.liveCount).toBe(1);
  desk.drain();
  expect([capacity.takesStream('call-1'), capacity.takesStream('call-2')]).toEqual([true, false]);
  const none = new Capacity({ carrier, desk, maxCalls: 0, isDraining: () => false });
  expect(none.takesStream('call-1')).toBe(false);
});

it.each([
  ['draining', ({ desk }: CallBench) => desk.drain()],
  [
    'overloaded',
    ({ load }: CallBench) => {
      load.isOverloaded = true;
    },
  ],
] as const)('a server that is %s once it has a place from others places no call', async (state, become) => {
  let give: (isTaken: boolean) => void = () => {};
  const take = () => new Promise<boolean>((resolve) => (give = resolve));
  const bench = new CallBench({ maxCalls: 2, sharedPlaces: { isFull: false, take } });
  const dialed = bench.desk.dial(OUTBOUND);
  become(bench);
  give(true);
  await expect(dialed).rejects.toThrow(state);
  expect(bench.rest.dials).toEqual([]);
  // The place goes with the end.
  expect(bench.events.at(-1)).toMatchObject({ type: 'call.ended', endReason: 'over-capacity' });
});

describe('under overload', () => {
  it('no call is placed: the error and the record say so', async () => {
    const bench = new CallBench();
    bench.load.isOverloaded = true;
    await expect(bench.desk.dial(OUTBOUND)).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' });
    expect(bench.rest.dials).toEqual([]);
    expect(bench.events.at(-1)).toMatchObject({
      type: 'call.ended',
      endReason: 'over-capacity',
      outcome: 'failed',
    });
    bench.load.isOverloaded = false;
    await expect(bench.desk.dial(OUTBOUND)).resolves.toBeDefined();
  });
});
