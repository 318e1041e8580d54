// The verbs of a markup document, with what may stand on each. What would only be logged by the carrier is a violation here.
import { readCallbackEvents, RECORDING_EVENTS, STATUS_EVENTS } from './callback-events.js';
import type { MarkupElement } from './markup-xml.js';

/** Where a callback goes. */
export interface Callback {
  readonly url: string;
  readonly method: 'GET' | 'POST';
}

/** A callback, and which of its events are wanted. */
export interface EventCallback extends Callback {
  readonly events: readonly string[];
}

export interface StreamVerb {
  type: 'stream';
  url: string;
  parameters: Record<string, string>;
  statusCallback: Callback | undefined;
  /** Asked for further instructions when the server has closed the stream. */
  action: Callback | undefined;
}

export interface DialVerb {
  type: 'dial';
  number: string;
  callerId: string | undefined;
  timeoutSeconds: number;
  timeLimitSeconds: number | undefined;
  action: Callback | undefined;
  statusCallback: EventCallback | undefined;
}

/** One instruction of a markup document. */
export type Verb =
  | StreamVerb
  | DialVerb
  | { type: 'say'; text: string }
  | { type: 'play-digits'; digits: string }
  | { type: 'play-audio' }
  | { type: 'pause'; seconds: number }
  | { type: 'hang-up' }
  | { type: 'reject'; reason: string }
  | { type: 'redirect'; url: string; method: 'GET' | 'POST' }
  | { type: 'record'; channels: 1 | 2; callback: EventCallback | undefined };

/** Source: the wire reference of the carrier, name plus value. */
const MAX_PARAMETER_CHARACTERS = 500;
const DIAL_TIMEOUT_SECONDS = 30;

/** Attributes that each element knows. */
const ATTRIBUTES: Readonly<Record<string, readonly string[]>> = {
  Connect: ['action', 'method'],
  Start: ['action', 'method'],
  Stream: ['url', 'name', 'track', 'statusCallback', 'statusCallbackMethod', 'connectorName'],
  Parameter: ['name', 'value'],
  Recording: [
    'recordingStatusCallback',
    'recordingStatusCallbackMethod',
    'recordingStatusCallbackEvent',
    'channels',
    'track',
    'trim',
  ],
  Say: ['voice', 'language', 'loop'],
  Play: ['loop', 'digits'],
  Pause: ['length'],
  Hangup: [],
  Reject: ['reason'],
  Redirect: ['method'],
  Dial: [
    'action',
    'method',
    'answerOnBridge',
    'callerId',
    'hangupOnStar',
    'record',
    'recordingStatusCallback',
    'recordingStatusCallbackEvent',
    'recordingStatusCallbackMethod',
    'recordingTrack',
    'referUrl',
    'referMethod',
    'ringTone',
    'sequential',
    'timeLimit',
    'timeout',
    'trim',
  ],
  Number: ['sendDigits', 'statusCallback', 'statusCallbackEvent', 'statusCallbackMethod', 'url', 'method'],
};

/** Reads the verbs of a document from top to bottom. */
export class VerbReader {
  readonly violations: string[] = [];

  read(root: MarkupElement): Verb[] {
    if (countStreams(root) > 1) this.#violate('the answer holds more than one <Stream>');
    const verbs = root.children.flatMap((element) => this.#readVerb(element) ?? []);
    if (verbs.slice(1).some(({ type }) => type === 'reject')) {
      this.#violate('<Reject> is not the first verb');
    }
    return verbs;
  }

  #violate(sentence: string): void {
    if (!this.violations.includes(sentence)) this.violations.push(sentence);
  }

  #readVerb(element: MarkupElement): Verb | undefined {
    switch (element.name) {
      case 'Connect':
        return this.#readConnect(element);
      case 'Start':
        return this.#readStart(element);
      case 'Dial':
        return this.#readDial(element);
      case 'Say':
        this.#check(element);
        return { type: 'say', text: textOf(element).trim() };
      case 'Play':
        return this.#readPlay(element);
      case 'Pause':
        return { type: 'pause', seconds: this.#number(element, { name: 'length', from: 1, to: 3600 }) ?? 1 };
      case 'Hangup':
        this.#check(element);
        return { type: 'hang-up' };
      case 'Reject':
        return this.#readReject(element);
      case 'Redirect':
        this.#check(element);
        return { type: 'redirect', url: element.text.trim(), method: this.#method(element, 'method') };
      default:
        this.#violate('the answer holds an unknown verb');
        return undefined;
    }
  }

  /** Reports attributes that the element does not know. */
  #check(element: MarkupElement): void {
    const known = ATTRIBUTES[element.name] ?? [];
    if ([...element.attributes.keys()].some((name) => !known.includes(name))) {
      this.#violate(`<${element.name}> has an attribute that it does not know`);
    }
  }

  #number(element: MarkupElement, range: { name: string; from: number; to: number }): number | undefined {
    const text = element.attributes.get(range.name);
    if (text === undefined) return undefined;
    const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= range.from && value <= range.to) return value;
    this.#violate(`the ${range.name} of <${element.name}> is not ${range.from} to ${range.to}`);
    return undefined;
  }

  #method(element: MarkupElement, name: string): 'GET' | 'POST' {
    const method = element.attributes.get(name) ?? 'POST';
    if (method !== 'GET' && method !== 'POST') this.#violate(`the ${name} of <${element.name}> is no method`);
    return method === 'GET' ? 'GET' : 'POST';
  }

  #callback(element: MarkupElement, name: string, methodName: string): Callback | undefined {
    const url = element.attributes.get(name);
    const method = this.#method(element, methodName);
    return url === undefined || url === '' ? undefined : { url, method };
  }

  #eventCallback(
    element: MarkupElement,
    name: 'statusCallback' | 'recordingStatusCallback',
    known: readonly string[],
  ): EventCallback | undefined {
    const callback = this.#callback(element, name, `${name}Method`);
    const events = readCallbackEvents(element.attributes.get(`${name}Event`)?.split(/\s+/) ?? [], known);
    if (events === undefined) this.#violate(`the ${name}Event of <${element.name}> is unknown`);
    return callback === undefined ? undefined : { ...callback, events: events ?? ['completed'] };
  }

  #readConnect(connect: MarkupElement): Verb | undefined {
    this.#check(connect);
    const [stream, ...more] = connect.children;
    if (stream?.name !== 'Stream' || more.length > 0) {
      this.#violate('<Connect> must hold exactly one <Stream>');
      return undefined;
    }
    this.#check(stream);
    const url = stream.attributes.get('url') ?? '';
    if (!URL.canParse(url)) {
      this.#violate('<Stream> has no url that can be read');
      return undefined;
    }
    const parsed = new URL(url);
    if (parsed.protocol !== 'wss:') this.#violate('the stream url is not wss');
    if (parsed.hostname.includes('_')) this.#violate('the host of the stream url has an underscore');
    if (parsed.hash !== '') this.#violate('the stream url has a fragment');
    const track = stream.attributes.get('track') ?? 'inbound_track';
    if (track !== 'inbound_track') this.#violate('a stream of <Connect> has no track but inbound_track');
    return {
      type: 'stream',
      url,
      parameters: this.#readParameters(stream),
      statusCallback: this.#callback(stream, 'statusCallback', 'statusCallbackMethod'),
      action: this.#callback(connect, 'action', 'method'),
    };
  }

  #readParameters(stream: MarkupElement): Record<string, string> {
    const parameters: Record<string, string> = {};
    for (const child of stream.children) {
      const name = child.attributes.get('name');
      const value = child.attributes.get('value');
      if (child.name !== 'Parameter' || name === undefined || value === undefined) {
        this.#violate('<Stream> may hold only <Parameter name value>');
        continue;
      }
      this.#check(child);
      if (Object.hasOwn(parameters, name)) this.#violate('a stream parameter is given twice');
      if (name.length + value.length > MAX_PARAMETER_CHARACTERS) {
        this.#violate(`a stream parameter is longer than ${MAX_PARAMETER_CHARACTERS} characters`);
      }
      parameters[name] = value;
    }
    return parameters;
  }

  #readStart(start: MarkupElement): Verb | undefined {
    this.#check(start);
    const [recording, ...more] = start.children;
    if (recording?.name !== 'Recording' || more.length > 0) {
      this.#violate('<Start> holds something else than one <Recording>, which is not simulated');
      return undefined;
    }
    this.#check(recording);
    const callback = this.#eventCallback(recording, 'recordingStatusCallback', RECORDING_EVENTS);
    return { type: 'record', channels: recording.attributes.get('channels') === 'mono' ? 1 : 2, callback };
  }

  #readPlay(play: MarkupElement): Verb | undefined {
    this.#check(play);
    const digits = play.attributes.get('digits');
    if (digits === undefined) return { type: 'play-audio' };
    if (/^[0-9A-D#*wW]+$/.test(digits)) return { type: 'play-digits', digits };
    this.#violate('the digits of <Play> are not of 0-9 A-D # * w W');
    return undefined;
  }

  #readReject(reject: MarkupElement): Verb {
    this.#check(reject);
    const reason = reject.attributes.get('reason') ?? 'rejected';
    if (reason !== 'busy' && reason !== 'rejected') this.#violate('the reason of <Reject> is unknown');
    return { type: 'reject', reason };
  }

  #readDial(dial: MarkupElement): Verb {
    this.#check(dial);
    const [child, ...more] = dial.children;
    if (more.length > 0 || (child !== undefined && child.name !== 'Number')) {
      this.#violate('<Dial> holds something else than one number, which is not simulated');
    }
    const number = child?.name === 'Number' ? child : undefined;
    if (number !== undefined) this.#check(number);
    return {
      type: 'dial',
      number: (number ?? dial).text.trim(),
      callerId: dial.attributes.get('callerId'),
      timeoutSeconds: this.#number(dial, { name: 'timeout', from: 1, to: 600 }) ?? DIAL_TIMEOUT_SECONDS,
      timeLimitSeconds: this.#number(dial, { name: 'timeLimit', from: 1, to: 86_400 }),
      action: this.#callback(dial, 'action', 'method'),
      statusCallback:
        number === undefined ? undefined : this.#eventCallback(number, 'statusCallback', STATUS_EVENTS),
    };
  }
}

function countStreams(node: MarkupElement): number {
  return node.children.reduce((sum, child) => sum + countStreams(child), node.name === 'Stream' ? 1 : 0);
}

/** The text of an element and, for speech markup, of what it holds. */
function textOf(element: MarkupElement): string {
  return element.text + element.children.map(textOf).join(' ');
}
