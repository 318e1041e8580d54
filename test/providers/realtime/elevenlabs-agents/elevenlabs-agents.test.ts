import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/base/clock.js';
import { MULAW_8K } from '../../../../src/audio/format.js';
import { ElevenLabsAgents, type ElevenLabsAgentsOptions } from '../../../../src/providers/realtime/index.js';
import {
  emulateElevenLabsAgents,
  type EmulateElevenLabsAgentsOptions,
  type Refusal,
} from '../../../../src/testing/index.js';
import { eventually } from '../../../support/carrier-phone.js';
import { recordCall } from '../recorded-call.js';
import { untilQuiet } from '../../../support/virtual/quiet.js';
import { itRefuses } from '../../../support/refused-options.js';

async function open(
  emulation: EmulateElevenLabsAgentsOptions,
  options: Partial<ElevenLabsAgentsOptions> = {},
  refusals: readonly Refusal[] = [],
) {
  const emulator = await emulateElevenLabsAgents(emulation);
  for (const refusal of refusals) emulator.refuseNext(refusal);
  const { context, logger, told, failures } = recordCall({
    clock: systemClock,
    language: 'en',
    events: (note) => ({ reconnected: () => note('reconnected') }),
  });
  const model = new ElevenLabsAgents({ agentId: 'agent-1', baseUrl: emulator.url, ...options });
  const session = model.open(context);
  session.say('Hello.');
  return {
    emulator,
    logger,
    told,
    session,
    failure: () => eventually('the failure', () => failures[0]),
    until: (event: string) => eventually(event, () => told.find((each) => each === event)),
    async [Symbol.asyncDispose]() {
      session.close();
      await emulator.close();
    },
  };
}

describe('new ElevenLabsAgents()', () => {
  it('is an agent of the vendor, whose price is that of a plan', () => {
    const plain = new ElevenLabsAgents({ agentId: 'agent-1' });
    expect(plain).toMatchObject({ name: 'elevenlabs/agents', price: undefined, transcribesCaller: true });
    expect(plain.inputFormats).toContain(MULAW_8K);
    const priced = new ElevenLabsAgents({ agentId: 'agent-1', pricePerMinute: 0.08 });
    expect(priced.price).toEqual({ perAudioMinute: 0.08 });
  });

  itRefuses(ElevenLabsAgents, [
    [{}, 'needs agentId'],
    [{ agentId: ' ' }, 'new ElevenLabsAgents() needs agentId'],
    [{ agentId: 'a', agent: 'b' }, 'has no option "agent". Did you mean agentId?'],
    [{ agentId: 'a', apiKey: 'ü' }, 'contains invalid characters'],
    [{ agentId: 'a', baseUrl: 'ftp://x' }, 'must begin with http'],
    [{ agentId: 'a', pricePerMinute: -1 }, 'pricePerMinute must be a number'],
    [{ agentId: 'a', overrides: { prompt: 'x' } }, 'overrides.prompt must be true or false'],
    [{ agentId: 'a', overrides: { prmpt: true } }, 'Did you mean prompt?'],
    [{ agentId: 'a', overrides: { voice: '' } }, 'overrides.voice must be a non-empty string'],
    [{ agentId: 'a', dynamicVariables: { shop: {} } }, 'dynamicVariables.shop must be'],
    [{ agentId: 'a', dynamicVariables: { shop: Number.NaN } }, 'dynamicVariables.shop must be'],
  ]);
});

describe('a conversation', () => {
  it('with a public agent needs no key', async () => {
    await using scene = await open({});
    await scene.until('ready');
    expect(scene.emulator.requests).toHaveLength(1);
    expect(scene.emulator.requests[0]?.headers['xi-api-key']).toBeUndefined();
  });

  it('with a private agent is signed each time, and neither address nor key are shown', async () => {
    await using scene = await open({ isPrivate: true }, { apiKey: 'test-key' });
    await scene.until('ready');
    scene.emulator.disconnectAll();
    await scene.until('reconnected');
    const paths = scene.emulator.requests.map(({ url }) => url.pathname.split('/').at(-1));
    expect(paths).toEqual(['get-signed-url', 'conversation', 'get-signed-url', 'conversation']);
    const [, first, , second] = scene.emulator.requests.map(({ url }) =>
      url.searchParams.get('conversation_signature'),
    );
    expect(first).not.toBe(second);
    expect(scene.logger.text).toContain('connection to a provider was lost');
    expect(scene.logger.text).not.toMatch(/test-key|signature/);
    expect(scene.emulator.violations).toEqual([]);
  });

  it.each<[string, EmulateElevenLabsAgentsOptions, Partial<ElevenLabsAgentsOptions>, string]>([
    [
      'a wrong key',
      {},
      { apiKey: 'wrong' },
      'ElevenLabs Agents refused the key (HTTP 401): check ELEVENLABS_API_KEY, or the option apiKey.',
    ],
    ['a private agent without a key', { isPrivate: true }, {}, 'does not allow this with the key (HTTP 403)'],
    [
      'an override that the agent does not allow',
      { allowedOverrides: ['prompt', 'language'] },
      {},
      'refused the override of the first message (1008, override_error)',
    ],
    ['a variable that is missing', { variables: ['shop'] }, {}, 'misses a dynamic variable of the agent'],
    ['a format of studios', { outputFormat: 'pcm_44100' }, {}, 'agent output audio format'],
  ])('fails for %s, and says so', async (_, emulation, options, sentence) => {
    await using scene = await open(emulation, options);
    const failure = await scene.failure();
    expect(failure.message).toContain(sentence);
    expect(failure).toMatchObject({ code: 'PROVIDER_FAILED', retryable: false });
  });

  it('is tried again where the vendor cannot sign now', async () => {
    await using scene = await open({ isPrivate: true }, { apiKey: 'test-key' }, [{ status: 503 }]);
    await scene.until('ready');
    expect(scene.emulator.requests).toHaveLength(3);
  });

  it.each(['{"signed_url":"http://127.0.0.1/secret"}', '{"signed_url":7}', 'secret'])(
    'fails where the vendor signs nothing but %s',
    async (body) => {
      await using scene = await open({}, { apiKey: 'test-key' }, [{ status: 200, body }]);
      const failure = await scene.failure();
      expect(failure.message).toBe('ElevenLabs Agents gave no signed address.');
    },
  );

  it('that is closed while its address is signed is never begun', async () => {
    await using scene = await open({ isPrivate: true }, { apiKey: 'test-key' });
    scene.session.close();
    await untilQuiet();
    expect(scene.emulator.requests.filter(({ url }) => url.pathname.endsWith('/conversation'))).toEqual([]);
    expect(scene.told).toEqual([]);
  });
});
