// A recognizer whose connection freezes while the caller speaks: what they said goes to the voice mode that goes on, in time.
import { describe, expect, it } from 'vitest';
import type { SpeechToText } from '../../src/providers/speech-to-text.js';
import { DeepgramSession } from '../../src/providers/stt/deepgram/session.js';
import { FakeVendor, type FakeVendorSocket } from '../providers/fake-vendor-socket.js';
import type { FakeClock } from '../support/fake-clock.js';
import { FakeModel, FakeVoice } from './call-rig.js';
import { FallbackRig, GONE, talkingToModel } from './fallback-rig.js';
import { FakeRealtimeModel } from './realtime-rig.js';
import { createPipelineRecipe } from '../../src/engines/pipeline/recipe.js';
import { DEFAULT_TURN_TAKING } from '../../src/engines/turn-taking.js';

const BYTES_PER_MS = 32;
/** Results come so often, also on silence. */
const RESULT_MS = 500;
/** Less audio than this since the last result, and `Finalize` is not answered. */
const LEAST_TO_FINALIZE_MS = 200;

/** The vendor, until it freezes: nothing of what is sent is answered then, and no handshake is. */
class FrozenVendor {
  readonly vendor = new FakeVendor();
  /** It keeps a piece open as long as it hears speech. */
  isSpeech = false;
  isFrozen = false;
  #socket: FakeVendorSocket | undefined;
  #coveredMs = 0;
  #controls = 0;

  provider(): SpeechToText {
    const target = {
      url: new URL('ws://vendor'),
      headers: {},
      names: { vendor: 'Deepgram' },
    } as never;
    const { open } = this.vendor;
    return {
      name: 'frozen-stt',
      open: (context) => new DeepgramSession(context, { target, ownsTurnTaking: false, open }),
    };
  }

  /** What has come to it is answered. */
  step(clock: FakeClock): void {
    const { socket } = this.vendor;
    if (socket !== this.#socket) {
      this.#socket = socket;
      this.#coveredMs = 0;
      this.#controls = 0;
      if (!this.isFrozen) socket.opens();
      else
        clock.after(socket.options.handshakeTimeoutMs ?? 2000, () => {
          if (!socket.closed) socket.ends({ reason: 'did not answer in time' });
        });
    }
    if (this.isFrozen || socket.closed) return;
    const heardMs = socket.audioBytes / BYTES_PER_MS;
    const controls = socket.messages.filter(({ type }) => type === 'Finalize').length;
    const isAsked = controls > this.#controls;
    this.#controls = controls;
    const newMs = heardMs - this.#coveredMs;
    if (isAsked && newMs >= LEAST_TO_FINALIZE_MS) this.#results(heardMs, { from_finalize: true });
    else if (!this.isSpeech && newMs >= RESULT_MS) this.#results(heardMs, {});
  }

  #results(heardMs: number, flags: object): void {
    this.#socket?.says({
      type: 'Results',
      start: this.#coveredMs / 1000,
      duration: (heardMs - this.#coveredMs) / 1000,
      is_final: true,
      ...flags,
      channel: { alternatives: [{ transcript: '' }] },
    });
    this.#coveredMs = heardMs;
  }
}

function talking(speechMs: number) {
  const frozen = new FrozenVendor();
  const model = new FakeModel();
  const next = new FakeRealtimeModel();
  const pipeline = createPipelineRecipe({
    systemPrompt: 'You bake.',
    turnTaking: { ...DEFAULT_TURN_TAKING, carefulMs: 0, fillers: [] },
    stt: frozen.provider(),
    llm: model,
    tts: new FakeVoice(),
  });
  const rig = new FallbackRig({ modes: [pipeline, next] });
  const pass = async (ms: number, frames: (ms: number) => Promise<void>, freezeAt = Infinity) => {
    for (let at = 0; at < ms; at += 20) {
      if (at >= freezeAt) frozen.isFrozen = true;
      await frames(20);
      frozen.step(rig.clock);
    }
  };
  const quiet = (ms: number, freezeAt?: number) => pass(ms, (each) => rig.quiet(each), freezeAt);
  const speech = async (freezeAt?: number) => {
    frozen.isSpeech = true;
    await pass(speechMs, (each) => rig.voiced(each), freezeAt);
  };
  return { frozen, model, next, rig, quiet, speech };
}

/** From a second before the caller speaks to the end of their question. */
const MOMENTS = Array.from({ length: 23 }, (_, index) => (index - 10) * 100);

describe('a recognizer that freezes', () => {
  it.each(MOMENTS)('%i ms after the caller began to speak loses nothing of the question', async (atMs) => {
    const { next, rig, quiet, speech } = talking(1300);
    await rig.start();
    await quiet(2000, 2000 + atMs);
    await speech(Math.max(0, atMs));
    let waitedMs = 0;
    for (; next.context === undefined && waitedMs < 20_000; waitedMs += 20) await quiet(20);
    expect(waitedMs).toBeLessThanOrEqual(3200);
    next.ready();
    await rig.wait(0);
    expect(next.audioBytes / BYTES_PER_MS).toBeGreaterThanOrEqual(1300 + waitedMs - 20);
    next.hears('What do you have?');
    next.answers('Rye bread.');
    await rig.quiet(1500);
    expect([rig.said, rig.ended]).toEqual([[['What do you have?', 'Rye bread.']], []]);
  });

  it.each([false, true])(
    'is found behind a realtime model, also when the caller says hello: %s',
    async (says) => {
      const { first, rig } = await talkingToModel();
      await rig.voiced(700);
      await rig.quiet(1000);
      first.events.failed(GONE);
      await rig.quiet(1000);
      if (says) await rig.voiced(300);
      await rig.quiet(12_000);
      expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { stage: 'stt' } }]);
    },
  );
});
