// What every realtime model must do, as a list of named checks that any test runner can run.
import { deepEqual, equal, ok } from 'node:assert/strict';
import type { ModelToolCall } from '../../providers/language-model.js';
import type { RealtimeModel } from '../../providers/realtime-model.js';
import { type ProviderCheck, type ProviderSetup, providerCheck, until, wait } from './provider-check.js';
import { RealtimeConversation } from './realtime-conversation.js';

/** What will be said, and what the model shall answer each time that it is asked. */
export interface RealtimeScene {
  readonly utterances: readonly string[];
  readonly replies: readonly {
    readonly text?: string;
    readonly toolCalls?: readonly {
      readonly id: string;
      readonly name: string;
      readonly arguments: string;
    }[];
  }[];
}

export interface RealtimeModelSetup extends ProviderSetup {
  readonly model: RealtimeModel;
  /** The service keeps the conversation itself: a new connection goes on with it, and need not be told. @default false */
  readonly resumes?: boolean;
  /** Arguments of tools come as an object on this wire: there is no text of the model that could be kept or broken. @default false */
  readonly argumentsAreObjects?: boolean;
}

const FIRST = 'Good morning to you.';
const SECOND = 'I would like a table.';
const LONG = Array.from({ length: 30 }, (_, index) => `word${index}`).join(' ');

/** The checks for a realtime model. `create` is told the scene, so that an emulator can play it. */
export function testRealtimeModel(
  create: (scene: RealtimeScene) => RealtimeModelSetup | Promise<RealtimeModelSetup>,
): ProviderCheck[] {
  const check = (
    name: string,
    scene: RealtimeScene,
    body: (talk: RealtimeConversation, setup: RealtimeModelSetup) => Promise<void>,
  ) =>
    providerCheck(
      name,
      () => create(scene),
      async (setup) => {
        const talk = new RealtimeConversation(setup.model);
        try {
          await until('readiness', () => talk.isReady);
          await body(talk, setup);
          deepEqual(talk.complaints, []);
        } finally {
          talk.close();
        }
      },
    );
  const call = { id: 'call-1', name: 'find_slot', arguments: '{"day": "Friday"}' };
  const parsed: ModelToolCall = {
    id: 'call-1',
    name: 'find_slot',
    arguments: { day: 'Friday' },
    argumentsText: call.arguments,
  };
  return [
    check(
      'answers what it hears, with audio and its words',
      { utterances: [FIRST, SECOND], replies: [{ text: 'Good day.' }, { text: 'At which time?' }] },
      async (talk, { model }) => {
        for (const [index, text] of ['Good day.', 'At which time?'].entries()) {
          talk.hear();
          await until('answer', () => talk.ends.length === index + 1);
          equal(talk.said.at(-1)?.text.trim(), text);
          ok((talk.said.at(-1)?.audioMs ?? 0) > 0, 'There was no audio.');
          equal(talk.ends.at(-1)?.reason, 'complete');
        }
        equal(talk.turns.length, 2);
        if (!model.transcribesCaller) return;
        await until('text of the caller', () => talk.callerTexts.length === 2);
        deepEqual(talk.callerTexts, [FIRST, SECOND]);
      },
    ),
    check('says what it is told to say', { utterances: [], replies: [] }, async (talk) => {
      talk.session.say('Hello, this is the bakery.');
      await until('greeting', () => talk.ends.length === 1);
      equal(talk.said[0]?.text.trim(), 'Hello, this is the bakery.');
      await wait(100);
      equal(talk.ends.length, 1);
    }),
    check(
      'is silent at once when it is cancelled',
      { utterances: [FIRST], replies: [{ text: LONG }] },
      async (talk) => {
        talk.hear();
        await until('audio', () => talk.audioMs > 0);
        talk.session.cancel();
        const { audioMs } = talk;
        const text = talk.said[0]?.text;
        await until('end of the response', () => talk.ends.length === 1);
        await wait(100);
        deepEqual([talk.audioMs, talk.said[0]?.text], [audioMs, text]);
        talk.session.cancel();
      },
    ),
    check(
      'is silent at once when the caller interrupts, and answers what they say',
      { utterances: [FIRST, SECOND], replies: [{ text: LONG }, { text: 'At which time?' }] },
      async (talk) => {
        talk.hear();
        await until('audio', () => talk.audioMs > 0);
        const [item] = talk.said;
        const before = talk.interruptions;
        talk.hear();
        await until('interruption', () => talk.interruptions > before);
        const heardMs = item?.audioMs ?? 0;
        talk.session.truncate({ itemId: item?.itemId ?? '', heardMs: heardMs / 2 });
        await until('second answer', () => talk.said.at(-1)?.text.trim() === 'At which time?');
        equal(item?.audioMs, heardMs);
      },
    ),
    check(
      'calls a tool and goes on with its result',
      { utterances: [FIRST], replies: [{ toolCalls: [call] }, { text: 'At ten.' }] },
      async (talk, { argumentsAreObjects = false }) => {
        talk.hear();
        await until('call', () => talk.ends.length === 1);
        const argumentsText = argumentsAreObjects ? JSON.stringify(parsed.arguments) : call.arguments;
        deepEqual(talk.ends[0]?.toolCalls, [{ ...parsed, argumentsText }]);
        equal(talk.ends[0]?.reason, 'tool-calls');
        talk.session.giveResults([{ toolCallId: 'call-1', result: '{"slots":["10:00"]}' }]);
        talk.session.respond();
        await until('answer', () => talk.ends.length === 2);
        equal(talk.said.at(-1)?.text.trim(), 'At ten.');
      },
    ),
    check(
      'hands on arguments that cannot be read',
      { utterances: [FIRST], replies: [{ toolCalls: [{ ...call, arguments: '{"day":' }] }] },
      async (talk, { argumentsAreObjects = false }) => {
        if (argumentsAreObjects) return;
        talk.hear();
        await until('call', () => talk.ends.length === 1);
        deepEqual(talk.ends[0]?.toolCalls, [{ ...parsed, arguments: null, argumentsText: '{"day":' }]);
      },
    ),
    check(
      'answers what was not spoken, when it is asked to',
      { utterances: [], replies: [{ text: 'You pressed one.' }] },
      async (talk) => {
        talk.session.addText({ role: 'user', text: 'The caller pressed 1' });
        await wait(50);
        equal(talk.ends.length, 0);
        talk.session.respond();
        await until('answer', () => talk.ends.length === 1);
        equal(talk.said[0]?.text.trim(), 'You pressed one.');
      },
    ),
    check(
      'keeps sessions apart',
      { utterances: [FIRST], replies: [{ text: 'Good day.' }] },
      async (talk, { model }) => {
        const other = new RealtimeConversation(model);
        await until('readiness', () => other.isReady);
        talk.hear();
        await until('answer', () => talk.ends.length === 1);
        deepEqual([other.ends, other.said, other.turns], [[], [], []]);
        other.close();
      },
    ),
    check(
      'says nothing after close, and closes more than once',
      { utterances: [FIRST], replies: [{ text: LONG }] },
      async (talk) => {
        talk.hear();
        await until('audio', () => talk.audioMs > 0);
        talk.close();
        // What the last answer has cost may come in the moment after.
        const told = () => talk.told - talk.usages.length;
        const toldBefore = told();
        talk.close();
        talk.session.respond();
        talk.session.cancel();
        talk.hear();
        await wait(200);
        equal(told(), toldBefore);
      },
    ),
    check(
      'goes on after a lost connection',
      { utterances: [FIRST, SECOND], replies: [{ text: 'Good day.' }, { text: 'At which time?' }] },
      async (talk, { breakConnections, resumes = false }) => {
        if (breakConnections === undefined) return;
        talk.hear();
        await until('answer', () => talk.ends.length === 1);
        breakConnections();
        await until('another connection', () => talk.reconnections === 1);
        ok(resumes || talk.historyAsked, 'The new connection knows nothing of the conversation.');
        talk.hear();
        await until('second answer', () => talk.ends.length === 2);
        equal(talk.said.at(-1)?.text.trim(), 'At which time?');
      },
    ),
  ];
}
