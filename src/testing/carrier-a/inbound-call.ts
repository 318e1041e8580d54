// An inbound call: rings at the phone server, does what it answers, and leaves a report.
import { writeFile } from 'node:fs/promises';
import { CALLER_RATE_HZ } from '../caller-speech.js';
import type { CallReport } from '../report.js';
import type { InboundCall } from '../simulator.js';
import { writeWav } from '../wav.js';
import { fileErrorCode } from '../writable.js';
import { fetchInstructions } from './instructions.js';
import type { Leg } from './leg.js';
import type { MarkupRunner } from './markup-runner.js';
import type { Callback } from './markup-verbs.js';
import type { Switchboard } from './switchboard.js';

const DEFAULT_LIMIT_MS = 120_000;

/** Makes the call, and resolves with the report when it is over and its end was reported. */
export async function runInboundCall(
  leg: Leg,
  input: { call: InboundCall; voice: Callback; runner: MarkupRunner },
  switchboard: Switchboard,
): Promise<CallReport> {
  const { call, voice, runner } = input;
  const { recordTo, signal, maxDurationMs = DEFAULT_LIMIT_MS } = call;
  if (recordTo !== undefined) leg.line.keepAudio();
  const limit = switchboard.clock.after(maxDurationMs, () => leg.end({ by: 'caller', how: 'time-limit' }));
  const abort = () => leg.end({ by: 'caller', how: 'aborted' });
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted === true) abort();
  if (!leg.isOver) {
    const fetched = await fetchInstructions(leg, voice, switchboard);
    if ('instructions' in fetched) {
      const running = runner.run(leg, fetched.instructions);
      switchboard.webhooks.watch(running);
      // A run that fails must not keep the call waiting for its end.
      try {
        await Promise.race([leg.over, running.then(() => leg.over)]);
      } finally {
        leg.end({ by: 'agent', how: 'hang-up' });
      }
    } else {
      leg.answerReport ??= fetched.failed;
      leg.end({ by: 'caller', how: 'hang-up' });
    }
  }
  limit.cancel();
  signal?.removeEventListener('abort', abort);
  await leg.streamsClosed();
  await leg.reported();
  const notes: string[] = [];
  const recording = recordTo === undefined ? null : await record(leg, { path: recordTo, notes });
  return leg.report({ notes, recording });
}

/** Writes the person on the left and the agent on the right, from the start of the first stream on. */
async function record(leg: Leg, target: { path: string; notes: string[] }): Promise<string | null> {
  const { firstStreamMs } = leg;
  if (firstStreamMs === undefined) return null;
  const { person, agent } = leg.line.render(firstStreamMs);
  try {
    await writeFile(target.path, writeWav({ sampleRateHz: CALLER_RATE_HZ, channels: [person, agent] }));
    return target.path;
  } catch (error) {
    target.notes.push(`The recording could not be written (${fileErrorCode(error)}).`);
    return null;
  }
}
