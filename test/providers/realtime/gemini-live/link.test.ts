import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../../../src/providers/language-model.js';
import {
  audio,
  call,
  complete,
  generated,
  heard,
  interrupted,
  open,
  openReady,
  resumable,
  levelsIn,
  sound,
} from './scene.js';

const HISTORY: ChatMessage[] = [
  { role: 'assistant', content: 'Hello!' },
  { role: 'user', content: 'Is it there?' },
  {
    role: 'assistant',
    content: 'One moment.',
    toolCalls: [{ id: 'c1', name: 'find', arguments: {}, argumentsText: '{}' }],
  },
  { role: 'tool', content: '"yes"', toolCallId: 'c1' },
  { role: 'system', content: 'The line is bad.' },
  { role: 'assistant', content: '' },
];

/** The connection breaks, and there is another one. Returns what it was set up with. */
function reconnect({ vendor, clock, says }: ReturnType<typeof openReady>): unknown {
  clock.advance(2000);
  vendor.socket.ends();
  clock.advance(100);
  vendor.socket.opens();
  says({ setupComplete: {} });
  const setup = vendor.socket.messages[0]?.setup ?? {};
  return Reflect.get(setup, 'sessionResumption');
}

/** A call whose history the model was told, and in which it has answered. */
function answered(): ReturnType<typeof openReady> {
  const scene = openReady({ history: HISTORY });
  scene.session.say('Hello!');
  for (const message of ANSWER) scene.says(message);
  scene.news();
  return scene;
}

const ANSWER = [audio, generated, complete];

describe('another connection', () => {
  it('goes on with the session where nothing was said since the service told how', () => {
    const scene = answered();
    scene.says(resumable('h1'));
    expect(reconnect(scene)).toEqual({ handle: 'h1' });
    expect(scene.sent()).toHaveLength(1);
    expect(scene.news()).toEqual(['lost', 'reconnected 100']);
  });

  it('is told the conversation where there is no handle', () => {
    const scene = openReady({ history: HISTORY });
    expect(reconnect(scene)).toEqual({});
    const turn = (role: string, text: string) => ({ role, parts: [{ text }] });
    const turns = [
      turn('model', 'Hello!'),
      turn('user', 'Is it there?'),
      turn('model', 'One moment.'),
      turn('user', '[Result of the tool find: "yes"]'),
      turn('user', '[The line is bad.]'),
    ];
    expect(scene.sent()[1]).toEqual({ clientContent: { turns, turnComplete: false } });
  });

  it.each([
    ['the caller has said something', heard('And a cake.')],
    ['the model has', audio],
    ['the service says that it cannot be resumed', { sessionResumptionUpdate: { resumable: false } }],
    ['the caller has interrupted', interrupted],
  ])('is told the conversation where %s since', (_, message) => {
    const scene = answered();
    scene.says(resumable('h1'));
    scene.says(message);
    expect(reconnect(scene)).toEqual({});
    expect(scene.sent()).toHaveLength(2);
  });

  it.each<[string, (session: ReturnType<typeof openReady>['session']) => void]>([
    ['was added', (session) => session.addText({ role: 'user', text: 'Pressed 1' })],
    ['was cut off', (session) => session.truncate()],
  ])('is told the conversation where something %s since', (_, change) => {
    const scene = answered();
    scene.says(resumable('h1'));
    change(scene.session);
    expect(reconnect(scene)).toEqual({});
  });

  it.each<[string, (session: ReturnType<typeof openReady>['session']) => void]>([
    ['something was added', (session) => session.addText({ role: 'system', text: 'The line is bad.' })],
    ['a tool gave its result', (session) => session.giveResults([{ toolCallId: 'c9', result: '10' }])],
  ])('is told the conversation where %s while there was none', (_, change) => {
    const scene = answered();
    const { vendor, clock, says, session, sent } = scene;
    says(resumable('h1'));
    clock.advance(2000);
    vendor.socket.ends();
    change(session);
    expect(scene.handles.at(-1)).toBeUndefined();
    clock.advance(100);
    vendor.socket.opens();
    says({ setupComplete: {} });
    expect(sent()[0]).toMatchObject({ setup: { sessionResumption: {} } });
    expect(sent()[1]).toMatchObject({ clientContent: { turnComplete: false } });
  });

  it.each([1007, 1011])(
    'comes after one whose handle was refused with %d, and is told everything',
    (code) => {
      const scene = answered();
      const { vendor, clock, says, closes, news, sent } = scene;
      says(resumable('h1'));
      clock.advance(2000);
      vendor.socket.ends();
      clock.advance(0);
      vendor.socket.opens();
      closes(code, 'Invalid session handle.');
      clock.advance(200);
      vendor.socket.opens();
      says({ setupComplete: {} });
      expect(sent().map((message) => Object.keys(message)[0])).toEqual(['setup', 'clientContent']);
      expect(news()).toEqual(['lost', 'reconnected 200']);
    },
  );

  it('is sent what the caller said in the gap', () => {
    const scene = openReady();
    const { vendor, clock, session, says, sent } = scene;
    clock.advance(2000);
    vendor.socket.ends();
    session.pushAudio(sound(20, 7));
    clock.advance(0);
    vendor.socket.opens();
    session.pushAudio(sound(20, 8));
    expect(sent()).toHaveLength(1);
    says({ setupComplete: {} });
    const data = Buffer.from(sound(20, 7)).toString('base64');
    expect(sent()[1]).toEqual({ realtimeInput: { audio: { data, mimeType: 'audio/pcm;rate=16000' } } });
    expect(sent()).toHaveLength(3);
  });

  it('is sent once more what the one before has made no turn of', () => {
    const scene = openReady();
    const { vendor, clock, session, says, sent } = scene;
    session.pushAudio(sound(20, 7));
    for (const message of [heard('Yes.', true), audio, generated, complete]) says(message);
    session.pushAudio(sound(20, 8000));
    session.pushAudio(sound(20, 9000));
    clock.advance(2000);
    vendor.socket.ends();
    clock.advance(0);
    vendor.socket.opens();
    says({ setupComplete: {} });
    expect(levelsIn(sent())).toEqual([8000, 9000]);
  });

  it('leaves nobody unanswered whose words the one before has heard', () => {
    const { vendor, clock, session, says, news } = openReady();
    session.pushAudio(sound(300, 8000));
    says(heard('Is it there?'));
    session.pushAudio(sound(600, 0));
    clock.advance(1000);
    vendor.socket.ends();
    expect(news().slice(-3)).toEqual(['spoke caller-1 600', 'caller-1: Is it there?', 'lost']);
  });

  it.each([
    ['the words are not there', true],
    ['no words are wanted', false],
  ])('hears once more who has finished where %s', (_, transcription) => {
    const scene = openReady({ settings: { transcription } });
    const { session, says, news, sent, clock } = scene;
    says(audio);
    session.pushAudio(sound(20, 5000));
    for (const message of [interrupted, complete]) says(message);
    session.pushAudio(sound(20, 8000));
    session.pushAudio(sound(600, 0));
    clock.advance(2000);
    expect(news().at(-1)).toMatch(/^spoke/);
    reconnect(scene);
    expect(news().at(-1)).toBe('reconnected 100 again');
    expect(levelsIn(sent())).toEqual([5000, 8000, 0]);
  });

  it('hears once more who has finished, when the one before has not noticed', () => {
    const scene = openReady({ settings: { transcription: false } });
    const { session, says, news, sent, clock, vendor } = scene;
    for (const message of [audio, interrupted, complete]) says(message);
    session.pushAudio(sound(20, 8000));
    session.pushAudio(sound(600, 0));
    news();
    clock.advance(1000);
    vendor.socket.ends();
    clock.advance(100);
    vendor.socket.opens();
    says({ setupComplete: {} });
    // Nobody was told that they have finished: that is so on this one.
    expect(news()).toEqual(['lost', 'reconnected 100']);
    expect(levelsIn(sent())).toEqual([8000, 0]);
  });

  it('does not hear again who was answered, whatever the words', () => {
    const scene = openReady();
    const { session, says, news, sent } = scene;
    session.pushAudio(sound(300, 8000));
    session.pushAudio(sound(600, 0));
    says(audio);
    reconnect(scene);
    expect(news().at(-1)).toBe('reconnected 100');
    expect(levelsIn(sent())).toEqual([]);
  });

  it('knows nothing of what was under way', () => {
    const scene = openReady();
    const { session, says, news, sent } = scene;
    says(call('c1'));
    session.respond();
    reconnect(scene);
    expect(news().at(-1)).toMatch(/^reconnected/);
    session.giveResults([{ toolCallId: 'c1', result: '10' }]);
    expect(sent().at(-1)).toMatchObject({ clientContent: { turnComplete: false } });
    says(complete);
    expect(news()).toEqual([]);
  });
});

describe('what another process could go on with', () => {
  it('is told as the service tells it, good for two hours, until anything is said', () => {
    const { says, handles, clock } = answered();
    says(resumable('h1'));
    const [handle] = handles;
    expect(handle).toEqual({
      handle: 'h1',
      settingsDigest: expect.stringMatching(/^[\w-]{43}$/),
      expiresAt: clock.wallNow() + 2 * 60 * 60_000,
    });
    says(heard('And a cake.'));
    says(audio);
    expect(handles).toEqual([handle, undefined]);
  });

  it.each<[string, (scene: ReturnType<typeof openReady>) => void]>([
    ['a note', ({ session }) => session.addText({ role: 'system', text: 'The line is bad.' })],
    ['a cut', ({ session }) => session.truncate()],
    ['an interruption', ({ says }) => [interrupted, complete].forEach(says)],
    [
      'an answer that was stopped',
      ({ says, session }) => {
        says(audio);
        session.cancel();
        [generated, complete].forEach(says);
      },
    ],
    [
      'an answer that was stopped before it began',
      ({ says, session }) => {
        session.respond();
        session.cancel();
        ANSWER.forEach(says);
      },
    ],
    ['a late result', ({ session }) => session.giveResults([{ toolCallId: 'c9', result: 'It is there.' }])],
  ])('is nothing behind %s until the model has answered', (_, change) => {
    const scene = answered();
    const { says, handles } = scene;
    change(scene);
    says(resumable('h1'));
    expect(handles.filter((handle) => handle !== undefined)).toEqual([]);
    for (const message of [heard('And a cake.'), ...ANSWER, resumable('h2')]) says(message);
    expect(handles.at(-1)?.handle).toBe('h2');
  });

  it('is nothing of a session that may not know the history yet', () => {
    const { says, handles } = openReady({ history: HISTORY });
    says(resumable('h1'));
    expect(handles).toEqual([]);
  });

  it('is nothing of which a service makes too much', () => {
    const { says, handles } = answered();
    says(resumable('h'.repeat(20_000)));
    expect(handles).toEqual([]);
  });

  it('is gone once the session has another connection', () => {
    const scene = answered();
    scene.says(resumable('h1'));
    reconnect(scene);
    expect(scene.handles.map((handle) => handle?.handle)).toEqual(['h1', undefined]);
    scene.says(resumable('h2'));
    expect(scene.handles.at(-1)?.handle).toBe('h2');
  });
});

describe('a session that another process had', () => {
  /** As it was told of one with these settings. */
  function left(options: Parameters<typeof open>[0]) {
    const { says, handles } = openReady(options);
    says(resumable('h1'));
    return handles[0];
  }

  it('is gone on with, and is not told what it knows', () => {
    const { vendor, says, sent, news } = open({ history: HISTORY, handle: left({}) });
    vendor.socket.opens();
    says({ setupComplete: {} });
    expect(sent()).toEqual([{ setup: expect.objectContaining({ sessionResumption: { handle: 'h1' } }) }]);
    expect(news()).toEqual(['ready']);
  });

  it.each([1007, 1011])('is another one, told everything, where the service refuses it with %d', (code) => {
    const scene = open({ history: HISTORY, handle: left({}) });
    const { vendor, clock, says, closes, sent, news } = scene;
    vendor.socket.opens();
    closes(code, 'Invalid session handle.');
    clock.advance(300);
    vendor.socket.opens();
    says({ setupComplete: {} });
    expect(sent()).toEqual([
      { setup: expect.objectContaining({ sessionResumption: {} }) },
      { clientContent: expect.objectContaining({ turnComplete: false }) },
    ]);
    expect(news()).toEqual(['ready']);
  });

  it.each<[string, Parameters<typeof open>[0]]>([
    ['voice', { settings: { voice: 'Puck' } }],
    ['model', { settings: { model: 'gemini-4-live' } }],
    ['instructions', { instructions: 'You bake cakes.' }],
  ])('is another one where its %s are others', (_, before) => {
    const { vendor, says, sent } = open({ history: HISTORY, handle: left(before) });
    vendor.socket.opens();
    says({ setupComplete: {} });
    expect(sent().map((message) => Object.keys(message)[0])).toEqual(['setup', 'clientContent']);
    expect(sent()[0]).toMatchObject({ setup: { sessionResumption: {} } });
  });
});

describe('a first connection', () => {
  it('is sent once what the engine has kept for it', () => {
    const scene = open();
    const { vendor, session, says, sent } = scene;
    scene.onReady = () => session.pushAudio(sound(20, 7));
    vendor.socket.opens();
    says({ setupComplete: {} });
    session.pushAudio(sound(20, 8));
    expect(levelsIn(sent())).toEqual([7, 8]);
  });
});

describe('a first connection that breaks', () => {
  it('before its settings are taken is none that was lost', () => {
    const { vendor, clock, says, news } = open();
    vendor.socket.opens();
    vendor.socket.ends();
    clock.advance(300);
    vendor.socket.opens();
    says({ setupComplete: {} });
    expect(news()).toEqual(['ready']);
  });
});

describe('a connection that is nearly over', () => {
  it('is closed in a silence, before the next one is made', () => {
    const { vendor, clock, says, session, news } = openReady();
    for (const message of [audio, { goAway: { timeLeft: '10s' } }]) says(message);
    clock.advance(1000);
    expect(vendor.sockets).toHaveLength(1);
    for (const message of [generated, complete, resumable('h1')]) says(message);
    session.pushAudio(sound(20, 8000));
    clock.advance(1000);
    expect(vendor.sockets).toHaveLength(1);
    session.pushAudio(sound(600, 0));
    clock.advance(500);
    expect(vendor.sockets[0]?.closed).toBe(true);
    clock.advance(0);
    expect(vendor.sockets).toHaveLength(2);
    vendor.socket.opens();
    expect(vendor.socket.messages[0]).toMatchObject({ setup: { sessionResumption: { handle: 'h1' } } });
    says({ setupComplete: {} });
    expect(news().at(-1)).toMatch(/^renewed/);
    // Nothing was said that nobody has heard.
    expect(vendor.socket.messages).toHaveLength(1);
  });

  it('is no planned change any more when the next one does not come about at once', () => {
    const { vendor, clock, says, session, news, sent, logger } = openReady();
    session.pushAudio(sound(600, 0));
    says({ goAway: {} });
    clock.advance(500);
    expect(vendor.sockets).toHaveLength(2);
    expect(logger.sentences('warn')).toEqual([]);
    vendor.socket.ends();
    session.pushAudio(sound(20, 8000));
    clock.advance(1000);
    vendor.socket.opens();
    says({ setupComplete: {} });
    expect(news()).toEqual(['lost', 'reconnected 1500']);
    expect(levelsIn(sent())).toEqual([8000]);
  });

  it('is kept while the caller is owed an answer, or a tool runs', () => {
    const { vendor, clock, says, session } = openReady();
    session.respond();
    says({ goAway: {} });
    clock.advance(1000);
    for (const message of [call('c1'), complete]) says(message);
    clock.advance(1000);
    expect(vendor.sockets).toHaveLength(1);
    session.giveResults([{ toolCallId: 'c1', result: '1' }]);
    session.respond();
    for (const message of [audio, generated, complete]) says(message);
    clock.advance(500);
    clock.advance(0);
    expect(vendor.sockets).toHaveLength(2);
  });
});

describe('the end of a session', () => {
  it('says nothing after close, and closes more than once', () => {
    const { vendor, clock, session, says, told, sent } = openReady();
    const usage = { usageMetadata: { promptTokenCount: 9, responseTokenCount: 9 } };
    for (const message of [heard('Hello'), audio, generated, usage]) says(message);
    const count = told.length;
    session.close();
    session.close();
    for (const task of [() => session.respond(), () => session.say('x'), () => session.cancel()]) task();
    session.addText({ role: 'user', text: 'x' });
    session.giveResults([{ toolCallId: 'c', result: '1' }]);
    session.pushAudio(sound(20, 8000));
    session.truncate();
    clock.advance(10_000);
    expect([told.length, sent().length, vendor.socket.closed, clock.pending]).toEqual([count, 0, true, 0]);
  });

  it('of a call whose engine throws is that call’s alone', () => {
    const scene = openReady();
    scene.onSpoke = () => {
      throw new Error('engine');
    };
    scene.says(audio);
    expect(scene.told.at(-1)).toBe('failed engine');
    expect(scene.vendor.socket.closed).toBe(true);
  });
});
