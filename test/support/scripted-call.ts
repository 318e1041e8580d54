// A whole call by a script: one of the carriers, and the vendors of a pipeline, all of them on loopback.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallRecord } from '../../src/contract/call-record.js';
import type { AgentOptions, CarrierId } from '../../src/index.js';
import { ChatCompletions } from '../../src/providers/llm/index.js';
import { DeepgramSpeechToText, SimulatedSpeechToText } from '../../src/providers/stt/index.js';
import { ElevenLabsTextToSpeech } from '../../src/providers/tts/index.js';
import {
  type CallerStep,
  type CallReport,
  type ChatCompletionsEmulator,
  type DeepgramEmulator,
  emulateChatCompletions,
  emulateDeepgram,
  emulateElevenLabs,
  type EmulatedReply,
  type EmulateElevenLabsOptions,
  type ElevenLabsEmulator,
  type HeardWord,
  type InboundCall,
  openToneVoice,
  readTones,
  readWav,
} from '../../src/testing/index.js';
import { type CarrierPhone, startCarrierPhone } from './carrier-phone.js';
import { expectHeard, expectHistory } from './heard-truth.js';

export interface ScriptOptions {
  readonly script: readonly CallerStep[];
  /** What the language model says, in order. It repeats the caller when there is no more. */
  readonly replies?: readonly EmulatedReply[];
  readonly agent?: AgentOptions;
  /** Who recognizes speech: the vendor's emulator or the local stack. @default 'deepgram' */
  readonly ears?: 'deepgram' | 'local';
  /** How the vendor's voice speaks. */
  readonly voice?: EmulateElevenLabsOptions;
  readonly call?: Partial<InboundCall>;
}

/** A call that is over, as everybody saw it. */
export interface ScriptedCall {
  readonly report: CallReport;
  readonly record: CallRecord;
  /** Words of the agent, and of the caller, out of the carrier's recording. */
  readonly heard: readonly HeardWord[];
  readonly said: readonly HeardWord[];
  readonly ears: DeepgramEmulator;
  readonly mind: ChatCompletionsEmulator;
  readonly voice: ElevenLabsEmulator;
  readonly phone: CarrierPhone;
  /** Texts of the agent's turns that were heard. */
  readonly agentTexts: readonly string[];
  readonly userTexts: readonly string[];
}

const KEY = 'test-key';

/**
 * Makes the call, and checks what holds for each: the streams were in order, no vendor had anything to complain about, and
 * recording, transcript and history agree. Then `judge` sees it.
 */
export async function runScript(
  id: CarrierId,
  options: ScriptOptions,
  judge: (call: ScriptedCall) => void | Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-script-'));
  await using ears = await emulateDeepgram();
  await using mind = await emulateChatCompletions({ replies: options.replies ?? [] });
  await using voice = await emulateElevenLabs({ firstAudioMs: 40, chunkEveryMs: 20, ...options.voice });
  await using phone = await startCarrierPhone(
    id,
    {
      systemPrompt: 'You answer for a bakery.',
      firstMessage: 'Hello, this is the bakery.',
      stt:
        options.ears === 'local'
          ? new SimulatedSpeechToText()
          : new DeepgramSpeechToText({ apiKey: KEY, baseUrl: ears.url }),
      llm: new ChatCompletions({ apiKey: KEY, baseUrl: `${mind.url}/v1` }),
      tts: new ElevenLabsTextToSpeech({ apiKey: KEY, baseUrl: voice.url }),
      ...options.agent,
      turnTaking: { fillers: [], ...options.agent?.turnTaking },
    },
    { simulator: { openVoice: openToneVoice } },
  );
  const recordTo = join(folder, 'call.wav');
  try {
    const report = await phone.simulator.call({
      script: options.script,
      recordTo,
      maxDurationMs: 100_000,
      ...options.call,
    });
    const record = await phone.record(report.carrierCallId);
    const [said, heard] = readRecording(recordTo, report.gaps);
    expectHeard(record, heard);
    expectHistory(record, mind.exchanges);
    const { turns } = record;
    await judge({
      report,
      record,
      heard,
      said,
      ears,
      mind,
      voice,
      phone,
      agentTexts: turns.map(({ agentText }) => agentText).filter(Boolean),
      userTexts: turns.map(({ userText }) => userText).filter(Boolean),
    });
    const complaints = [...ears.violations, ...mind.violations, ...voice.violations, ...report.notes];
    if (complaints.length > 0) throw new Error(complaints.join('; '));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Where a busy machine made a hole inside a word, the word goes on behind it: holes are not what is judged here. */
function readRecording(path: string, holes: CallReport['gaps']): [said: HeardWord[], heard: HeardWord[]] {
  const { channels, sampleRateHz } = readWav(readFileSync(path));
  const [caller, agent] = channels;
  if (caller === undefined || agent === undefined) throw new Error('the recording is not stereo');
  const toSample = (ms: number) => Math.round((ms * sampleRateHz) / 1000);
  const isHole = (sample: number) =>
    holes.some(({ atMs, durationMs }) => sample >= toSample(atMs) && sample < toSample(atMs + durationMs));
  const played = holes.length === 0 ? agent : agent.filter((_, sample) => !isHole(sample));
  return [readTones(caller, { sampleRateHz }), readTones(played, { sampleRateHz })];
}
