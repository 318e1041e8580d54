// A vendor goes away under many calls of one server in the same moment: each of them goes on, callers who have nothing to do with it do
// not notice, and when it is there again it is asked again.
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { pause } from '../../../src/base/pause.js';
import { ChatCompletions } from '../../../src/providers/llm/index.js';
import { DeepgramSpeechToText } from '../../../src/providers/stt/index.js';
import { CartesiaTextToSpeech, ElevenLabsTextToSpeech } from '../../../src/providers/tts/index.js';
import {
  type Emulator,
  emulateCartesia,
  emulateChatCompletions,
  emulateDeepgram,
  emulateElevenLabs,
  openToneVoice,
} from '../../../src/testing/index.js';
import { eventually, startCarrierPhone } from '../../support/carrier-phone.js';
import { runs } from '../../support/depth.js';
import { freePort } from '../../support/free-port.js';
import { checkGoodbye, checkLine } from '../../support/troubled-call-checks.js';
import { answerTo, type CallVendors, GOODBYE, GREETING } from '../../support/troubled-call-vendors.js';
import {
  ActiveCalls,
  createCues,
  numberOf,
  type PlayedCell,
  personOf,
  playCell,
  playInbound,
} from '../../support/troubled-calls.js';

const CALLS = runs(6, 20);
const KEY = 'test-key';
const PACE = { firstAudioMs: 60, chunkEveryMs: 60 };
const FIRST_VOICE = 'elevenlabs/eleven_flash_v2_5';
const NEXT_VOICE = 'cartesia/sonic-3.5';
/** A provider that has failed five times is passed over for so long. */
const PASSED_OVER_MS = 20_000;
/** By then a lost connection has been given up. */
const GIVEN_UP_MS = 4000;
const AWAY_MS = 300;

const open: AsyncDisposable[] = [];

afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each[Symbol.asyncDispose]();
});

function closedBehind<Opened extends AsyncDisposable>(opened: Opened): Opened {
  open.push(opened);
  return opened;
}

/** One vendor for each stage, for all the calls, and a second voice. */
async function start() {
  const [earsPort, voicePort] = [await freePort(), await freePort()];
  const openEars = () => emulateDeepgram({ port: earsPort });
  const openVoice = () => emulateElevenLabs({ ...PACE, port: voicePort });
  const vendors = {
    ears: closedBehind(await openEars()) as Emulator,
    voice: closedBehind(await openVoice()) as Emulator,
    nextVoice: closedBehind(await emulateCartesia(PACE)),
    mind: closedBehind(
      await emulateChatCompletions({
        replies: ({ messages }) => {
          const said = messages.flatMap(({ role, content }) => (role === 'user' ? [String(content)] : []));
          const word = /about (\w+)/.exec(said.join(' '))?.[1] ?? 'nothing';
          const isLast = /that is all/i.test(said.at(-1) ?? '');
          return isLast
            ? { text: GOODBYE, toolCalls: [{ name: 'end_call', arguments: '{}' }] }
            : { text: answerTo(word), firstTokenMs: 300, tokenMs: 20 };
        },
      }),
    ),
  };
  const { ears, voice, nextVoice, mind } = vendors;
  const neighbor = { index: CALLS + 1, cues: createCues(), cell: WELL };
  const phone = closedBehind(
    await startCarrierPhone(
      'carrier-a',
      {
        firstMessage: GREETING,
        stt: new DeepgramSpeechToText({ apiKey: KEY, baseUrl: ears.url }),
        llm: new ChatCompletions({ apiKey: KEY, baseUrl: `${mind.url}/v1` }),
        tts: new ElevenLabsTextToSpeech({ apiKey: KEY, baseUrl: voice.url }),
        fallback: { tts: [new CartesiaTextToSpeech({ apiKey: KEY, baseUrl: nextVoice.url, voiceId: 'v1' })] },
      },
      {
        serve: { maxStreamsPerIp: 60 },
        simulator: {
          openVoice: openToneVoice,
          callees: { [numberOf(neighbor.index)]: personOf(neighbor) },
        },
      },
    ),
  );
  const shared: CallVendors = {
    agent: {},
    troubled: [],
    emulators: [],
    isThinking: () => false,
    [Symbol.asyncDispose]: async () => {},
  };
  return { phone, active: new ActiveCalls(phone), vendors, shared, openEars, openVoice, neighbor };
}

/** A call with vendors of its own. */
const WELL = { part: 'stt', phase: 'goodbye', trouble: undefined } as const;

type Running = Awaited<ReturnType<typeof start>>;

/** One call that comes in, whose vendors are those of all. */
function play({ phone, active, shared }: Running, index: number): Promise<PlayedCell> {
  return playInbound(phone, active, { index, cell: WELL, cues: createCues(), vendors: shared });
}

/** Many of them, and one with vendors of its own. */
function playAll(running: Running): [Promise<PlayedCell[]>, Promise<PlayedCell>] {
  const { phone, active, neighbor } = running;
  const playing = Promise.all(Array.from({ length: CALLS }, (_, index) => play(running, index)));
  // Both are looked at in the end.
  playing.catch(() => {});
  const beside = playCell(phone, active, neighbor);
  beside.catch(() => {});
  return [playing, beside];
}

function check(played: PlayedCell): void {
  checkLine(played);
  checkGoodbye(played);
}

const codesOf = ({ record }: PlayedCell) => record.incidents.map(({ code }) => code);

describe('many calls whose vendor goes away in the same moment', { timeout: 400_000 }, () => {
  it('are heard again when the recognizer has restarted', async () => {
    const running = await start();
    const { phone, vendors, openEars } = running;
    const [playing, beside] = playAll(running);
    await eventually('the greetings', async () => {
      const records = await phone.active(CALLS + 1);
      return records.filter(({ turns }) => turns.length > 0).length > CALLS / 2 ? true : undefined;
    });
    await vendors.ears.close();
    await pause(systemClock, AWAY_MS);
    const again = closedBehind(await openEars());
    const calls = await playing;
    for (const call of calls) {
      check(call);
      expect.soft(codesOf(call), call.word).toEqual(['provider-reconnected']);
    }
    const well = await beside;
    check(well);
    expect(codesOf(well)).toEqual([]);
    expect([...again.violations, ...vendors.mind.violations, ...vendors.voice.violations]).toEqual([]);
  });

  it('have the next voice, and later calls the first one again', async () => {
    const running = await start();
    const { vendors, openVoice } = running;
    const [playing, beside] = playAll(running);
    const isAnswering = () => (vendors.mind.exchanges.length > CALLS / 2 ? true : undefined);
    await eventually('the answers', isAnswering, 30_000);
    await vendors.voice.close();
    const goneAt = systemClock.now();
    for (const call of await playing) {
      check(call);
      expect.soft(call.record.provider.tts, call.word).toBe(NEXT_VOICE);
      expect.soft(codesOf(call), call.word).toEqual(['provider-replaced']);
    }
    const well = await beside;
    check(well);
    expect(codesOf(well)).toEqual([]);

    const again = closedBehind(await openVoice());
    const passedOver = await play(running, CALLS);
    check(passedOver);
    expect(passedOver.record.provider.tts).toBe(NEXT_VOICE);
    expect(again.requests).toEqual([]);

    const backAt = goneAt + GIVEN_UP_MS + PASSED_OVER_MS;
    await pause(systemClock, Math.max(0, backAt - systemClock.now()));
    const served = await play(running, CALLS);
    check(served);
    expect(served.record).toMatchObject({ incidents: [], provider: { tts: FIRST_VOICE } });
    expect([...again.violations, ...vendors.nextVoice.violations]).toEqual([]);
  });
});
