// An outbound call: waits in the queue, rings, is answered, learns who answered, and asks for its instructions.
import { pause } from '../../base/pause.js';
import type { Callee } from '../simulator.js';
import { fetchInstructions, type Instructions } from './instructions.js';
import type { Leg } from './leg.js';
import {
  detectMachine,
  verdictParameters,
  type DetectionSettings,
  type Verdict,
} from './machine-detection.js';
import type { Callback } from './markup-verbs.js';
import { keysTimeMs, type MarkupRunner } from './markup-runner.js';
import type { RecordingSettings } from './recording.js';
import { ringCallee } from './ring-callee.js';
import type { Switchboard } from './switchboard.js';

/** How long a call waits in the queue: long enough for the answer to the request to be there first, most of the time. */
const QUEUE_MS = 20;

/** What the phone server asked for. */
export interface OutboundSettings {
  /** Where the instructions are; or the instructions themselves. */
  readonly instructions: Callback | { readonly markup: string };
  readonly ringTimeoutMs: number;
  readonly timeLimitSeconds: number | undefined;
  readonly digits: string | undefined;
  readonly recording: RecordingSettings | undefined;
  readonly detection: DetectionSettings | undefined;
}

/** Makes the call. Resolves when it is over. `prepared` is awaited before anybody speaks. */
export async function runOutboundCall(
  leg: Leg,
  input: { settings: OutboundSettings; callee: Callee; prepared: Promise<void>; runner: MarkupRunner },
  switchboard: Switchboard,
): Promise<void> {
  const { settings, callee, prepared, runner } = input;
  const { clock } = switchboard;
  await pause(clock, QUEUE_MS, leg.signal);
  if (leg.isOver) return;
  const result = await ringCallee(leg, { callee, timeoutMs: settings.ringTimeoutMs, clock });
  if (result === 'called-off') return;
  if (result !== 'answered') {
    leg.end({ by: 'caller', how: 'hang-up', status: result });
    return;
  }
  await prepared;
  leg.answer({ timeLimitSeconds: settings.timeLimitSeconds });
  leg.line.start(leg.steps);
  if (settings.recording !== undefined) leg.startRecording(settings.recording);
  if (settings.digits !== undefined) {
    leg.sentDigits.push(settings.digits);
    await pause(clock, keysTimeMs(settings.digits), leg.signal);
  }
  const verdict = await detect(leg, { callee, settings }, switchboard);
  if (leg.isOver) return;
  const instructions = await findInstructions(leg, { settings, verdict }, switchboard);
  if (instructions === undefined) leg.end({ by: 'agent', how: 'hang-up' });
  else await runner.run(leg, instructions);
}

/** Resolves with the verdict where the instructions wait for it; otherwise at once, and the verdict is reported. */
async function detect(
  leg: Leg,
  input: { callee: Callee; settings: OutboundSettings },
  switchboard: Switchboard,
): Promise<Verdict | undefined> {
  const { callee, settings } = input;
  const { detection } = settings;
  // Keys that are sent at the answer switch the detection off. Source: call creation of the carrier.
  if (detection === undefined || settings.digits !== undefined) return undefined;
  if (callee.type !== 'human' && callee.type !== 'machine' && callee.type !== 'fax') return undefined;
  const detecting = detectMachine(leg, { callee, settings: detection }, switchboard);
  switchboard.webhooks.watch(detecting);
  return detection.callback === undefined ? detecting : undefined;
}

async function findInstructions(
  leg: Leg,
  input: { settings: OutboundSettings; verdict: Verdict | undefined },
  switchboard: Switchboard,
): Promise<Instructions | undefined> {
  const { instructions } = input.settings;
  if ('markup' in instructions) return { source: instructions.markup, url: '', webhookMs: null };
  const parameters = input.verdict === undefined ? [] : verdictParameters(input.verdict);
  const fetched = await fetchInstructions(leg, { ...instructions, parameters }, switchboard);
  if ('instructions' in fetched) return fetched.instructions;
  leg.answerReport ??= fetched.failed;
  return undefined;
}
