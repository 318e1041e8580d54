// The request that places a call: every parameter, checked as the carrier checks it.
import { isE164 } from '../../base/e164.js';
import { ApiFault } from './api-fault.js';
import type { ApiForm } from './api-form.js';
import { RECORDING_EVENTS, STATUS_EVENTS } from './callback-events.js';
import type { OutboundRequest } from './exchange.js';
import type { DetectionSettings } from './machine-detection.js';
import { readVerbs } from './markup.js';
import type { OutboundSettings } from './outbound-call.js';
import type { RecordingSettings } from './recording.js';

const MAX_MARKUP_CHARACTERS = 4000;

function readParty(form: ApiForm, name: 'To' | 'From'): string {
  const value = form.text(name);
  if (value === undefined) throw new ApiFault(name === 'To' ? 21_201 : 21_213);
  if (!isE164(value)) throw new ApiFault(name === 'To' ? 21_211 : 21_212, value);
  return value;
}

/** Inline markup that can be carried out. */
export function readMarkupParameter(form: ApiForm): string | undefined {
  const markup = form.text('Twiml');
  if (markup === undefined) return undefined;
  if (markup.length > MAX_MARKUP_CHARACTERS) throw new ApiFault(20001, 'Twiml is over 4000 characters');
  if (readVerbs(markup).verbs === null) throw new ApiFault(12_100);
  return markup;
}

/** What shall be recorded, and who hears of it; of a whole call or of a running one. */
export function readRecording(form: ApiForm, source: RecordingSettings['source']): RecordingSettings {
  return {
    source,
    channels: form.choice('RecordingChannels', ['mono', 'dual']) === 'dual' ? 2 : 1,
    track: form.choice('RecordingTrack', ['inbound', 'outbound', 'both']) ?? 'both',
    callback: form.eventCallback('RecordingStatusCallback', RECORDING_EVENTS),
  };
}

function readDetection(form: ApiForm): DetectionSettings | undefined {
  const mode = form.choice('MachineDetection', ['Enable', 'DetectMessageEnd']);
  const timeoutSeconds = form.number('MachineDetectionTimeout', { from: 3, to: 59 }) ?? 30;
  form.number('MachineDetectionSpeechThreshold', { from: 1000, to: 6000 });
  const speechEndMs = form.number('MachineDetectionSpeechEndThreshold', { from: 500, to: 5000 }) ?? 1200;
  form.number('MachineDetectionSilenceTimeout', { from: 2000, to: 10_000 });
  const isAsync = form.flag('AsyncAmd');
  const callback = form.callback('AsyncAmdStatusCallback', 'AsyncAmdStatusCallbackMethod', 21_262);
  if (isAsync && callback === undefined) throw new ApiFault(21_262);
  if (mode === undefined) return undefined;
  return { mode, timeoutSeconds, speechEndMs, callback: isAsync ? callback : undefined };
}

function readInstructions(form: ApiForm): OutboundSettings['instructions'] {
  const url = form.callback('Url', 'Method', 21_205);
  const markup = readMarkupParameter(form);
  if (url !== undefined) return url;
  if (markup === undefined) throw new ApiFault(21_205, 'Url and Twiml are missing');
  return { markup };
}

/** @throws ApiFault for a request that the carrier would refuse. `isOwnNumber` knows the numbers of the account. */
export function readDial(form: ApiForm, isOwnNumber: (number: string) => boolean): OutboundRequest {
  const to = readParty(form, 'To');
  const from = readParty(form, 'From');
  if (!isOwnNumber(from)) throw new ApiFault(21_210, from);
  const digits = form.text('SendDigits');
  if (digits !== undefined && !/^[0-9A-D#*wW]{1,32}$/.test(digits)) throw new ApiFault(20001, 'SendDigits');
  const recording = readRecording(form, 'OutboundAPI');
  form.choice('Trim', ['trim-silence', 'do-not-trim']);
  for (const name of ['CallerId', 'CallReason', 'CallToken']) form.text(name);
  return {
    from,
    to,
    statusCallback: form.eventCallback('StatusCallback', STATUS_EVENTS),
    fallback: form.callback('FallbackUrl', 'FallbackMethod', 21_205),
    settings: {
      instructions: readInstructions(form),
      ringTimeoutMs: (form.number('Timeout', { from: 1, to: 600 }) ?? 60) * 1000,
      timeLimitSeconds: form.number('TimeLimit', { from: 1, to: 86_400 }),
      digits,
      recording: form.flag('Record') ? recording : undefined,
      detection: readDetection(form),
    },
  };
}
