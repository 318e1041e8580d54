#!/usr/bin/env node
// The command `offhook`. Ends in order at the first signal, whose name commands see as the reason, and at once at a later one.
import { systemClock } from './base/clock.js';
import { createSharedAbort } from './base/shared-abort.js';
import { SIGNAL_ECHO_MS } from './client/signals.js';
import { runCli } from './cli/program.js';
import { openAsk } from './cli/terminal.js';

const controller = createSharedAbort();
let signaledAt: number | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    const now = systemClock.now();
    if (signaledAt !== undefined && now - signaledAt < SIGNAL_ECHO_MS) return;
    // 130: the exit code of a program that an interrupt ended.
    if (controller.signal.aborted) process.exit(130);
    signaledAt = now;
    controller.abort(new DOMException(signal, 'AbortError'));
  });
}

// Whoever reads the output may stop reading (`| head`): that ends the command in order, too.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => controller.abort());

process.exitCode = await runCli(process.argv.slice(2), {
  out: (text) => void process.stdout.write(`${text}\n`),
  error: (text) => void process.stderr.write(`${text}\n`),
  signal: controller.signal,
  ask: openAsk({ input: process.stdin, output: process.stdout, signal: controller.signal }),
});
