import { describe, expect, it } from 'vitest';
import { audio, call, complete, generated, heard, interrupted, openReady, sound, words } from './scene.js';

const ANSWER = { clientContent: { turnComplete: true } };

describe('an interruption', () => {
  it('drops what comes until the turn is complete', () => {
    const { session, news, says } = openReady();
    session.say('Hello!');
    says(audio);
    news();
    for (const message of [interrupted, audio, words('late')]) says(message);
    expect(news()).toEqual(['speech', 'interrupted', 'end answer-1 interrupted']);
    for (const message of [complete, audio]) says(message);
    expect(news().slice(-2)).toEqual(['start answer-2', 'audio answer-2 960']);
  });

  it('is over after a moment where the end of the turn is lost', () => {
    const { clock, news, says } = openReady();
    for (const message of [audio, interrupted]) says(message);
    clock.advance(400);
    news();
    says(audio);
    expect(news().at(-1)).toBe('audio answer-2 960');
  });

  it('forgets what was asked before it', () => {
    const { session, sent, says } = openReady();
    says(audio);
    session.respond();
    for (const message of [interrupted, complete]) says(message);
    expect(sent()).toEqual([]);
  });

  it('of an answer that is complete and still heard is told, too', () => {
    const { session, news, says } = openReady();
    session.say('Hello!');
    for (const message of [audio, generated, words('.', true)]) says(message);
    news();
    says(interrupted);
    expect(news()).toEqual(['speech', 'interrupted']);
  });
});

describe('who may not interrupt', () => {
  it('is not heard while an answer is made, and then from the first word on', () => {
    const { session, sent, says } = openReady({ interruptible: false });
    session.pushAudio(sound(20, 0));
    expect(sent()).toHaveLength(1);
    session.say('Hello!');
    says(audio);
    for (let frame = 0; frame < 10; frame += 1) session.pushAudio(sound(20, 5000));
    expect(sent()).toHaveLength(2);
    says(generated);
    expect(sent()).toHaveLength(12);
  });

  it('is heard at once when they may', () => {
    const { session, sent, says } = openReady({ interruptible: false });
    says(audio);
    session.pushAudio(sound(20, 5000));
    session.update({ interruptible: true });
    expect(sent()).toHaveLength(1);
  });

  it('does not take the floor when the service thinks so', () => {
    const { news, says } = openReady({ interruptible: false });
    says(audio);
    news();
    says(interrupted);
    expect(news()).toEqual(['end answer-1 interrupted']);
  });
});

describe('an answer that is given up', () => {
  it('is dropped as it comes', () => {
    const { session, news, says } = openReady();
    says(audio);
    news();
    session.cancel();
    for (const message of [audio, words('late')]) says(message);
    expect(news()).toEqual([]);
    says(generated);
    expect(news()).toEqual(['end answer-1 interrupted']);
  });

  it('makes way for another one, which breaks it off', () => {
    const { session, sent, news, says } = openReady();
    says(audio);
    session.cancel();
    session.respond();
    expect(sent()).toEqual([ANSWER]);
    news();
    for (const message of [audio, interrupted]) says(message);
    expect(news()).toEqual(['end answer-1 interrupted']);
    for (const message of [complete, audio]) says(message);
    expect(news()).toEqual(['start answer-2', 'audio answer-2 960']);
  });

  it('is not told at all when it has not begun, unless the caller speaks', () => {
    const { session, news, says } = openReady();
    session.respond();
    session.cancel();
    for (const message of [audio, generated, complete]) says(message);
    expect(news()).toEqual([]);
    session.respond();
    session.cancel();
    for (const message of [heard('Hello?'), audio]) says(message);
    expect(news().at(-1)).toBe('audio answer-2 960');
  });
});

describe('what is asked', () => {
  it('waits for the end of the answer that is made, and is asked once', () => {
    const { session, sent, says } = openReady();
    says(audio);
    session.respond();
    session.respond();
    session.addText({ role: 'user', text: 'Pressed 1' });
    expect(sent()).toEqual([]);
    for (const message of [generated, complete]) says(message);
    const turns = [{ role: 'user', parts: [{ text: 'Pressed 1' }] }];
    expect(sent()).toEqual([{ clientContent: { turns, turnComplete: true } }]);
  });

  it('is asked once more when nothing comes of it', () => {
    const { session, sent, says } = openReady();
    session.respond();
    for (const message of [complete, complete]) says(message);
    expect(sent()).toEqual([ANSWER, ANSWER]);
  });

  it('is not asked when the answer begins at that moment', () => {
    const scene = openReady();
    const { sent, says, session } = scene;
    scene.onSpoke = () => session.respond();
    for (const message of [heard('Hello?'), audio, generated, complete]) says(message);
    expect(sent()).toEqual([]);
  });

  it('of notes of ours is told apart from the caller', () => {
    const { session, sent } = openReady();
    session.addText({ role: 'system', text: 'The line is bad.' });
    const turns = [{ role: 'user', parts: [{ text: '[The line is bad.]' }] }];
    expect(sent()).toEqual([{ clientContent: { turns, turnComplete: false } }]);
  });
});

describe('tools', () => {
  it('end the response, and their results wait for the answer that is wanted', () => {
    const { session, sent, news, says } = openReady();
    for (const message of [audio, call('c1')]) says(message);
    expect(news().at(-1)).toBe('end answer-1 tool-calls c1');
    session.giveResults([{ toolCallId: 'c1', result: '{"price":10}' }]);
    expect(sent()).toEqual([]);
    session.respond();
    const functionResponses = [{ id: 'c1', name: 'find', response: { price: 10 } }];
    expect(sent()).toEqual([{ toolResponse: { functionResponses } }]);
    says(audio);
    expect(news()).toEqual(['start answer-2', 'audio answer-2 960']);
  });

  it('are told their results in between where they do not block', () => {
    const { session, sent, says } = openReady({ settings: { toolBehavior: 'when-idle' } });
    for (const message of [call('c1'), complete]) says(message);
    session.giveResults([{ toolCallId: 'c1', result: 'ten' }]);
    session.respond();
    const functionResponses = [
      { id: 'c1', name: 'find', response: { result: 'ten' }, scheduling: 'WHEN_IDLE' },
    ];
    expect(sent()).toEqual([{ toolResponse: { functionResponses } }]);
  });

  it.each([
    ['before the result', true],
    ['behind it', false],
  ])('that the service gives up %s have it told as text, with the next answer', (_, isBefore) => {
    const { session, sent, says } = openReady();
    says(call('c1'));
    const give = () => session.giveResults([{ toolCallId: 'c1', result: '10' }]);
    const cancels = () => says({ toolCallCancellation: { ids: ['c1'] } });
    for (const step of isBefore ? [cancels, give] : [give, cancels]) step();
    session.respond();
    const text = JSON.stringify(sent());
    expect(text).toContain('[Result of the tool find: 10]');
    expect(text).not.toContain('toolResponse');
    expect(sent().at(-1)).toMatchObject({ clientContent: { turnComplete: true } });
  });

  it('of several messages each get their results', () => {
    const { session, sent, says } = openReady();
    for (const message of [call('c1'), call('c2')]) says(message);
    session.giveResults([{ toolCallId: 'c1', result: '1' }]);
    session.respond();
    session.giveResults([{ toolCallId: 'c2', result: '2' }]);
    session.respond();
    expect(sent().map((message) => Object.keys(message))).toEqual([['toolResponse'], ['toolResponse']]);
  });

  it('of an answer that nobody wants are answered all the same, when the next one is asked for', () => {
    const { session, sent, news, says } = openReady();
    session.respond();
    session.cancel();
    says(call('c1'));
    expect(news()).toEqual([]);
    session.respond();
    expect(sent().at(-1)).toMatchObject({ toolResponse: { functionResponses: [{ id: 'c1' }] } });
  });

  it('have no answer that passes for the words that are to be said first', () => {
    const { session, sent, news, says } = openReady();
    says(call('c1'));
    session.giveResults([{ toolCallId: 'c1', result: '10' }]);
    session.say('We close at six.');
    news();
    // The service answers results without being asked.
    for (const message of [audio, complete]) says(message);
    expect(news()).toEqual([]);
    expect(JSON.stringify(sent().at(-1))).toContain('We close at six.');
    says(audio);
    expect(news()).toEqual([expect.stringMatching(/^start /), expect.stringMatching(/^audio /)]);
  });

  it('are not given up for a note that can wait', () => {
    const { session, sent, says } = openReady();
    says(call('c1'));
    session.addText({ role: 'system', text: 'The line is bad.' });
    expect(sent()).toEqual([]);
  });
});

describe('the end of what the caller says', () => {
  it('is found without an answer, when words have come and silence has', () => {
    const { session, clock, news, says } = openReady();
    session.pushAudio(sound(300, 8000));
    says(heard('Hello?'));
    session.pushAudio(sound(20, 8000));
    clock.advance(2000);
    expect(news()).toEqual(['speech', '~caller-1: Hello?']);
    session.pushAudio(sound(600, 0));
    clock.advance(2000);
    expect(news()).toEqual(['spoke caller-1 600']);
    clock.advance(700);
    expect(news()).toEqual(['caller-1: Hello?']);
    says(audio);
    expect(news()).toEqual(['start answer-1', 'audio answer-1 960']);
  });

  it('is taken from the silence that was asked for where nothing was heard', () => {
    const { news, says } = openReady({ settings: { silenceMs: 400 } });
    says(audio);
    expect(news()[0]).toBe('spoke caller-1 400');
  });

  it('has an empty text when no words come', () => {
    const { clock, news, says } = openReady();
    says(audio);
    news();
    clock.advance(2500);
    expect(news()).toEqual(['caller-1: ']);
  });

  it('has no text where none is wanted', () => {
    const { clock, news, says } = openReady({ settings: { transcription: false } });
    for (const message of [heard('Hello?'), audio]) says(message);
    clock.advance(5000);
    expect(news()).toEqual(['spoke caller-1 500', 'start answer-1', 'audio answer-1 960']);
  });

  it('does not keep words that are late from the turn that they belong to', () => {
    const { session, clock, news, says } = openReady();
    for (const message of [audio, generated, complete, heard('Good day')]) says(message);
    session.pushAudio(sound(100, 8000));
    says(heard('And more'));
    clock.advance(0);
    const texts = news().filter((line) => line.includes(': '));
    expect(texts).toEqual(['~caller-1: Good day', 'caller-1: Good day', '~caller-2: And more']);
  });

  it('is not told of noises beneath the level of speech', () => {
    const { session, news, says } = openReady();
    session.pushAudio(sound(500, 8000));
    for (let frame = 0; frame < 50; frame += 1) session.pushAudio(sound(20, 100));
    says(audio);
    expect(news()[0]).toBe('spoke caller-1 1000');
  });
});
