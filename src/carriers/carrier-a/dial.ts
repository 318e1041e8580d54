// Placing an outbound call: everything the carrier is told about it, in one form.
import type { DialRequest } from '../carrier.js';
import type { FormField } from './api-exchange.js';
import { callbackUrl } from './callback-url.js';

/** Longest time that a phone may ring. Source: the vendor's page on calls, parameter `Timeout`. */
const MAX_RING_SECONDS = 600;
/** A day, in seconds. */
const MAX_CALL_SECONDS = 86_400;

/** The form of a new call. Names that stand for a list are repeated. */
export function dialForm(request: DialRequest): FormField[] {
  return [
    ['To', request.to],
    ['From', request.from],
    ['Url', callback(request, 'voice')],
    ['Method', 'POST'],
    ['StatusCallback', callback(request, 'status')],
    ['StatusCallbackMethod', 'POST'],
    ['StatusCallbackEvent', 'initiated'],
    ['StatusCallbackEvent', 'ringing'],
    ['StatusCallbackEvent', 'answered'],
    ['StatusCallbackEvent', 'completed'],
    ['Timeout', String(ringSeconds(request.ringTimeoutSeconds))],
    ['TimeLimit', limitSeconds(request.maxCallSeconds)],
    ...(request.machineDetection ? detectionFields(request) : []),
    ...(request.recording ? [['Record', 'true'] as const, ...recordingFields(request)] : []),
  ];
}

/** How a recording is made and reported, for a new call and for a running one. */
export function recordingFields(request: Pick<DialRequest, 'callId' | 'webhookBaseUrl'>): FormField[] {
  return [
    ['RecordingChannels', 'dual'],
    ['RecordingStatusCallback', callback(request, 'recording')],
    ['RecordingStatusCallbackMethod', 'POST'],
    ['RecordingStatusCallbackEvent', 'completed'],
    ['RecordingStatusCallbackEvent', 'absent'],
  ];
}

/** Seconds of a call as the carrier takes them. */
export function limitSeconds(seconds: number): string {
  return String(wholeSeconds(seconds, MAX_CALL_SECONDS));
}

/** Seconds of ringing as the carrier takes them. */
export function ringSeconds(seconds: number): number {
  return wholeSeconds(seconds, MAX_RING_SECONDS);
}

/** The stream opens at once while the carrier listens; it tells a second time when a greeting is over. */
function detectionFields(request: DialRequest): FormField[] {
  return [
    ['MachineDetection', 'DetectMessageEnd'],
    ['AsyncAmd', 'true'],
    ['AsyncAmdStatusCallback', callback(request, 'amd')],
    ['AsyncAmdStatusCallbackMethod', 'POST'],
  ];
}

function callback(
  { webhookBaseUrl, callId }: Pick<DialRequest, 'callId' | 'webhookBaseUrl'>,
  route: 'voice' | 'status' | 'recording' | 'amd',
): string {
  return callbackUrl(webhookBaseUrl, route, { callId });
}

function wholeSeconds(seconds: number, max: number): number {
  return Math.min(Math.max(Math.ceil(seconds) || 1, 1), max);
}
