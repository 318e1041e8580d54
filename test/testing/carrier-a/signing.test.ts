import { describe, expect, it } from 'vitest';
import { signRequest } from '../../../src/testing/carrier-a/signing.js';

// Computed with the carrier's official library; public test data.
const FIXTURES = [
  {
    title: 'vendor documentation example',
    authToken: '12345',
    url: 'https://example.com/myapp.php?foo=1&bar=2',
    body: 'CallSid=CA1234567890ABCDE&Caller=%2B14158675310&Digits=1234&From=%2B14158675310&To=%2B18005551212',
    signature: 'L/OH5YylLD5NRKLltdqwSvS0BnU=',
  },
  {
    title: 'inbound voice webhook, empty geo fields are part of the string',
    authToken: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
    url: 'https://voice.public.example/webhooks/carrier-a/voice',
    body: 'AccountSid=AC0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a&ApiVersion=2010-04-01&CallSid=CA1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b&CallStatus=ringing&Direction=inbound&Called=%2B15005550010&Caller=%2B15005550020&From=%2B15005550020&To=%2B15005550010&FromCity=&FromState=CA&FromZip=&FromCountry=US&ToCity=&ToState=NY&ToZip=10001&ToCountry=US&StirVerstat=TN-Validation-Passed-A',
    signature: 'qcKREuH7wmhsqnWmpiaBYqn7fFE=',
  },
  {
    title: 'public port 8443: signed without it, server sees it',
    authToken: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
    url: 'https://voice.public.example:8443/webhooks/carrier-a/voice',
    body: 'AccountSid=AC0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a&ApiVersion=2010-04-01&CallSid=CA1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b&CallStatus=ringing&Direction=inbound&Called=%2B15005550010&Caller=%2B15005550020&From=%2B15005550020&To=%2B15005550010&FromCity=&FromState=CA&FromZip=&FromCountry=US&ToCity=&ToState=NY&ToZip=10001&ToCountry=US&StirVerstat=TN-Validation-Passed-A',
    signature: 'qcKREuH7wmhsqnWmpiaBYqn7fFE=',
  },
  {
    title: 'query string is signed exactly as sent: %20, %2B and order kept',
    authToken: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
    url: 'https://voice.public.example/webhooks/carrier-a/voice?z=1&tenant=a%20b%2Bc&a=2',
    body: 'CallSid=CA1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b&CallStatus=ringing',
    signature: 'L3UGsPaWg7CCHyc5zr6x1zZfVek=',
  },
  {
    title: 'upper-case keys sort before lower-case keys',
    authToken: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
    url: 'https://voice.public.example/webhooks/carrier-a/status',
    body: 'apple=1&Zebra=2&CallSid=CA1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b&callSid=x&_x=3',
    signature: 'byolGC9Izh8XIvnWSafJoLWS8io=',
  },
  {
    title: 'plus sign and space in values are decoded before signing',
    authToken: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
    url: 'https://voice.public.example/webhooks/carrier-a/status',
    body: 'From=%2B15005550020&CallerName=ANNA+O+NEIL&Note=na%C3%AFve+%E2%80%93+50%25',
    signature: 'azyw/jiKMgh8vuLPaSsR6Xsjpmg=',
  },
  {
    title: 'repeated key: values de-duplicated, sorted, each written as key+value',
    authToken: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
    url: 'https://voice.public.example/webhooks/carrier-a/status',
    body: 'Tag=b&Tag=a&Tag=b&CallSid=CA1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b',
    signature: 'X0wTpLjiFGDK6oenoQ87l8ZyaIg=',
  },
  {
    title: 'GET webhook: everything is in the URL, nothing appended',
    authToken: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
    url: 'https://voice.public.example/webhooks/carrier-a/status?CallSid=CA1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b&CallStatus=completed',
    body: '',
    signature: 'DutdsXUu5z466KW9SDLW9CRHxbo=',
  },
  {
    title: 'WebSocket upgrade: wss scheme, no parameters',
    authToken: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
    url: 'wss://voice.public.example/ws/stream/CA1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b',
    body: '',
    signature: 'q7m7H/ABZJLXbHZNnKCYZb7w5Lw=',
  },
];

describe('signRequest', () => {
  it.each(FIXTURES)('signs as the carrier does: $title', ({ authToken, url, body, signature }) => {
    const parameters = [...new URLSearchParams(body)].reverse();
    expect(signRequest(authToken, { url, parameters })).toBe(signature);
  });

  it('leaves a fragment out', () => {
    const [{ authToken, url, body, signature }] = FIXTURES as [(typeof FIXTURES)[number]];
    expect(signRequest(authToken, { url: `${url}#rc=2`, parameters: new URLSearchParams(body) })).toBe(
      signature,
    );
  });
});
