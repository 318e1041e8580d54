// The documents that tell carrier A what to do with a call. Every one that we send is written here.
import type { CallAnswer, StreamInvitation, StreamResume, TransferRequest } from '../carrier.js';
import { callbackUrl } from './callback-url.js';
import { ringSeconds } from './dial.js';
import { toSpeechLanguage } from './speech-language.js';
import { document, element, escapeXml, type Xml } from './xml.js';

/** Characters of a document that is sent through the REST API. Source: the vendor's page on calls, parameter `Twiml`. */
const MAX_DOCUMENT_LENGTH = 4000;
/** What stands around the spoken text, with room to spare. */
const SPEECH_FRAME_LENGTH = 200;
/**
 * Behind the URL that goes on with a call, how the carrier asks for it: five more times, whatever is wrong. It is neither sent nor signed. Source: the
 * vendor's page on webhook connection overrides.
 */
const RESUME_OVERRIDES = '#rc=5&rp=all';
/** Characters of a stream parameter, name and value together. Source: the vendor's page on the Stream noun. */
const MAX_PARAMETER_LENGTH = 500;

/** A transfer: who is dialed, what is shown, and where the result goes. */
interface DialOrder {
  readonly to: string;
  readonly callerId: string | undefined;
  readonly ringTimeoutSeconds: number;
  readonly actionUrl: string;
}

/** The answer to a call that waits for one. */
export function answerMarkup(answer: CallAnswer): string {
  switch (answer.type) {
    case 'stream':
      return response(...connectVerbs(answer));
    case 'hold':
      return response(...resumeVerbs(answer.resume));
    case 'say':
      return speechMarkup(answer.text, answer.language);
    case 'transfer':
      return transferMarkup(answer);
    case 'busy':
      return response(element('Reject', { reason: 'busy' }));
    case 'reject':
      return response(element('Reject', { reason: 'rejected' }));
    case 'hang-up':
      return response(HANG_UP);
  }
}

/** Nothing to do. */
export function emptyMarkup(): string {
  return response();
}

/** Gives the call to a stream: new instructions end the one that is open. */
export function streamMarkup(stream: StreamInvitation): string {
  return fitted(stream, (verbs) => response(...verbs));
}

/** Plays keys, then gives the call to a stream again: new instructions end the one that is open. */
export function digitsMarkup(digits: string, stream: StreamInvitation): string {
  return fitted(stream, (verbs) => response(element('Play', { digits }), ...verbs));
}

/** Connects the call to another number, and asks for what comes next when that is over. */
export function transferMarkup({
  to,
  callerId,
  ringTimeoutSeconds,
  callId,
  webhookBaseUrl,
}: TransferRequest): string {
  const actionUrl = callbackUrl(webhookBaseUrl, 'voice', { callId, isTransfer: true });
  return dialMarkup({ to, callerId, ringTimeoutSeconds: ringSeconds(ringTimeoutSeconds), actionUrl });
}

/** Connects the call to another number. */
function dialMarkup({ to, callerId, ringTimeoutSeconds, actionUrl }: DialOrder): string {
  const attributes = { callerId, timeout: ringTimeoutSeconds, action: actionUrl, method: 'POST' };
  return response(element('Dial', attributes, escapeXml(to)));
}

/** Speaks, then hangs up. A text that is longer than a document may be ends with the last word that fits. */
export function speechMarkup(text: string, language: string | undefined): string {
  const spoken = fitText(text.replace(/\s+/g, ' ').trim(), MAX_DOCUMENT_LENGTH - SPEECH_FRAME_LENGTH);
  if (spoken === '') return response(HANG_UP);
  return response(element('Say', { language: toSpeechLanguage(language) }, spoken), HANG_UP);
}

const HANG_UP = element('Hangup');

/** A document for the REST API. The query of the stream's URL is left out where it is too long: the carrier strips it anyway. */
function fitted(stream: StreamInvitation, write: (verbs: Xml[]) => string): string {
  const whole = write(connectVerbs(stream));
  if (whole.length <= MAX_DOCUMENT_LENGTH) return whole;
  const [url = stream.url] = stream.url.split('?');
  return write(connectVerbs({ ...stream, url }));
}

/** The carrier strips the query of a stream URL, so what the stream must know travels as parameters too. */
function connectVerbs({ url, parameters, resume }: StreamInvitation): Xml[] {
  const children = Object.entries(parameters).map(([name, value]) =>
    element('Parameter', { name, value: value.slice(0, Math.max(0, MAX_PARAMETER_LENGTH - name.length)) }),
  );
  const connect = element('Connect', {}, element('Stream', { url }, children));
  return resume === undefined ? [connect] : [connect, ...resumeVerbs(resume)];
}

/** What comes after a stream that was lost. Whoever hangs up ends the call, and the document with it. */
function resumeVerbs({ url, holdSeconds }: StreamResume): Xml[] {
  const redirect = element('Redirect', { method: 'POST' }, escapeXml(`${url}${RESUME_OVERRIDES}`));
  return holdSeconds === 0 ? [redirect] : [element('Pause', { length: holdSeconds }), redirect];
}

function fitText(text: string, maxLength: number): Xml {
  const whole = escapeXml(text);
  if (whole.length <= maxLength) return whole;
  let length = 0;
  let end = 0;
  for (const character of text) {
    length += escapeXml(character).length;
    if (length > maxLength) break;
    end += character.length;
  }
  const cut = text.slice(0, end);
  return escapeXml(cut.includes(' ') ? cut.slice(0, cut.lastIndexOf(' ')) : cut);
}

function response(...verbs: Xml[]): string {
  return document('Response', verbs);
}
