// `offhook doctor`: turns the command line into checks, and what they say into text or JSON and an exit code.
import { isE164 } from '../../base/e164.js';
import { ConfigError } from '../../base/errors.js';
import { hostComplaint } from '../../base/host-name.js';
import type { Carrier } from '../../carriers/carrier.js';
import { type CliContext, UsageError } from '../context.js';
import { readSettingsFile } from '../settings-file.js';
import { readNamedFile } from '../named-file.js';
import { checkAudio } from './audio.js';
import { readCapturedRequest } from './captured-request.js';
import type { CheckResult, Network } from './check.js';
import { checkNode, checkTranscoder } from './machine.js';
import { checkClock, checkHealth } from './reachability.js';
import { formatChecks } from './report-text.js';

export interface DoctorFlags {
  webhookHost?: string;
  url?: string;
  number?: string;
  request?: string;
  settings?: string;
  json?: boolean;
}

export interface DoctorParts {
  network: Network;
  /** The carrier whose number can be looked up. @throws ConfigError */
  createCarrier: () => Carrier | Promise<Carrier>;
}

const REAL: DoctorParts = {
  network: { fetch: (...request) => fetch(...request), now: Date.now },
  createCarrier: async () => new (await import('../../carriers/carrier-a/index.js')).CarrierA(),
};

/** Runs the command: 0 when nothing failed, 1 otherwise. @throws UsageError for a command line that cannot be followed. */
export async function runDoctor(
  flags: DoctorFlags,
  context: CliContext,
  parts: DoctorParts = REAL,
): Promise<number> {
  requireUsable(flags);
  await readSettingsFile(flags.settings);
  const checks =
    flags.request === undefined
      ? await examine(flags, parts)
      : await examineRequest(flags.request, flags, parts);
  const isWell = checks.every(({ status }) => status !== 'failed');
  if (flags.json === true) context.out(JSON.stringify({ ok: isWell, checks }, null, 2));
  else context.out(formatChecks(checks));
  return isWell ? 0 : 1;
}

function requireUsable({ webhookHost, url, number }: DoctorFlags): void {
  const complaint = webhookHost === undefined ? undefined : hostComplaint(webhookHost);
  if (complaint !== undefined) throw new UsageError(`--webhook-host ${complaint}.`);
  if (url !== undefined && !(URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))) {
    throw new UsageError('--url must be an address like http://127.0.0.1:8000.');
  }
  if (number === undefined) return;
  if (!isE164(number)) throw new UsageError('--number must be a phone number like +15550100.');
  if (webhookHost === undefined)
    throw new UsageError('--number needs --webhook-host, the host the number should point to.');
}

async function examine(flags: DoctorFlags, parts: DoctorParts): Promise<CheckResult[]> {
  const { network } = parts;
  const { check, backend } = await checkTranscoder();
  // Carriers load the transcoder: without one, nothing can be said of them.
  const carriers = backend === undefined ? undefined : await import('./environment.js');
  const local = [
    checkNode(),
    check,
    ...(backend === undefined ? [] : [checkAudio(backend)]),
    ...(carriers?.checkCarriers() ?? []),
  ];
  const remote = await Promise.all([
    ...(flags.url === undefined
      ? []
      : [checkHealth(new URL(flags.url).origin, network, { isPublic: false })]),
    ...(flags.webhookHost === undefined
      ? []
      : [checkHealth(`https://${flags.webhookHost}`, network, { isPublic: true })]),
    ...(carriers?.findCarriers() ?? []).map(([id, { api }]) => checkClock(id, api, network)),
    ...(flags.number === undefined || carriers === undefined
      ? []
      : [lookUpNumber(flags.number, flags.webhookHost ?? '', parts)]),
  ]);
  return [...local, ...remote];
}

async function lookUpNumber(number: string, host: string, parts: DoctorParts): Promise<CheckResult> {
  try {
    const { checkNumber } = await import('./number.js');
    return await checkNumber(await parts.createCarrier(), number, host);
  } catch (error) {
    // What is wrong with the settings stands in their own lines.
    if (!(error instanceof ConfigError)) throw error;
    return {
      name: 'number',
      status: 'skipped',
      message: 'The number was not checked: the settings are not right.',
    };
  }
}

async function examineRequest(path: string, flags: DoctorFlags, parts: DoctorParts): Promise<CheckResult[]> {
  const captured = readCapturedRequest(await readNamedFile(path));
  const { check, backend } = await checkTranscoder();
  if (backend === undefined) return [check];
  const { explainRequest } = await import('./request.js');
  const nowMs = parts.network.now();
  return [await explainRequest(captured, { webhookHost: flags.webhookHost, nowMs, mac: backend })];
}
