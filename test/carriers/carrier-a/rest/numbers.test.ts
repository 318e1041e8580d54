import { describe, expect, it } from 'vitest';
import { ACCOUNT, type FakeReply } from '../fake-api.js';
import { api, failureOf, rest, urls, useFakeApi } from './setup.js';

useFakeApi();

describe('setVoiceUrl', () => {
  const number = {
    sid: 'PN1',
    phone_number: '+15005550010',
    voice_url: urls.voice,
    voice_method: 'POST',
    status_callback: urls.status,
    status_callback_method: 'POST',
    voice_application_sid: '',
    trunk_sid: null,
  };
  const listOf = (...numbers: object[]): FakeReply => ({
    status: 200,
    json: { incoming_phone_numbers: numbers },
  });
  const setVoiceUrl = () => rest.setVoiceUrl('+15005550010', urls);

  it('sets both URLs of exactly this number', async () => {
    const similar = { ...number, sid: 'PN0', phone_number: '+150055500101' };
    api.replies = [
      listOf(similar, { ...number, voice_url: 'https://old.example', status_callback: null }),
      { status: 200, json: {} },
    ];
    await setVoiceUrl();
    expect(api.seen).toMatchObject([
      {
        method: 'GET',
        url: `/2010-04-01/Accounts/${ACCOUNT}/IncomingPhoneNumbers.json?PhoneNumber=%2B15005550010`,
      },
      {
        method: 'POST',
        url: `/2010-04-01/Accounts/${ACCOUNT}/IncomingPhoneNumbers/PN1.json`,
        form: [
          ['VoiceUrl', urls.voice],
          ['VoiceMethod', 'POST'],
          ['StatusCallback', urls.status],
          ['StatusCallbackMethod', 'POST'],
        ],
      },
    ]);
  });

  it('leaves the URL that is right as the operator set it', async () => {
    const own = { voice_url: `${urls.voice}#rc=2`, status_callback: '' };
    api.replies = [listOf({ ...number, ...own }), { status: 200, json: {} }];
    await setVoiceUrl();
    expect(api.seen[1]?.form).toEqual([
      ['StatusCallback', urls.status],
      ['StatusCallbackMethod', 'POST'],
    ]);
  });

  it.each([
    ['exactly', urls.voice],
    ['with connection settings of the operator', `${urls.voice}#rc=2`],
  ])('does nothing when the number points there already, %s', async (_, voiceUrl) => {
    api.replies = [listOf({ ...number, voice_url: voiceUrl })];
    await setVoiceUrl();
    expect(api.seen).toHaveLength(1);
  });

  it.each([
    ['an account without the number', listOf({ ...number, phone_number: '+15005550011' })],
    ['a number without a usable name', listOf({ ...number, sid: 'PN\ud800' })],
    ['an empty list', { status: 200, json: {} }],
    ['a list of anything', { status: 200, json: { incoming_phone_numbers: [null, 1, 'x', []] } }],
    ['a number that an application holds', listOf({ ...number, voice_application_sid: 'AP1' })],
    ['a number on a trunk', listOf({ ...number, trunk_sid: 'TK1' })],
  ] as const)('changes nothing for %s', async (_, list) => {
    api.replies = [list];
    await failureOf(setVoiceUrl());
    expect(api.seen).toHaveLength(1);
  });

  it('tells where a number leads, and changes nothing', async () => {
    api.replies = [listOf(number), listOf({ ...number, voice_url: '', trunk_sid: 'TK1' }), listOf()];
    const look = () => rest.voiceUrls?.('+15005550010');
    expect(await look()).toEqual({ voice: urls.voice, status: urls.status, isOverridden: false });
    expect(await look()).toEqual({ voice: null, status: urls.status, isOverridden: true });
    expect(await look()).toBeUndefined();
    expect(api.seen.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET']);
  });
});
