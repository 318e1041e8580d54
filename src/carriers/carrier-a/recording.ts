// Reports on recordings. The audio itself stays at the carrier.
import type { Recording } from '../../contract/call-record.js';
import type { Parameters } from './parameters.js';

const MAX_URL_LENGTH = 2048;
const ABSENT: Recording = { url: null, durationMs: null, status: 'absent' };

/** The recording in a report; undefined until there is one. */
export function toRecording(parameters: Parameters): Recording | undefined {
  const url = toRecordingUrl(parameters.get('RecordingUrl') ?? '');
  switch (parameters.get('RecordingStatus') ?? '') {
    case 'absent':
    case 'failed':
      return ABSENT;
    case 'completed':
      return { url, durationMs: toDurationMs(parameters), status: 'completed' };
    case '':
      // Services that speak the same protocol leave out the status of what is there.
      return url === null ? undefined : { url, durationMs: toDurationMs(parameters), status: 'completed' };
    default:
      return undefined;
  }
}

/** A web address without credentials, or null. It is shown to people, who click on it. */
function toRecordingUrl(value: string): string | null {
  if (value.length > MAX_URL_LENGTH || !URL.canParse(value)) return null;
  const url = new URL(value);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null;
  url.username = '';
  url.password = '';
  return url.href;
}

function toDurationMs(parameters: Parameters): number | null {
  const seconds = parameters.get('RecordingDuration') ?? '';
  return /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1000 : null;
}
