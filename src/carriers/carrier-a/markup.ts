// The documents that tell carrier A what to do with a call. Every one that leaves this house is written here.
import type { CallAnswer, StreamInvitation } from '../carrier.js';
import { toSpeechLanguage } from './speech-language.js';
import { document, element, escapeXml, type Xml } from './xml.js';

/** Characters of a document that is sent through the REST API. Source: the vendor's page on calls, parameter `Twiml`. */
const MAX_DOCUMENT_LENGTH = 4000;
/** What stands around the spoken text, with room to spare. */
const SPEECH_FRAME_LENGTH = 200;
/** Characters of a stream parameter, name and value together. Source: the vendor's page on the Stream noun. */
const MAX_PARAMETER_LENGTH = 500;

/** A transfer: who is dialed, what is shown, and where the result goes. */
export interface DialOrder {
  readonly to: string;
  readonly callerId: string | undefined;
  readonly ringTimeoutSeconds: number;
  readonly actionUrl: string;
}

/** The answer to a call that waits for one. */
export function answerMarkup(answer: CallAnswer): string {
  switch (answer.type) {
    case 'stream':
      return response(connectVerb(answer));
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

/** Plays keys, then gives the call to a stream again: new instructions end the one that is open. */
export function digitsMarkup(digits: string, stream: StreamInvitation): string {
  return response(element('Play', { digits }), connectVerb(stream));
}

/** Connects the call to another number. */
export function dialMarkup({ to, callerId, ringTimeoutSeconds, actionUrl }: DialOrder): string {
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

/** The carrier strips the query of a stream URL, so what the stream must know travels as parameters too. */
function connectVerb({ url, parameters }: StreamInvitation): Xml {
  const children = Object.entries(parameters).map(([name, value]) =>
    element('Parameter', { name, value: value.slice(0, Math.max(0, MAX_PARAMETER_LENGTH - name.length)) }),
  );
  return element('Connect', {}, element('Stream', { url }, children));
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
