import { describe, expect, it } from 'vitest';
import {
  audio,
  call,
  complete,
  content,
  generated,
  inlineData,
  interrupted,
  openReady,
  words,
} from './scene.js';

const modelTurn = { parts: [{ inlineData }] };
const usage = { usageMetadata: { promptTokenCount: 100, responseTokenCount: 20 } };

/** An answer that the caller has interrupted. */
function openInterrupted() {
  const scene = openReady();
  scene.session.say('Hello!');
  for (const message of [audio, interrupted]) scene.says(message);
  scene.news();
  return scene;
}

describe('what is said behind an interruption, where the end of the old turn is missing', () => {
  it('is a new answer as soon as the service shows that it is complete', () => {
    const { news, says } = openInterrupted();
    for (const message of [audio, words('Yes.'), audio]) says(message);
    expect(news()).toEqual([]);
    for (const message of [generated, complete]) says(message);
    expect(news()).toEqual([
      'spoke caller-1 500',
      'start answer-2',
      'audio answer-2 960',
      'text answer-2 Yes.',
      'audio answer-2 960',
      'end answer-2 complete',
    ]);
  });

  it('is a new answer after a moment, all of it', () => {
    const { clock, news, says } = openInterrupted();
    says(audio);
    clock.advance(399);
    expect(news()).toEqual([]);
    clock.advance(1);
    says(audio);
    expect(news().slice(-3)).toEqual(['start answer-2', 'audio answer-2 960', 'audio answer-2 960']);
  });

  it('is a new answer in the message of the interruption, too', () => {
    const { session, news, says } = openReady();
    session.say('Hello!');
    says(audio);
    news();
    says(content({ interrupted: true, modelTurn }));
    expect(news()).toEqual(['speech', 'interrupted', 'end answer-1 interrupted']);
    for (const message of [audio, generated]) says(message);
    expect(news().slice(-3)).toEqual(['start answer-2', 'audio answer-2 960', 'audio answer-2 960']);
  });

  it('is a new answer when there is more of it than the rest of an old one has', () => {
    const { news, says } = openInterrupted();
    for (let piece = 0; piece < 51; piece += 1) says(audio);
    says(complete);
    expect(news().filter((line) => line.startsWith('audio answer-2'))).toHaveLength(51);
  });

  it('can be a call of a tool, unless that is taken back', () => {
    const { clock, news, says } = openInterrupted();
    for (const message of [call('c1'), call('c2'), { toolCallCancellation: { ids: ['c1'] } }]) says(message);
    clock.advance(400);
    expect(news().at(-1)).toBe('end answer-2 tool-calls c2');
  });

  it('is kept when the interruption is told once more', () => {
    const { news, says } = openInterrupted();
    for (const message of [audio, interrupted, generated]) says(message);
    expect(news().at(-1)).toBe('audio answer-2 960');
  });
});

describe('what is said behind an interruption and its end', () => {
  it.each([
    ['in messages of their own', [interrupted, complete, audio]],
    ['in one message', [content({ interrupted: true, turnComplete: true }), audio]],
    ['all in one message', [content({ interrupted: true, turnComplete: true, modelTurn })]],
  ])('is a new answer at once: %s', (_, messages) => {
    const { news, says } = openReady();
    says(audio);
    news();
    for (const message of messages) says(message);
    expect(news().slice(-2)).toEqual(['start answer-2', 'audio answer-2 960']);
  });

  it('is nothing that came before that end', () => {
    const { clock, news, says } = openInterrupted();
    for (const message of [audio, words('late'), call('late'), complete]) says(message);
    clock.advance(5000);
    expect(news().some((line) => line.includes('answer-2'))).toBe(false);
  });
});

describe('a message that comes twice', () => {
  it('runs a tool once', () => {
    const { session, news, says } = openReady();
    for (const message of [call('c1'), call('c1')]) says(message);
    expect(news().filter((line) => line.includes('c1'))).toEqual(['end answer-1 tool-calls c1']);
    session.giveResults([{ toolCallId: 'c1', result: '10' }]);
    session.respond();
    says(call('c1'));
    expect(news()).toEqual([]);
  });

  it('is paid for once; another turn that uses as much is paid for, too', () => {
    const { news, says } = openReady();
    const ends = { ...complete, ...usage };
    for (const message of [audio, generated, ends, ends]) says(message);
    expect(news().filter((line) => line.startsWith('usage'))).toHaveLength(1);
    for (const message of [audio, generated, ends, ends]) says(message);
    expect(news().filter((line) => line.startsWith('usage'))).toHaveLength(1);
  });
});

describe('the format of the answer', () => {
  const at = (mimeType: string) =>
    content({ modelTurn: { parts: [{ inlineData: { ...inlineData, mimeType } }] } });

  it('is what each piece says it is', () => {
    const { news, says } = openReady();
    for (const type of ['audio/pcm', 'audio/pcm;rate=16000', 'audio/pcm; rate=16000', 'audio/pcm;rate=24000'])
      says(at(type));
    expect(news().slice(1)).toEqual([
      'start answer-1',
      'audio answer-1 960',
      'formats pcm16',
      'audio answer-1 960',
      'audio answer-1 960',
      'formats pcm24',
      'audio answer-1 960',
    ]);
  });

  it('ends the session when no telephone takes it', () => {
    const { news, says, vendor } = openReady();
    says(at('audio/pcm;rate=44100'));
    expect(news()).toEqual(['failed Gemini Live speaks in an audio format that no telephone takes.']);
    expect(vendor.socket.closed).toBe(true);
  });
});
