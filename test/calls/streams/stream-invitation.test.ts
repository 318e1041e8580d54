import { expect, it } from 'vitest';
import { inviteStream } from '../../../src/calls/streams/stream-invitation.js';
import { readStreamToken } from '../../../src/calls/streams/stream-token.js';

const call = {
  callId: 'call-1',
  carrierCallId: 'CA1',
  caller: '+15550111',
  callee: 'sip:anna&b@example.com',
  direction: 'inbound',
  number: 1,
} as const;
const carrierWith = (streamTokenKey: Uint8Array | undefined) =>
  ({ id: 'carrier-a', streamTokenKey, webhooks: { routes: [] } }) as const;
const key = new Uint8Array([1, 2, 3]);

it('names the call in the path and the parties in query and parameters', () => {
  expect(
    inviteStream(call, {
      host: 'voice.example:8443',
      carrier: carrierWith(undefined),
      holdSeconds: 2,
      nowMs: 0,
    }),
  ).toEqual({
    url: 'wss://voice.example:8443/ws/stream/call-1?caller=%2B15550111&callee=sip%3Aanna%26b%40example.com',
    parameters: { caller: '+15550111', callee: 'sip:anna&b@example.com' },
  });
});

it('carries a token in the path where streams have one, as long-lived as asked', () => {
  const { url } = inviteStream(call, {
    host: 'voice.example',
    carrier: carrierWith(key),
    holdSeconds: 2,
    nowMs: 1000,
    ttlMs: 70_000,
  });
  const token = new URL(url).pathname.split('/').at(-1) ?? '';
  expect(readStreamToken(key, token, 70_999)).toEqual(call);
  expect(readStreamToken(key, token, 71_000)).toBeUndefined();
});

it('survives half a surrogate pair', () => {
  const { url } = inviteStream(
    { ...call, caller: '\ud800' },
    { host: 'voice.example', carrier: carrierWith(undefined), holdSeconds: 2, nowMs: 0 },
  );
  expect(url).toContain('caller=%EF%BF%BD&');
});
