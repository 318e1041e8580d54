// The carrier of the bench: rings by signed webhook over a few connections that are kept alive, and looks at every answer.
import { createHmac } from 'node:crypto';
import { Agent, request } from 'node:http';

export const SECRET = '0123456789abcdef0123456789abcdef';
export const HOST = 'voice.example.com';
const PATH = '/webhooks/carrier-a/voice';
const CONNECTIONS = 16;
/** An answer that takes as long will not come any more. */
const LONGEST_MS = 10_000;

/** What a carrier says of a call that rings, in its order. */
const RING = {
  AccountSid: `AC${'a1'.repeat(16)}`,
  ApiVersion: '2010-04-01',
  CallSid: `CA${'b2'.repeat(16)}`,
  CallStatus: 'ringing',
  Called: '+15005550010',
  CalledCity: 'SAN FRANCISCO',
  CalledCountry: 'US',
  CalledState: 'CA',
  CalledZip: '94105',
  Caller: '+15005550020',
  CallerCity: 'OAKLAND',
  CallerCountry: 'US',
  CallerState: 'CA',
  CallerZip: '94601',
  Direction: 'inbound',
  From: '+15005550020',
  FromCity: 'OAKLAND',
  FromCountry: 'US',
  FromState: 'CA',
  FromZip: '94601',
  StirVerstat: 'TN-Validation-Passed-A',
  To: '+15005550010',
  ToCity: 'SAN FRANCISCO',
  ToCountry: 'US',
  ToState: 'CA',
  ToZip: '94105',
};

/** @param {string} callSid */
function ringOf(callSid) {
  const form = { ...RING, CallSid: callSid };
  const signed = Object.entries(form)
    .map(([name, value]) => name + value)
    .toSorted()
    .join('');
  const signature = createHmac('sha1', SECRET).update(`https://${HOST}${PATH}${signed}`).digest('base64');
  return { body: new URLSearchParams(form).toString(), signature };
}

/** @param {number} port @param {Agent} agent @param {{ body: string, signature: string }} ring @returns {Promise<{ status: number, text: string }>} */
function send(port, agent, { body, signature }) {
  return new Promise((resolve, reject) => {
    const headers = {
      'Content-Type': 'application/x-www-form-urlencoded',
      'Content-Length': Buffer.byteLength(body),
      'X-CarrierA-Signature': signature,
    };
    const outgoing = request(
      { host: '127.0.0.1', port, path: PATH, method: 'POST', agent, headers, timeout: LONGEST_MS },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        response.on('error', reject);
      },
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error('No answer came.')));
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

export class RingingCarrier {
  #port;
  #agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  #serial = 0;

  /** @param {number} port */
  constructor(port) {
    this.#port = port;
  }

  /** Rings so many times. `isRepeated`: the same delivery again and again; else each is another call. @throws for an answer that is not right @param {number} times @param {{ isRepeated: boolean }} shape */
  async ring(times, { isRepeated }) {
    const same = ringOf(RING.CallSid);
    let left = times;
    const ringOn = async () => {
      while (left > 0) {
        left -= 1;
        this.#serial += 1;
        const call = isRepeated ? same : ringOf(`CA${this.#serial.toString(16).padStart(32, '0')}`);
        const { status, text } = await send(this.#port, this.#agent, call);
        if (status !== 200 || !text.includes('<Stream '))
          throw new Error(`A webhook was answered ${status}.`);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, ringOn));
  }

  /** @throws where a wrong signature does any good */
  async forge() {
    const { status } = await send(this.#port, this.#agent, {
      ...ringOf(RING.CallSid),
      signature: ringOf('CA0').signature,
    });
    if (status !== 403) throw new Error(`A forged webhook was answered ${status}.`);
  }

  close() {
    this.#agent.destroy();
  }
}
