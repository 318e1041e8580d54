import { describe, expect, it } from 'vitest';
import type { WireFailure } from '../../../src/providers/wire/failure.js';
import type { FakeClock } from '../../support/fake-clock.js';
import type { FakeVendor } from '../fake-vendor-socket.js';
import * as agents from './elevenlabs-agents/scene.js';
import * as gemini from './gemini-live/scene.js';
import * as openai from './openai-realtime/scene.js';

interface Scene {
  readonly vendor: FakeVendor;
  readonly clock: FakeClock;
  readonly told: readonly string[];
}

interface Vendor {
  /** A session without a connection, or in the middle of a call. */
  open(): Scene;
  openReady(): Scene;
  /** The settings are taken. */
  readonly taken: object;
}

const VENDORS: readonly [string, Vendor][] = [
  [
    'OpenAI Realtime',
    { open: openai.open, openReady: openai.openReady, taken: { type: 'session.updated', session: {} } },
  ],
  ['Gemini Live', { open: gemini.open, openReady: gemini.openReady, taken: { setupComplete: {} } }],
  [
    'ElevenLabs Agents',
    {
      open: agents.openScene,
      openReady: agents.beginScene,
      taken: {
        type: 'conversation_initiation_metadata',
        conversation_initiation_metadata_event: {
          conversation_id: 'conv',
          user_input_audio_format: 'ulaw_8000',
          agent_output_audio_format: 'ulaw_8000',
        },
      },
    },
  ],
];

const REFUSALS: readonly Partial<WireFailure>[] = [
  { reason: 'could not be reached (127.0.0.1:1, ECONNREFUSED)' },
  { status: 503, reason: 'cannot answer now (HTTP 503)' },
  { kind: 'throttled', status: 429, reason: 'is asked for too much at a time (HTTP 429)' },
];

/** Every try that is made within so long ends so. */
function refuse({ vendor, clock }: Scene, forMs: number, failure: Partial<WireFailure>): void {
  const lost = vendor.sockets.length - 1;
  const tried = new Set(vendor.sockets.slice(0, lost));
  for (let ms = 0; ms < forMs; ms += 1) {
    const { socket } = vendor;
    if (!tried.has(socket)) {
      tried.add(socket);
      socket.ends(failure);
    }
    clock.advance(1);
  }
}

function connect({ vendor, clock }: Scene, taken: object): void {
  clock.advance(1000);
  vendor.socket.opens();
  vendor.socket.says(taken);
}

const names = ({ told }: Scene) => told.map((line) => line.split(' ')[0]);

describe.each(VENDORS)('connections that %s refuses', (_, { open, openReady, taken }) => {
  it.each(REFUSALS)('for a second and a half are made behind it: $reason', (failure) => {
    const first = open();
    refuse(first, 1500, failure);
    connect(first, taken);
    expect(names(first)).toEqual(['ready']);
    const later = openReady();
    later.clock.advance(10_000);
    refuse(later, 1500, failure);
    connect(later, taken);
    expect(names(later).filter((name) => name !== 'usage')).toEqual(['lost', 'reconnected']);
  });

  it.each(REFUSALS)('for more than four seconds are given up: $reason', (failure) => {
    const scene = open();
    refuse(scene, 3000, failure);
    expect(scene.told).toEqual([]);
    refuse(scene, 1000, failure);
    expect(names(scene)).toEqual(['failed']);
  });

  it.each([401, 403, 404])('for what will not change, as with HTTP %i, are given up at once', (status) => {
    const scene = openReady();
    scene.clock.advance(10_000);
    scene.vendor.socket.ends();
    scene.clock.advance(0);
    scene.vendor.socket.ends({ kind: 'fatal', status });
    expect(names(scene).at(-1)).toBe('failed');
    expect(scene.vendor.sockets).toHaveLength(2);
  });
});
