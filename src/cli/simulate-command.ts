// `offhook simulate`: turns the command line into calls, and their reports into text, files and an exit code.
import { writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { isE164 } from '../base/e164.js';
import { OffhookError } from '../base/errors.js';
import type { SimulatedCarrier } from '../contract/call-record.js';
import type { CallerStep } from '../testing/caller-script.js';
import { cacheVoice, openEmbeddedVoice } from '../testing/caller-voice.js';
import {
  type CallingCarrier,
  type CallingCarrierOptions,
  openCallingCarrier,
} from '../testing/calling-carrier.js';
import { readApiKey, readAuthToken, readConnectionId } from '../testing/credentials.js';
import { findDemo } from '../testing/demo/demo-file.js';
import type { CallReport } from '../testing/report.js';
import { formatReport } from '../testing/report-text.js';
import type { InboundCall } from '../testing/simulator.js';
import { makeSpeechTones } from '../testing/tones.js';
import { downmix, readWav, type WavAudio } from '../testing/wav.js';
import { requireWritable } from '../testing/writable.js';
import { type CliContext, UsageError } from './context.js';
import { readSettingsFile } from './settings-file.js';
import { readNamedFile } from './named-file.js';
import { summarizeReports } from './simulate-summary.js';

export interface SimulateFlags {
  url: string;
  carrier: SimulatedCarrier;
  wav?: string;
  text: string[];
  voice?: string;
  language?: string;
  interrupt?: number;
  out?: string;
  report?: string;
  json?: boolean;
  authToken?: string;
  privateKey?: string;
  apiKey?: string;
  apiPort?: number;
  webhookHost?: string;
  settings?: string;
  from?: string;
  to?: string;
  calls: number;
  maxDuration: number;
}

/** Pause between two bells of one command: a carrier's calls do not begin in the same millisecond. */
const STAGGER_MS = 20;
const TONES_MS = 1500;
/** Where carrier B's REST API answers, when nothing else is said. */
const API_PORT = 8011;

function parseWav(path: string, file: Buffer): WavAudio {
  try {
    return readWav(file);
  } catch (error) {
    throw OffhookError.isInstance(error) ? new UsageError(`${path}: ${error.message}`) : error;
  }
}

async function readTexts(texts: readonly string[]): Promise<string[]> {
  const lines = await Promise.all(
    texts.map(async (text) =>
      text.startsWith('@') ? (await readNamedFile(text.slice(1))).toString('utf8').split(/\r?\n/) : [text],
    ),
  );
  const spoken = lines
    .flat()
    .map((line) => line.trim())
    .filter(Boolean);
  if (texts.length > 0 && spoken.length === 0) throw new UsageError('--text is empty.');
  return spoken;
}

async function createSpeech(
  flags: Pick<SimulateFlags, 'wav' | 'text' | 'voice' | 'language'>,
): Promise<CallerStep[]> {
  const texts = await readTexts(flags.text);
  if (flags.language !== undefined && (texts.length === 0 || flags.wav !== undefined))
    throw new UsageError('--language belongs to --text, without --wav.');
  if (flags.wav !== undefined) {
    const audio = parseWav(flags.wav, await readNamedFile(flags.wav));
    const text = texts.join(' ');
    const { sampleRateHz } = audio;
    return [{ type: 'play', samples: downmix(audio), sampleRateHz, ...(text === '' ? {} : { text }) }];
  }
  if (texts.length === 0) return [{ type: 'play', samples: makeSpeechTones(TONES_MS), sampleRateHz: 8000 }];
  const { voice, language } = flags;
  const how = { ...(voice !== undefined && { voice }), ...(language !== undefined && { language }) };
  return texts.map((text) => ({ type: 'say', text, ...how }));
}

/** Each piece of speech waits for the agent; the first one may talk over it instead. */
export async function createScript(
  flags: Pick<SimulateFlags, 'wav' | 'text' | 'voice' | 'language' | 'interrupt'>,
): Promise<CallerStep[]> {
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

/** Options that say something only to one of the carriers. */
const CARRIER_FLAGS = {
  'carrier-a': ['authToken'],
  'carrier-b': ['privateKey', 'apiKey', 'apiPort'],
} as const satisfies Readonly<Record<SimulatedCarrier, readonly (keyof SimulateFlags)[]>>;

function checkCarrierFlags(flags: SimulateFlags): void {
  const others = Object.entries(CARRIER_FLAGS).filter(([carrier]) => carrier !== flags.carrier);
  for (const [carrier, names] of others) {
    const found = names.find((name) => flags[name] !== undefined);
    if (found === undefined) continue;
    const option = found.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw new UsageError(`--${option} belongs to --carrier ${carrier}.`);
  }
}

/** What the carrier proves itself with. */
function readCredentials(
  flags: SimulateFlags,
  demoToken: string | undefined,
): Partial<CallingCarrierOptions> {
  if (flags.carrier === 'carrier-b') {
    const apiKey = flags.apiKey?.trim() ?? readApiKey();
    if (apiKey === undefined) {
      throw new UsageError(
        'Carrier B needs the API key that the server sends: --api-key, or CARRIER_B_API_KEY in the environment.',
      );
    }
    return {
      apiKey,
      connectionId: readConnectionId(),
      privateKey: flags.privateKey?.trim(),
      apiPort: flags.apiPort ?? API_PORT,
    };
  }
  const authToken = flags.authToken?.trim() ?? demoToken ?? readAuthToken();
  return authToken === '' ? {} : { authToken };
}

/** The carrier to call with, and the numbers. */
async function findAccess(
  flags: SimulateFlags,
): Promise<{ carrier: CallingCarrierOptions; numbers: Pick<InboundCall, 'from' | 'to'> }> {
  checkCarrierFlags(flags);
  const url = URL.canParse(flags.url) ? new URL(flags.url) : undefined;
  if (url === undefined) throw new UsageError('--url must be an address like http://127.0.0.1:8000.');
  if (url.pathname !== '/')
    throw new UsageError(`--url must be the server's origin: ${url.origin}, without ${url.pathname}.`);
  if (flags.to !== undefined && !isE164(flags.to))
    throw new UsageError('--to must be a phone number like +15005550010 (E.164).');
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const demo = isLoopback(url) ? await findDemo(port) : undefined;
  const to = flags.to ?? demo?.phoneNumber;
  return {
    carrier: {
      url: flags.url,
      carrier: flags.carrier,
      webhookHost: flags.webhookHost ?? demo?.webhookHost,
      openVoice: cacheVoice(openEmbeddedVoice),
      ...readCredentials(flags, demo?.authToken),
    },
    numbers: {
      ...(to === undefined ? {} : { to }),
      ...(flags.from === undefined ? {} : { from: flags.from }),
    },
  };
}

/** `call.wav` for one call, `call-1.wav`, `call-2.wav`, … for several. */
function recordingPath(flags: SimulateFlags, index: number): string | undefined {
  if (flags.out === undefined || flags.calls === 1) return flags.out;
  const extension = extname(flags.out);
  return `${flags.out.slice(0, flags.out.length - extension.length)}-${index + 1}${extension}`;
}

async function runCalls(
  flags: SimulateFlags,
  input: { carrier: CallingCarrier; call: InboundCall },
): Promise<CallReport[]> {
  return Promise.all(
    Array.from({ length: flags.calls }, async (_, index) => {
      if (index > 0) await new Promise((resolve) => setTimeout(resolve, index * STAGGER_MS));
      const recordTo = recordingPath(flags, index);
      return input.carrier.call({ ...input.call, ...(recordTo === undefined ? {} : { recordTo }) });
    }),
  );
}

/** Runs the command. @throws UsageError for a command line that cannot be followed. */
export async function runSimulate(flags: SimulateFlags, context: CliContext): Promise<number> {
  let reports: CallReport[];
  try {
    await readSettingsFile(flags.settings);
    if (flags.report !== undefined) await requireWritable(flags.report);
    const script = await createScript(flags);
    const access = await findAccess(flags);
    const carrier = await openCallingCarrier(access.carrier);
    // The timers of a call keep no process alive.
    const keptAlive = setInterval(() => {}, 60_000);
    try {
      if (carrier.publicKey !== null && flags.json !== true) context.out(`public key ${carrier.publicKey}`);
      const call = {
        ...access.numbers,
        script,
        maxDurationMs: flags.maxDuration * 1000,
        signal: context.signal,
      };
      reports = await runCalls(flags, { carrier, call });
    } finally {
      clearInterval(keptAlive);
      await carrier.close();
    }
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
