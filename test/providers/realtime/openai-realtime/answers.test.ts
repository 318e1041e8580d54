import { describe, expect, it } from 'vitest';
import { audio, created, done, error, openReady } from './scene.js';

describe('a service that sends without an end', () => {
  it('is kept no more of than anybody takes', () => {
    const { vendor, told } = openReady();
    vendor.socket.says(created('r1'));
    for (let index = 0; index < 1000; index += 1)
      vendor.socket.says({
        type: 'response.function_call_arguments.done',
        response_id: 'r1',
        call_id: `c${index}`,
        name: 'look_up',
        arguments: '{}',
      });
    vendor.socket.says(done('r1'));
    expect(told.at(-1)?.split(' ')).toHaveLength(128 + 3);
    const delta = 'x'.repeat(10_000);
    for (let index = 0; index < 3; index += 1)
      vendor.socket.says({
        type: 'conversation.item.input_audio_transcription.delta',
        item_id: 'u1',
        delta,
      });
    expect(told.at(-1)).toHaveLength('~u1: '.length + 16_000);
  });
});

describe('a response that is stopped', () => {
  it('is heard no more, whatever comes late of it', () => {
    const { vendor, told, session, last } = openReady();
    vendor.socket.says(created('r1'));
    vendor.socket.says(audio('r1'));
    session.cancel();
    session.cancel();
    expect(last()).toMatchObject({ type: 'response.cancel', response_id: 'r1' });
    told.length = 0;
    vendor.socket.says(audio('r1'));
    vendor.socket.says(done('r1', { status: 'cancelled' }));
    vendor.socket.says(audio('r1'));
    expect(told).toEqual(['end r1 interrupted']);
  });

  it.each([
    ['begins', created('r1')],
    ['is heard, where nobody tells that it begins', audio('r1')],
  ])('before it has begun is stopped when it %s', (_, first) => {
    const { vendor, told, session, last } = openReady();
    session.respond();
    session.cancel();
    vendor.socket.says(first);
    expect(last()).toMatchObject({ type: 'response.cancel', response_id: 'r1' });
    vendor.socket.says(audio('r1'));
    expect(told).toEqual([]);
  });

  it('is not mistaken for one of another call', () => {
    const { vendor, told } = openReady();
    vendor.socket.says(created('r1'));
    told.length = 0;
    vendor.socket.says(audio('r-of-another-call'));
    vendor.socket.says(done('r-of-another-call'));
    vendor.socket.says(audio('r1'));
    vendor.socket.says(done('r1'));
    vendor.socket.says(audio('r-of-another-call'));
    expect(told.filter((line) => !line.startsWith('usage'))).toEqual([
      'audio item_r1 800',
      'end r1 complete',
    ]);
  });

  it('is cut where the caller heard it, never beyond what came, and taken away when nothing was heard', () => {
    const { vendor, session, last } = openReady();
    vendor.socket.says(created('r1'));
    vendor.socket.says(audio('r1'));
    session.truncate({ itemId: 'item_r1', heardMs: 40.7 });
    expect(last()).toMatchObject({ item_id: 'item_r1', content_index: 0, audio_end_ms: 40 });
    session.truncate({ itemId: 'item_r1', heardMs: 400 });
    expect(last()).toMatchObject({ type: 'conversation.item.truncate', audio_end_ms: 100 });
    session.truncate({ itemId: 'item_r1', heardMs: 0 });
    expect(last()).toMatchObject({ type: 'conversation.item.delete', item_id: 'item_r1' });
    const { length } = vendor.socket.messages;
    session.truncate({ itemId: 'nobody', heardMs: 10 });
    expect(vendor.socket.messages).toHaveLength(length);
  });
});

describe('answers', () => {
  it('are asked for one after the other', () => {
    const { vendor, session, types } = openReady();
    vendor.socket.says(created('r1'));
    session.respond();
    session.respond();
    expect(types().filter((type) => type === 'response.create')).toHaveLength(0);
    vendor.socket.says(done('r1'));
    expect(types().filter((type) => type === 'response.create')).toHaveLength(1);
  });

  it('that another one came before are asked for behind it', () => {
    const { vendor, session, types, last } = openReady();
    session.respond();
    vendor.socket.says(error('conversation_already_has_active_response', last().event_id));
    expect(types().filter((type) => type === 'response.create')).toHaveLength(1);
    vendor.socket.says(created('r0'));
    vendor.socket.says(done('r0'));
    expect(types().filter((type) => type === 'response.create')).toHaveLength(2);
  });

  it('that the service breaks off are asked for once more, then the session has failed', () => {
    const { vendor, told, session, types } = openReady();
    const broken = { status: 'failed', status_details: { error: { code: 'server_error' } } };
    session.respond();
    vendor.socket.says(created('r1'));
    vendor.socket.says(done('r1', broken));
    expect(types().filter((type) => type === 'response.create')).toHaveLength(2);
    vendor.socket.says(created('r2'));
    vendor.socket.says(done('r2', broken));
    expect(told.at(-1)).toBe('failed OpenAI Realtime broke off its answer (server_error).');
  });

  it('in the place of a quota that is used up are not asked for again', () => {
    const { vendor, told } = openReady();
    vendor.socket.says(created('r1'));
    vendor.socket.says(
      done('r1', { status: 'failed', status_details: { error: { code: 'insufficient_quota' } } }),
    );
    expect(told.at(-1)).toBe('failed OpenAI Realtime broke off its answer (insufficient_quota).');
  });

  it('to a caller who cannot interrupt come when they are asked for', () => {
    const { vendor, told } = openReady({ interruptible: false });
    vendor.socket.says(created('r1'));
    vendor.socket.says({ type: 'input_audio_buffer.speech_started', item_id: 'u1' });
    vendor.socket.says(audio('r1'));
    expect(told).toEqual(['start r1', 'speech', 'audio item_r1 800']);
  });
});
