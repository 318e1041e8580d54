import { describe, expect, it } from 'vitest';
import { audio, complete, generated, heard, inlineData, open, openReady, sound, words } from './scene.js';

const CHECK = 'check GEMINI_API_KEY, or the option apiKey';

describe('the start of a session', () => {
  it('waits for the settings to be taken, and asks for the greeting then', () => {
    const { vendor, session, sent, told, says } = open();
    session.say('Hello!');
    vendor.socket.opens();
    expect([told, sent().map((message) => Object.keys(message)[0])]).toEqual([[], ['setup']]);
    says({ setupComplete: {} });
    expect(told).toEqual(['ready']);
    expect(sent()[1]).toEqual({
      realtimeInput: { text: 'Say exactly this, word for word, and nothing before or after it: "Hello!"' },
    });
  });

  it('takes another connection when its settings are not answered', () => {
    const { vendor, clock, told } = open();
    vendor.socket.opens();
    clock.advance(3000);
    clock.advance(0);
    expect(vendor.sockets).toHaveLength(2);
    vendor.socket.opens();
    vendor.socket.says({ setupComplete: {} });
    expect(told).toEqual(['ready']);
  });

  it.each([
    [1007, 'API key not valid. Please pass a valid API key.', `refused the key (1007): ${CHECK}`],
    [1008, 'Permission denied on resource', `does not allow this with the key (1008): ${CHECK}`],
    [1007, 'User location is not supported for the API use.', 'does not serve this place (1007)'],
    [1008, 'models/x is not found for API version v1beta', 'knows no such model (1008)'],
    [1011, 'You exceeded your current quota', 'has no quota left for the key (1011)'],
    [1007, 'Request contains "Do not show this"', 'does not take these settings or this message (1007)'],
    [1008, 'Operation is not implemented', 'does not allow this (1008)'],
  ])('fails at once when it is closed with %d, %s', (code, reason, sentence) => {
    const { vendor, told, closes } = open();
    vendor.socket.opens();
    closes(code, reason);
    expect(told).toEqual([`failed Gemini Live ${sentence}.`]);
  });

  it.each([
    [1011, 'Internal error encountered.'],
    [1008, 'The operation was aborted.'],
    [1011, 'Deadline expired before operation could complete.'],
  ])('tries again after %d, %s', (code, reason) => {
    const { vendor, clock, told, closes } = open();
    vendor.socket.opens();
    closes(code, reason);
    clock.advance(200);
    expect([told, vendor.sockets.length]).toEqual([[], 2]);
  });
});

describe('what the service says', () => {
  it('becomes events, in order', () => {
    const { session, told, clock, says } = openReady();
    session.pushAudio(sound(600, 8000));
    for (let silentMs = 0; silentMs < 800; silentMs += 20) session.pushAudio(sound(20, 0));
    for (const message of [heard('Good '), heard('day'), audio, words('Hi.'), generated, complete])
      says(message);
    clock.advance(700);
    expect(told).toEqual([
      'speech',
      '~caller-1: Good ',
      '~caller-1: Good day',
      // By the audio: the service does not say when the caller stopped.
      'spoke caller-1 800',
      'start answer-1',
      'audio answer-1 960',
      'text answer-1 Hi.',
      'end answer-1 complete',
      'caller-1: Good day',
    ]);
  });

  it('may stand in one message, and each part of it counts', () => {
    const { told, says } = openReady();
    says({
      serverContent: {
        inputTranscription: { text: 'Good day', finished: true },
        modelTurn: { parts: [{ text: 'thinking' }, { inlineData }] },
        outputTranscription: { text: 'Hi.' },
        generationComplete: true,
        turnComplete: true,
      },
      usageMetadata: { promptTokenCount: 10, responseTokenCount: 5 },
    });
    expect(told.map((line) => line.split(' ')[0])).toEqual([
      'speech',
      'caller-1:',
      'spoke',
      'start',
      'audio',
      'text',
      'end',
      'usage',
    ]);
  });

  it.each(['no JSON', '[]', '{}', '{"serverContent":7}', '{"serverContent":{"modelTurn":{"parts":[7]}}}'])(
    'is passed over when it is %s',
    (text) => {
      const { vendor, told } = openReady();
      vendor.socket.says(text);
      expect(told).toEqual([]);
    },
  );

  it('counts what no detail tells of, and what the model thinks, as text', () => {
    const { told, says } = openReady();
    says({
      usageMetadata: {
        promptTokenCount: 522,
        cachedContentTokenCount: 200,
        responseTokenCount: 42,
        thoughtsTokenCount: 136,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 332 },
          { modality: 'AUDIO', tokenCount: 165 },
        ],
        cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 50 }],
        responseTokensDetails: [{ modality: 'AUDIO', tokenCount: 42 }],
      },
    });
    expect(told).toEqual([
      `usage ${JSON.stringify({
        kind: 'response',
        inputTextTokens: 357,
        cachedTextTokens: 150,
        inputAudioTokens: 165,
        cachedAudioTokens: 50,
        outputTextTokens: 136,
        outputAudioTokens: 42,
      })}`,
    ]);
  });
});

describe('the words of a response', () => {
  it('wait for its audio, alone they are no answer', () => {
    const { clock, told, says } = openReady();
    says(words('Old.'));
    clock.advance(1001);
    says(words('Hel'));
    says(words('lo.'));
    expect(told).toEqual([]);
    says(audio);
    expect(told.slice(1)).toEqual(['start answer-1', 'text answer-1 Hello.', 'audio answer-1 960']);
  });

  it.each([
    ['half a second passes', (scene: ReturnType<typeof openReady>) => scene.clock.advance(500)],
    ['the service says that they are complete', ({ says }) => says(words('', true))],
    ['the turn is complete', ({ says }) => says(complete)],
  ])('may be behind it, until %s', (_, ends) => {
    const scene = openReady();
    for (const message of [audio, generated, words('Hello.')]) scene.says(message);
    expect(scene.told.at(-1)).toBe('text answer-1 Hello.');
    ends(scene);
    expect(scene.told.at(-1)).toBe('end answer-1 complete');
    scene.says(words('Late.'));
    expect(scene.told.at(-1)).toBe('end answer-1 complete');
  });
});

describe('words without an end', () => {
  it('are kept as far as anybody takes them', () => {
    const { told, says } = openReady();
    const many = 'x'.repeat(10_000);
    for (let index = 0; index < 3; index += 1) says(words(many));
    for (let index = 0; index < 3; index += 1) says(heard(many));
    expect(told.at(-1)).toHaveLength('~caller-1: '.length + 16_000);
    says(audio);
    expect(told.find((line) => line.startsWith('text'))).toHaveLength('text answer-1 '.length + 16_000);
  });
});

describe('a connection that was lost', () => {
  it('owes nothing of an answer that was there but for late words', () => {
    const { session, says, closes, told } = openReady();
    session.say('Hi.');
    for (const message of [audio, generated]) says(message);
    told.length = 0;
    closes(1011);
    expect(told).toEqual(['end answer-1 complete', 'lost']);
  });

  it('has not finished an answer of which audio was to come', () => {
    const { session, says, closes, told } = openReady();
    session.say('Hi.');
    says(audio);
    told.length = 0;
    closes(1011);
    expect(told).toEqual(['lost']);
  });
});
