import { beforeEach, describe, expect, it } from 'vitest';
import { ACCOUNT } from '../fake-api.js';
import { CA, api, failureOf, rest, stream, transferRequest, webhookBaseUrl, useFakeApi } from './setup.js';

useFakeApi();

describe('new instructions', () => {
  const markupOf = async (asked: Promise<void>): Promise<string | undefined> => {
    await asked;
    expect(api.seen).toHaveLength(1);
    expect(api.seen[0]?.url).toBe(`/2010-04-01/Accounts/${ACCOUNT}/Calls/${CA}.json`);
    const [name, value] = api.seen[0]?.form[0] ?? [];
    return name === 'Twiml' ? value?.replace(/^.*\n<Response>|<\/Response>$/g, '') : undefined;
  };

  beforeEach(() => {
    api.replies = [{ status: 200, json: { sid: CA, status: 'in-progress' } }];
  });

  it('dial the other number, show our own, and ask for the result', async () => {
    expect(await markupOf(rest.transfer(CA, transferRequest))).toBe(
      `<Dial callerId="+15005550010" timeout="25" action="${webhookBaseUrl}/voice?callId=abc&amp;transfer=1" method="POST">+15005550030</Dial>`,
    );
  });

  it('ring within what the carrier takes', async () => {
    const request = { ...transferRequest, callerId: undefined, ringTimeoutSeconds: 1e9 };
    expect(await markupOf(rest.transfer(CA, request))).toContain('<Dial timeout="600" ');
  });

  it.each(['', '15005550030', '+1500<5550030', 'sip:anna@example.com', '+15005550030\n'])(
    'are not given for the number %j',
    async (to) => {
      expect(await failureOf(rest.transfer(CA, { ...transferRequest, to }))).toMatchObject({
        status: null,
        retryable: false,
      });
      expect(api.seen).toEqual([]);
    },
  );

  it('play keys, then open the next stream', async () => {
    expect(await markupOf(rest.sendDigits(CA, '1w2#*AD0W', stream))).toBe(
      '<Play digits="1w2#*AD0W"/><Connect><Stream url="wss://voice.example/ws/stream/abc"/></Connect>',
    );
  });

  it.each(['', 'E', 'a', '1 2', '1"/><Hangup/>', '1\n', '1'.repeat(129)])(
    'are not given for the keys %j, which no error repeats',
    async (digits) => {
      const error = await failureOf(rest.sendDigits(CA, digits, stream));
      expect(error.message).toBe(
        'The carrier is not asked to send keys: they are 1 to 128 of 0-9 A-D # * w W.',
      );
      expect(api.seen).toEqual([]);
    },
  );

  it('speak, then hang up', async () => {
    expect(await markupOf(rest.speak(CA, 'Tom & Jerry', { language: 'en-GB' }))).toBe(
      '<Say language="en-GB">Tom &amp; Jerry</Say><Hangup/>',
    );
  });

  it('fail for a call that is over', async () => {
    api.replies = [{ status: 400, json: { code: 21220 } }];
    const error = await failureOf(rest.speak(CA, 'Hi', { language: undefined }));
    expect(error).toMatchObject({ status: 400, retryable: false });
    expect(error.message).toBe(
      'The carrier refused to speak: the call is not in progress (HTTP 400, code 21220).',
    );
  });
});

describe('startRecording', () => {
  it('records both sides apart, and asks for the report', async () => {
    api.replies = [{ status: 201, json: { sid: 'RE1', status: 'in-progress' } }];
    await rest.startRecording(CA, { callId: 'abc', webhookBaseUrl });
    expect(api.seen).toMatchObject([
      {
        method: 'POST',
        url: `/2010-04-01/Accounts/${ACCOUNT}/Calls/${CA}/Recordings.json`,
        form: [
          ['RecordingChannels', 'dual'],
          ['RecordingStatusCallback', `${webhookBaseUrl}/recording?callId=abc`],
          ['RecordingStatusCallbackMethod', 'POST'],
          ['RecordingStatusCallbackEvent', 'completed'],
          ['RecordingStatusCallbackEvent', 'absent'],
        ],
      },
    ]);
  });
});
