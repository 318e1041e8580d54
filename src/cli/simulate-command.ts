// `offhook simulate`: turns the command line into calls, and their reports into text, files and an exit code.
import { readFile, writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { OffhookError } from '../base/errors.js';
import type { CallerStep } from '../testing/caller-script.js';
import { cacheVoice, openEmbeddedVoice } from '../testing/caller-voice.js';
import { readAuthToken } from '../testing/carrier-a/credentials.js';
import { findDemo } from '../testing/demo/demo-file.js';
import type { CallReport } from '../testing/report.js';
import { formatReport } from '../testing/report-text.js';
import { simulateCall, type SimulateCallOptions } from '../testing/simulate-call.js';
import { makeSpeechTones } from '../testing/tones.js';
import { downmix, readWav } from '../testing/wav.js';
import { fileErrorCode, requireWritable } from '../testing/writable.js';
import { type CliContext, UsageError } from './context.js';
import { summarizeReports } from './simulate-summary.js';

export interface SimulateFlags {
  url: string;
  wav?: string;
  text: string[];
  voice?: string;
  interrupt?: number;
  out?: string;
  report?: string;
  json?: boolean;
  authToken?: string;
  webhookHost?: string;
  from?: string;
  to?: string;
  calls: number;
  maxDuration: number;
}

/** Pause between two bells of one command: a carrier's calls do not begin in the same millisecond. */
const STAGGER_MS = 20;
const TONES_MS = 1500;

async function read(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new UsageError(`${path} cannot be read (${fileErrorCode(error)}).`);
  }
}

async function readTexts(texts: readonly string[]): Promise<string[]> {
  const lines = await Promise.all(
    texts.map(async (text) =>
      text.startsWith('@') ? (await read(text.slice(1))).toString('utf8').split(/\r?\n/) : [text],
    ),
  );
  const spoken = lines
    .flat()
    .map((line) => line.trim())
    .filter(Boolean);
  if (texts.length > 0 && spoken.length === 0) throw new UsageError('There is no text in --text.');
  return spoken;
}

async function createSpeech(flags: SimulateFlags): Promise<CallerStep[]> {
  const texts = await readTexts(flags.text);
  if (flags.wav !== undefined) {
    const audio = readWav(await read(flags.wav));
    const text = texts.join(' ');
    const { sampleRateHz } = audio;
    return [{ type: 'play', samples: downmix(audio), sampleRateHz, ...(text === '' ? {} : { text }) }];
  }
  if (texts.length === 0) return [{ type: 'play', samples: makeSpeechTones(TONES_MS), sampleRateHz: 8000 }];
  const voice = flags.voice === undefined ? {} : { voice: flags.voice };
  return texts.map((text) => ({ type: 'say', text, ...voice }));
}

/** Each piece of speech waits for the agent; the first one may talk over it instead. */
async function createScript(flags: SimulateFlags): Promise<CallerStep[]> {
  const speech = await createSpeech(flags);
  return speech.flatMap((step, index): CallerStep[] => {
    const wait: CallerStep =
      index === 0 && flags.interrupt !== undefined
        ? { type: 'interrupt', afterMs: flags.interrupt }
        : { type: 'wait-for-agent', timeoutMs: index === 0 ? 4000 : 15_000 };
    return [wait, step];
  });
}

function isLoopback(url: URL): boolean {
  return ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname);
}

async function findAccess(flags: SimulateFlags): Promise<Partial<SimulateCallOptions>> {
  const url = URL.canParse(flags.url) ? new URL(flags.url) : undefined;
  if (url === undefined) throw new UsageError('--url is an address like http://127.0.0.1:8000.');
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const demo = isLoopback(url) ? await findDemo(port) : undefined;
  const authToken = flags.authToken ?? demo?.authToken ?? readAuthToken();
  const webhookHost = flags.webhookHost ?? demo?.webhookHost;
  const to = flags.to ?? demo?.phoneNumber;
  return {
    ...(authToken === undefined || authToken === '' ? {} : { authToken }),
    ...(webhookHost === undefined ? {} : { webhookHost }),
    ...(to === undefined ? {} : { to }),
    ...(flags.from === undefined ? {} : { from: flags.from }),
  };
}

/** `call.wav` for one call, `call-1.wav`, `call-2.wav`, … for several. */
function recordingPath(flags: SimulateFlags, index: number): string | undefined {
  if (flags.out === undefined || flags.calls === 1) return flags.out;
  const extension = extname(flags.out);
  return `${flags.out.slice(0, flags.out.length - extension.length)}-${index + 1}${extension}`;
}

async function runCalls(flags: SimulateFlags, options: SimulateCallOptions): Promise<CallReport[]> {
  return Promise.all(
    Array.from({ length: flags.calls }, async (_, index) => {
      if (index > 0) await new Promise((resolve) => setTimeout(resolve, index * STAGGER_MS));
      const recordTo = recordingPath(flags, index);
      return simulateCall({ ...options, ...(recordTo === undefined ? {} : { recordTo }) });
    }),
  );
}

/** Runs the command. @throws UsageError for a command line that cannot be followed. */
export async function runSimulate(flags: SimulateFlags, context: CliContext): Promise<number> {
  let reports: CallReport[];
  try {
    if (flags.report !== undefined) await requireWritable(flags.report);
    const script = await createScript(flags);
    reports = await runCalls(flags, {
      url: flags.url,
      ...(await findAccess(flags)),
      script,
      openVoice: cacheVoice(openEmbeddedVoice),
      maxDurationMs: flags.maxDuration * 1000,
      signal: context.signal,
    });
  } catch (error) {
    const usage =
      OffhookError.isInstance(error) &&
      ['CONFIG_INVALID', 'CONFIG_MISSING', 'REQUEST_INVALID'].includes(error.code);
    throw usage ? new UsageError(error.message) : error;
  }
  const [only] = reports;
  const summary = reports.length === 1 ? undefined : summarizeReports(reports);
  const json = JSON.stringify(summary === undefined ? only : { summary, calls: reports }, null, 2);
  if (flags.report !== undefined) await writeFile(flags.report, `${json}\n`);
  if (flags.json === true) context.out(json);
  else {
    for (const report of reports.filter(({ ok }) => summary === undefined || !ok))
      context.out(formatReport(report));
    if (summary !== undefined) {
      context.out(`${summary.calls} calls: ${summary.ok} in order, ${summary.failed} failed`);
      context.out(
        `  answer after        p50 ${summary.responseP50Ms ?? '-'} ms, p95 ${summary.responseP95Ms ?? '-'} ms`,
      );
      context.out(`  gaps, clicks        ${summary.gaps}, ${summary.clicks}`);
    }
  }
  return reports.every(({ ok }) => ok) ? 0 : 1;
}
