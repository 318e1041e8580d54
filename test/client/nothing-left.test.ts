// What a server has opened is closed when `disconnect` resolves: whole calls, with everybody answering and with nobody.
import { describe, expect, it } from 'vitest';
import { SIMULATED_CARRIERS, type CarrierId } from '../../src/contract/call-record.js';
import type { AgentOptions } from '../../src/index.js';
import { ChatCompletions } from '../../src/providers/llm/index.js';
import { OpenAIRealtime } from '../../src/providers/realtime/index.js';
import { DeepgramSpeechToText } from '../../src/providers/stt/index.js';
import { ElevenLabsTextToSpeech } from '../../src/providers/tts/index.js';
import {
  type Emulator,
  emulateChatCompletions,
  emulateDeepgram,
  emulateElevenLabs,
  emulateOpenAIRealtime,
  openLedger,
  openToneVoice,
} from '../../src/testing/index.js';
import { startCarrierPhone } from '../support/carrier-phone.js';
import { isDeep } from '../support/depth.js';

interface Mode {
  readonly name: string;
  start(): Promise<{ agent: AgentOptions; vendors: readonly Emulator[] }>;
}

const apiKey = 'test-key';
const ANSWER =
  'We have bread, rolls, cakes and tarts, and then there are cookies of seven kinds, and coffee.';

const MODES: readonly Mode[] = [
  {
    name: 'a pipeline',
    async start() {
      const ears = await emulateDeepgram();
      const mind = await emulateChatCompletions({ replies: [{ text: ANSWER }] });
      const voice = await emulateElevenLabs();
      const agent = {
        stt: new DeepgramSpeechToText({ apiKey, baseUrl: ears.url }),
        llm: new ChatCompletions({ apiKey, baseUrl: `${mind.url}/v1` }),
        tts: new ElevenLabsTextToSpeech({ apiKey, baseUrl: voice.url }),
      };
      return { agent, vendors: [ears, mind, voice] };
    },
  },
  {
    name: 'a realtime model',
    async start() {
      const model = await emulateOpenAIRealtime({ replies: [{ text: ANSWER }] });
      return {
        agent: { engine: new OpenAIRealtime({ apiKey, baseUrl: `${model.url}/v1` }) },
        vendors: [model],
      };
    },
  },
];

interface End {
  readonly name: string;
  /** Neither a vendor nor the carrier's API answers any more. */
  readonly isHung: boolean;
  readonly drainSeconds: number | undefined;
}

const ENDS: readonly End[] = [
  { name: 'everybody answers', isHung: false, drainSeconds: undefined },
  { name: 'everybody answers, and there is no time', isHung: false, drainSeconds: 0 },
  { name: 'nobody answers', isHung: true, drainSeconds: 2 },
  { name: 'nobody answers, and there is no time', isHung: true, drainSeconds: 0 },
];

/** Each mode with each carrier, and with every other end: all of them together have every mode, and every carrier, with every end. */
const CASES = MODES.flatMap((mode, first) =>
  SIMULATED_CARRIERS.map((id, second) => ({
    mode,
    id,
    name: mode.name,
    ends: ENDS.filter((_, third) => isDeep || (first + second + third) % 2 === 0),
  })),
);

async function play({ mode, id, end }: { mode: Mode; id: CarrierId; end: End }) {
  using ledger = openLedger();
  const { agent, vendors } = await mode.start();
  const running = await startCarrierPhone(id, agent, {
    serve: { drainSeconds: end.drainSeconds },
    simulator: { openVoice: openToneVoice },
    ledger,
  });
  const script = [
    { type: 'say', text: 'What do you have?' },
    { type: 'pause', durationMs: 30_000 },
  ] as const;
  const calls = [1, 2].map(() => running.simulator.call({ script }));
  const active = await running.active(2, ({ turns }) => turns.some(({ agentText }) => agentText !== ''));
  const opened = await ledger.read();
  if (end.isHung) {
    running.simulator.disturb({ restDelayMs: 60_000 });
    for (const vendor of vendors) {
      vendor.freeze();
      vendor.ignoreNext(1000);
    }
  }
  const before = running.simulator.requests.length;
  await ledger.run(() => running.phone.disconnect());
  const left = await ledger.read();
  const asked = running.simulator.requests.slice(before).length;
  await running.simulator.close();
  for (const vendor of vendors) await vendor.close();
  return { opened, left, asked, active, reports: await Promise.all(calls) };
}

describe.concurrent('after disconnect', { timeout: 60_000 }, () => {
  it.each(CASES)('nothing is left, whichever way it ends: $id, $name', async ({ mode, id, ends }) => {
    for (const end of ends) {
      const { opened, left, asked } = await play({ mode, id, end });
      expect(opened, end.name).not.toEqual([]);
      expect(asked, end.name).toBeGreaterThanOrEqual(2);
      expect(
        left.map(({ type, openedAt }) => `${type}\n${openedAt}`),
        end.name,
      ).toEqual([]);
    }
  });
});
