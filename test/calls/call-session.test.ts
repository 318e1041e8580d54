import { beforeEach, describe, expect, it } from 'vitest';
import { PCM_16K } from '../../src/audio/format.js';
import { CarrierError, ProviderError } from '../../src/base/errors.js';
import type { StreamAdmission } from '../../src/calls/call-desk.js';
import { setPhrasesFor } from '../../src/engines/languages/set-phrases.js';
import { CallBench, startText, text } from '../support/call-bench.js';
import type { FakeEngine } from '../support/call-fakes.js';
import { turn } from '../support/call-facts.js';

const KEY = new Uint8Array([1, 2, 3]);
const TOKEN: StreamAdmission = {
  callId: 'call-1',
  carrierCallId: 'carrier-call-1',
  caller: '+15550111',
  callee: '+15550100',
  direction: 'inbound',
};
const HOUR_MS = 60 * 60_000;
const SPOKEN_SORRY = 'speak carrier-call-1 en-US I am sorry, something went wrong. Please call again later.';

/** Half a second of agent audio. */
function speak(engine: FakeEngine): void {
  engine.context.playout.push(new Int16Array(8000));
}

describe('CallSession', () => {
  let bench: CallBench;
  beforeEach(() => {
    bench = new CallBench();
  });

  it('has lines of engine and providers name the call', () => {
    const { engine } = bench.call();
    engine.context.logger.warn({ gapMs: 40 }, 'the recognizer reconnected');
    expect(bench.logger.lines.at(-1)?.fields).toEqual({ callId: 'call-1', gapMs: 40 });
  });

  it('tells a call from start to stop: whole frames in, audio and marks out, one end', async () => {
    const { socket, receiver, engine } = bench.call();
    receiver.receiveText(text({ type: 'audio', samples: 500 }));
    receiver.receiveText(text({ type: 'audio', samples: 140 }));
    engine.context.playout.push(new Int16Array(320));
    engine.context.playout.mark('hello');
    receiver.receiveText(text({ type: 'mark', name: 'hello' }));
    receiver.receiveText(text({ type: 'mark', name: 'never ours' }));
    receiver.receiveText(text({ type: 'dtmf', digit: '7' }));
    receiver.receiveText(text({ type: 'stop' }));
    receiver.socketClosed(1000);

    expect(engine.heard).toEqual(['start', 'audio 320', 'audio 320', 'mark hello', 'dtmf 7', 'close']);
    expect(socket.sent).toEqual(['audio 640', 'mark hello']);
    expect(socket.closes).toEqual([[1000, 'Call ended']]);
    expect(bench.events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    expect(bench.events).toMatchObject([
      {
        type: 'call.started',
        callId: 'call-1',
        nodeId: 'node-1',
        carrierCallId: 'carrier-call-1',
        caller: '+15550111',
        callee: '+15550100',
        direction: 'inbound',
        mode: 'pipeline',
        provider: { stt: 'fake/stt' },
      },
      { type: 'dtmf.received', digit: '7' },
      // Two frames heard, one said, and one mark.
      {
        type: 'audio.measured',
        envelope: { bucketMs: 20, caller: 'AAAAAA==', agent: 'AAA=', marksMs: [0], clearsMs: [] },
      },
      {
        type: 'call.ended',
        endReason: 'caller-hangup',
        outcome: 'answered',
        error: null,
        media: { framesReceived: 2, framesSent: 1, unexpectedMessages: 0, clears: 0 },
      },
    ]);
    expect(bench.rest.requests).toEqual([]);
    expect(bench.clock.pending).toBe(0);
    expect(bench.logger.text).not.toMatch(/\+1555/);
  });

  it('the engine states its last facts before the end, and nothing but the bill after it', () => {
    const { receiver, engine } = bench.call();
    const fact = () => engine.context.fact({ type: 'turn.completed', turn: turn(0) });
    engine.close = fact;
    receiver.receiveText(text({ type: 'stop' }));
    fact();
    expect(bench.types()).toEqual(['call.started', 'turn.completed', 'call.ended']);
    engine.context.fact({
      type: 'usage.measured',
      stage: 'llm',
      turnIndex: 0,
      quantities: { inputTokens: 1 },
      isGuess: false,
    });
    expect(bench.events.at(-1)).toMatchObject({ type: 'cost.updated', seq: 4 });
  });

  it.each([
    ['no start within ten seconds', (b: CallBench) => b.clock.advance(10_000), 'protocol-error'],
    ['a socket that closes before start', () => {}, 'stream-lost'],
  ])('records %s when the call is known by its token', (_, wait, endReason) => {
    const known = new CallBench({ key: KEY });
    const { receiver } = known.admit(TOKEN);
    wait(known);
    receiver.socketClosed(1006);
    expect(known.events).toMatchObject([
      { type: 'call.status', status: 'initiated', carrierCallId: 'carrier-call-1', caller: '+15550111' },
      { type: 'call.ended', endReason, outcome: 'failed' },
    ]);
    expect(known.desk.liveCount).toBe(0);
  });

  it('closes a stream without start, and records nothing of an unknown one', () => {
    const { socket } = bench.admit();
    bench.clock.advance(3_099);
    expect(socket.closes).toEqual([]);
    bench.clock.advance(1);
    expect(socket.closes).toEqual([[1008, 'No start message']]);
    expect(bench.events).toEqual([]);
  });

  it('refuses a start that names another call than the token', () => {
    const tokened = new CallBench({ key: KEY });
    const { socket, receiver } = tokened.admit(TOKEN);
    receiver.receiveText(startText({ carrierCallId: 'carrier-other' }));
    expect(socket.closes).toEqual([[1008, 'The start message names another call']]);
    expect(tokened.engines).toEqual([]);
    expect(tokened.ofType('call.ended')).toMatchObject([{ endReason: 'protocol-error' }]);
    expect(tokened.rest.requests).toEqual([]);
  });

  it.each([
    ['a codec', 'G722', 'G722.'],
    ['a codec name made to be misread', '<script>\n', 'script.'],
  ])('has the carrier apologize to a call with %s that is not spoken here', (_, codec, shown) => {
    const { socket, receiver } = bench.admit();
    receiver.receiveText(startText({ format: null, codec }));
    expect(bench.ofType('call.ended')).toEqual([]);
    expect(bench.rest.requests).toEqual([SPOKEN_SORRY]);
    bench.report({ type: 'speech-ended' });
    const [end] = bench.ofType('call.ended');
    expect(end).toMatchObject({
      endReason: 'protocol-error',
      outcome: 'failed',
      error: { code: 'PROTOCOL_INVALID' },
    });
    expect(end?.error?.message.endsWith(shown)).toBe(true);
    expect(socket.closes).toEqual([[1003, 'Unsupported codec']]);
    expect(bench.rest.requests).toEqual([SPOKEN_SORRY, 'hangUp carrier-call-1']);
  });

  it("has the carrier say it in the words and the language of the call's own agent", async () => {
    const own = new CallBench({ setPhrases: setPhrasesFor('pl', 'Przepraszam.') });
    own.admit().receiver.receiveText(startText({ format: null, codec: 'G722' }));
    expect(own.rest.requests).toEqual(['speak carrier-call-1 pl Przepraszam.']);
  });

  it('counts what is out of place and goes on', () => {
    const { receiver } = bench.admit();
    receiver.receiveText(text({ type: 'audio', samples: 320 }));
    receiver.receiveText(text({ type: 'stop' }));
    receiver.receiveText(text({ type: 'connected' }));
    receiver.receiveText(startText());
    receiver.receiveText(startText({ format: PCM_16K }));
    receiver.receiveText(text({ type: 'unexpected', reason: 'no json' }));
    receiver.receiveUnexpected('a binary message');
    receiver.receiveText(text({ type: 'stop' }));
    expect(bench.ofType('call.started')).toHaveLength(1);
    expect(bench.ofType('call.ended')[0]?.media?.unexpectedMessages).toBe(5);
    expect(bench.engines[0]?.heard).toEqual(['start', 'close']);
  });

  it('finds nothing wrong with the words of a simulated caller where the engine listens to the sound', () => {
    const { receiver } = bench.admit();
    receiver.receiveText(startText());
    receiver.receiveText(text({ type: 'spoken-text', id: 'u1', text: 'hi', final: true }));
    receiver.receiveText(text({ type: 'stop' }));
    expect(bench.ofType('call.ended')[0]?.media?.unexpectedMessages).toBe(0);
    expect(bench.engines[0]?.heard).toEqual(['start', 'close']);
  });

  it('closes a stream that is nothing but noise', () => {
    const { socket, receiver } = bench.call();
    for (let count = 0; count < 1000; count += 1) receiver.receiveUnexpected('noise');
    expect(socket.closes).toEqual([]);
    receiver.receiveUnexpected('noise');
    receiver.receiveUnexpected('noise');
    expect(socket.closes).toEqual([[1008, 'Too many unexpected messages']]);
    expect(bench.ofType('call.ended')).toMatchObject([{ endReason: 'protocol-error' }]);
  });

  it('hands text beside the audio to a simulated recognizer alone, and bounds it', () => {
    bench.takesText = true;
    const { receiver, engine } = bench.call();
    for (let count = 0; count < 2500; count += 1) {
      receiver.receiveText(text({ type: 'spoken-text', id: 'u', text: 'hi', final: false }));
    }
    expect(engine.heard.filter((line) => line === 'text hi')).toHaveLength(2000);
  });

  it('a decoder that breaks closes its own call and no other', () => {
    const broken = bench.call('call-1');
    const other = bench.call('call-2');
    broken.receiver.receiveText('bomb');
    other.receiver.receiveText(text({ type: 'audio', samples: 320 }));
    expect(broken.socket.closes).toEqual([[1003, 'Unreadable message']]);
    expect(bench.ofType('call.ended')).toMatchObject([{ endReason: 'protocol-error' }]);
    expect(other.socket.closes).toEqual([]);
    expect(other.engine.heard).toEqual(['start', 'audio 320']);
  });

  it.each<[string, (engine: FakeEngine) => void]>([
    ['cannot be made', fail],
    ['throws at its start', breaking('start')],
    ['throws on audio', breaking('audio')],
    ['throws on a key', breaking('dtmf')],
    ['throws in a timer', ({ context }) => void context.clock.after(1, fail)],
    [
      'throws on audio and on close',
      (engine) => void Object.assign(engine, { trouble: 'audio', close: fail }),
    ],
  ])('an engine that %s ends its call with an apology of the carrier, others go on', (_, sabotage) => {
    const other = bench.call('call-2');
    bench.onEngine = sabotage;
    const { socket, receiver } = bench.admit();
    receiver.receiveText(startText());
    receiver.receiveText(text({ type: 'dtmf', digit: '1' }));
    receiver.receiveText(text({ type: 'audio', samples: 640 }));
    bench.clock.advance(5);
    expect(bench.ofType('call.ended')).toEqual([]);
    bench.report({ type: 'speech-ended' });
    expect(bench.ofType('call.ended')).toMatchObject([
      { endReason: 'provider-failed', outcome: 'answered', error: { code: 'INTERNAL' } },
    ]);
    expect(socket.closes).toEqual([[1011, 'Voice engine failed']]);
    expect(bench.rest.requests).toEqual([SPOKEN_SORRY, 'hangUp carrier-call-1']);
    expect(bench.record().transcript.filter(({ role }) => role === 'agent')).toMatchObject([
      { text: 'I am sorry, something went wrong. Please call again later.', final: true },
    ]);
    expect(bench.logger.text).not.toContain('sk-123');
    expect(JSON.stringify(bench.events)).not.toContain('sk-123');
    other.receiver.receiveText(text({ type: 'audio', samples: 320 }));
    expect(other.engine.heard).toEqual(['start', 'audio 320']);
  });

  it('an engine that asks for the end hears nothing of a way out that is broken', () => {
    const { socket, engine } = bench.call();
    socket.send = fail;
    expect(() => engine.context.endCall('agent-hangup')).not.toThrow();
    bench.report({ type: 'speech-ended' });
    expect(bench.ofType('call.ended')).toMatchObject([{ endReason: 'provider-failed' }]);
  });

  it('an error of our own kind is named in the record', () => {
    bench.onEngine = () => {
      throw new ProviderError('The recognizer refused the key.', { status: 401, retryable: false });
    };
    bench.admit().receiver.receiveText(startText());
    bench.report({ type: 'speech-ended' });
    expect(bench.ofType('call.ended')[0]?.error).toEqual({
      code: 'PROVIDER_FAILED',
      message: 'The recognizer refused the key.',
    });
  });

  it('the agent hangs up only when its goodbye has been heard', async () => {
    const { socket, engine } = bench.call();
    speak(engine);
    engine.context.endCall('agent-hangup');
    engine.context.endCall('idle');
    bench.clock.advance(400);
    expect(bench.ofType('call.ended')).toEqual([]);
    bench.clock.advance(400);
    expect(bench.ofType('call.ended')).toMatchObject([{ endReason: 'agent-hangup', error: null }]);
    expect(socket.closes).toEqual([[1000, 'Call ended']]);
    expect(bench.rest.requests).toEqual(['hangUp carrier-call-1']);
  });

  it('a goodbye that nobody plays does not hold the line', () => {
    const { socket, engine } = bench.call();
    socket.bufferedBytes = 1e9;
    speak(engine);
    engine.context.endCall('agent-hangup');
    bench.clock.advance(5000);
    expect(bench.ofType('call.ended')).toMatchObject([{ endReason: 'agent-hangup' }]);
  });

  it('a failure that the agent was apologizing for stays the reason when the caller hangs up', () => {
    const { receiver, engine } = bench.call();
    speak(engine);
    const failure = { code: 'PROVIDER_FAILED', message: 'No answer.' };
    engine.context.endCall('provider-failed', failure);
    receiver.receiveText(text({ type: 'stop' }));
    expect(bench.ofType('call.ended')).toMatchObject([{ endReason: 'provider-failed', error: failure }]);
  });

  it.each([
    [true, ['lookUp carrier-call-1']],
    [false, ['lookUp carrier-call-1', 'hangUp carrier-call-1']],
  ])('a lost stream is recorded at once, and the carrier asked (over: %s)', async (over, requests) => {
    bench.rest.over = over;
    const { receiver } = bench.call();
    receiver.socketClosed(1006);
    expect(bench.ofType('call.ended')).toMatchObject([{ endReason: 'stream-lost', outcome: 'answered' }]);
    await bench.clock.advanceAsync(0);
    expect(bench.rest.requests).toEqual(requests);
  });

  it('asks nobody without credentials', async () => {
    bench.rest.configured = false;
    bench.call().receiver.socketClosed(1006);
    await bench.clock.advanceAsync(0);
    expect(bench.rest.requests).toEqual([]);
  });

  it('ends at once without an apology when the carrier cannot be asked for one', () => {
    bench.rest.configured = false;
    bench.onEngine = fail;
    const { socket, receiver } = bench.admit();
    receiver.receiveText(startText());
    expect(bench.ofType('call.ended')).toMatchObject([{ endReason: 'provider-failed' }]);
    expect(socket.closes).toEqual([[1011, 'Voice engine failed']]);
    expect(bench.rest.requests).toEqual([]);
  });

  it('a carrier that fails to hang up is asked again, and the record says that the end is not confirmed', async () => {
    bench.rest.failure = new Error('500');
    bench.call();
    const done = bench.desk.hangUp('call-1');
    expect(bench.ofType('call.ended')).toMatchObject([{ endReason: 'operator-hangup' }]);
    await bench.pass(2000);
    expect(await done).toBe('pending');
    expect(bench.rest.requests).toEqual([
      'hangUp carrier-call-1',
      'lookUp carrier-call-1',
      'hangUp carrier-call-1',
    ]);
    expect(bench.record()).toMatchObject({ hangUp: 'pending', incidents: [] });
    bench.rest.failure = undefined;
    expect(await bench.desk.hangUp('carrier-call-1')).toBe('done');
    expect(bench.record()).toMatchObject({ hangUp: 'done', incidents: [] });
    await expect(bench.desk.hangUp('call-1')).rejects.toMatchObject({ code: 'REQUEST_CONFLICT' });
    expect(bench.clock.pending).toBe(0);
  });

  it.each([true, false])(
    'whose hang-up is not confirmed when the server stops says so; records are kept: %s',
    async (isRecordKept) => {
      const kept = new CallBench({ isRecordKept });
      kept.rest.answer = new Promise(() => {});
      kept.call();
      const tried = kept.desk.hangUp('call-1');
      // A process that is killed now has said what is open.
      expect(kept.record().hangUp).toBe('pending');
      const done = kept.desk.shutDown(5000);
      await kept.pass(5000);
      await done;
      expect(await tried).toBe(isRecordKept ? 'pending' : 'failed');
      expect(kept.record()).toMatchObject(
        isRecordKept
          ? { hangUp: 'pending', incidents: [] }
          : { hangUp: 'failed', incidents: [{ code: 'hangup-failed' }] },
      );
      expect(kept.clock.pending).toBe(0);
    },
  );

  it.each([
    ['its carrier ended', (rung: CallBench) => void rung.status('completed', { outcome: 'answered' }), null],
    ['its agent ended', (rung: CallBench) => rung.engine.context.endCall('agent-hangup'), 'done'],
  ])('that %s has no hang-up to wait for, or has been hung up', async (_, end, hangUp) => {
    const rung = new CallBench();
    rung.ring();
    rung.connect();
    end(rung);
    await rung.pass(3000);
    expect(rung.record()).toMatchObject({ status: 'completed', hangUp });
  });

  it('a carrier that refuses us has not hung up, and the record says so', async () => {
    bench.rest.failure = new CarrierError('No.', { status: 401, retryable: false });
    bench.call();
    expect(await bench.desk.hangUp('call-1')).toBe('failed');
    expect(bench.record()).toMatchObject({ hangUp: 'failed', incidents: [{ code: 'hangup-failed' }] });
    await bench.pass(2000);
    expect(bench.clock.pending).toBe(0);
  });

  it('ends a call that lasts too long', () => {
    const { socket } = bench.call();
    bench.clock.advance(HOUR_MS - 1);
    expect(bench.ofType('call.ended')).toEqual([]);
    bench.clock.advance(1);
    expect(bench.ofType('call.ended')).toMatchObject([{ endReason: 'max-duration' }]);
    expect(socket.closes).toEqual([[1000, 'Call ended']]);
    expect(bench.rest.requests).toEqual(['hangUp carrier-call-1']);
  });

  it('ends once, whatever comes after, and hears nothing more', async () => {
    const { socket, receiver, engine } = bench.call();
    receiver.receiveText(text({ type: 'stop' }));
    receiver.receiveText(text({ type: 'stop' }));
    receiver.receiveText('bomb');
    receiver.receiveText(text({ type: 'audio', samples: 320 }));
    receiver.receiveUnexpected('noise');
    receiver.socketClosed(1006);
    engine.context.endCall('agent-hangup');
    engine.context.playout.push(new Int16Array(320));
    bench.clock.advance(HOUR_MS);
    expect(bench.types()).toEqual(['call.started', 'call.ended']);
    expect(engine.heard).toEqual(['start', 'close']);
    expect(socket.sent).toEqual([]);
    expect(socket.closes).toHaveLength(1);
    await expect(bench.desk.hangUp('call-1')).rejects.toMatchObject({ code: 'REQUEST_CONFLICT' });
  });

  it('a listener that ends the call at its start leaves no engine behind', () => {
    bench.bus.subscribe((event) => {
      if (event.type === 'call.started') void bench.desk.hangUp(event.callId);
    });
    bench.admit().receiver.receiveText(startText());
    expect(bench.types()).toEqual(['call.started', 'call.ended']);
    expect(bench.engines).toEqual([]);
    expect(bench.clock.pending).toBe(0);
  });
});

function breaking(method: string) {
  return (engine: FakeEngine): void => {
    engine.trouble = method;
  };
}

function fail(): never {
  throw new Error('vendor says: key sk-123 is wrong');
}
