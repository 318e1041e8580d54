import { describe, expect, it } from 'vitest';
import type { LanguageModelEvent } from '../../../src/providers/language-model.js';
import { ANSWER, GREETING } from '../answering-rig.js';
import { CallRig, FakeRecognizer, FakeVoice } from '../call-rig.js';

describe('failures', () => {
  it('apologizes when the model fails, and then ends the call', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer('One moment please, I am looking. ', new Error('https://vendor/?key=secret'));
    await rig.says('When?');
    await rig.quiet(6000);
    expect(rig.voice.spoken.at(-1)).toMatch(/sorry/);
    expect(rig.ended).toMatchObject([
      {
        reason: 'provider-failed',
        failure: { code: 'PROVIDER_FAILED', message: 'The language model failed.' },
      },
    ]);
    expect(rig.turns[0]?.agentText).toMatch(/^One moment please, I am looking\..*sorry/);
  });

  it('takes an answer that its model says to be interrupted for a failure, and loses no end of the call', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answers.push(async function* (): AsyncGenerator<LanguageModelEvent> {
      yield { type: 'text', delta: 'Thank you for your call. Have a' };
      yield { type: 'end', reason: 'interrupted' };
    });
    await rig.says('That is all.');
    await rig.quiet(8000);
    expect(rig.turns[0]?.agentText).toMatch(/^Thank you for your call\..*sorry/);
    const message = 'language model broke off its answer before its end';
    expect(rig.ended).toMatchObject([
      { reason: 'provider-failed', failure: { code: 'PROVIDER_FAILED', message } },
    ]);
  });

  it('ends the call when the voice fails', async () => {
    const rig = new CallRig({ firstMessage: GREETING });
    rig.voice.failOn = 'Hello';
    await rig.start();
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
    expect(rig.turns).toHaveLength(1);
  });

  it.each([
    ['says nothing', 0],
    ['falls silent after a word', 1],
  ])('gives up on a model that %s', async (_, words) => {
    const rig = await new CallRig({}).start();
    rig.model.answers.push(async function* () {
      if (words > 0) yield { type: 'text', delta: 'Well ' };
      await new Promise(() => {});
    });
    await rig.says('When?');
    await rig.quiet(12_000);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { code: 'PROVIDER_FAILED' } }]);
  });

  it('stops a model that never ends', async () => {
    const rig = await new CallRig({}).start();
    let given = 0;
    rig.model.answers.push(async function* (): AsyncGenerator<LanguageModelEvent> {
      for (;;) {
        given += 1;
        yield { type: 'text', delta: 'And another sentence for you. ' };
      }
    });
    await rig.says('Talk.');
    await rig.quiet(1000);
    expect(given).toBeLessThan(1000);
    expect(rig.voice.spoken.length).toBeLessThan(5);
  });

  it('survives a voice that hangs, when interrupted', async () => {
    const rig = await new CallRig({ firstMessage: ANSWER }).start();
    rig.voice.hangs = true;
    rig.model.answer('Yes, of course.');
    await rig.quiet(400);
    await rig.voiced(600);
    rig.voice.hangs = false;
    rig.ears.events.final('Are you there?');
    await rig.quiet(3000);
    expect(rig.turns.at(-1)).toMatchObject({ agentText: 'Yes, of course.' });
  });

  it('apologizes when the recognizer fails', async () => {
    const rig = await new CallRig({}).start();
    rig.ears.events.failed(new Error('gone'));
    await rig.clock.advanceAsync(6000);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
    expect(rig.voice.spoken.join(' ')).toBe(rig.turns[0]?.agentText);
  });

  it('apologizes behind the words it is saying, when the recognizer fails in the middle of them', async () => {
    const rig = await new CallRig({ firstMessage: ANSWER }).start();
    await rig.quiet(200);
    rig.ears.events.failed(new Error('gone'));
    await rig.quiet(8000);
    expect(rig.voice.spoken.at(-1)).toMatch(/sorry/);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
  });

  it.each<[string, () => AsyncIterable<Int16Array>]>([
    [
      'bytes',
      async function* () {
        yield new Uint8Array(640) as unknown as Int16Array;
      },
    ],
    [
      'no end of audio',
      async function* () {
        for (;;) yield new Int16Array(160_000);
      },
    ],
    ['a promise that fails', (async () => Promise.reject(new Error('async'))) as never],
  ])('ends the call when the voice gives %s', async (_, synthesize) => {
    const voice = new FakeVoice();
    voice.open = () => ({ synthesize, close() {} }) as never;
    const rig = await new CallRig({ voice, firstMessage: 'Hello.' }).start();
    await rig.clock.advanceAsync(100);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed', failure: { code: 'PROVIDER_FAILED' } }]);
    rig.engine.close();
  });

  it.each([
    ['opens', { open: () => Promise.reject(new Error('async')) }],
    [
      'listens',
      {
        open: () => ({
          pushAudio: () => Promise.reject(new Error('async')),
          finishUtterance() {},
          close: () => Promise.reject(new Error('async')),
        }),
      },
    ],
  ])('keeps the failure of a recognizer that %s asynchronously inside the call', async (_, methods) => {
    const ears = Object.assign(new FakeRecognizer(), methods);
    const rig = await new CallRig({ stt: ears as never }).start();
    await rig.quiet(6000);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
    rig.engine.close();
    await rig.clock.advanceAsync(0);
  });

  it('cuts an answer that is far too long, also when it comes in one piece', async () => {
    const rig = await new CallRig({}).start();
    rig.model.answer('word '.repeat(100_000));
    await rig.says('Talk.');
    await rig.quiet(1000);
    rig.engine.close();
    const { agentText = '', agentTextUnheard = '' } = rig.turns[0] ?? {};
    expect(agentText.length + agentTextUnheard.length).toBeLessThan(8100);
  });

  it('ends a call whose recognizer cannot be opened', async () => {
    const ears = new FakeRecognizer();
    ears.open = () => {
      throw new Error('no key');
    };
    const rig = await new CallRig({ stt: ears }).start();
    await rig.clock.advanceAsync(6000);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
    rig.engine.pushAudio(new Int16Array(320));
    rig.engine.close();
  });
});
