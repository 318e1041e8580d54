import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../../../src/providers/language-model.js';
import type { FakeVendor } from '../../fake-vendor-socket.js';
import { audio, created, done, error, open, openReady } from './scene.js';

describe('the start of a session', () => {
  it('waits for the settings to be taken, and asks for the greeting then', () => {
    const { vendor, told, session, types } = open();
    session.say('Hello!');
    vendor.socket.opens();
    vendor.socket.says({ type: 'session.created', session: { expires_at: 1 } });
    expect([told, types()]).toEqual([[], ['session.update']]);
    vendor.socket.says({ type: 'session.updated' });
    expect(told).toEqual(['ready']);
    expect(types()).toEqual(['session.update', 'response.create']);
    expect(vendor.socket.messages[1]).toMatchObject({ response: { input: [], tool_choice: 'none' } });
  });

  it('goes on with a service that never echoes the settings, before anybody gives it up', () => {
    const { vendor, told, clock } = open();
    vendor.socket.opens();
    clock.advance(1199);
    expect(told).toEqual([]);
    clock.advance(1);
    vendor.socket.says({ type: 'session.updated' });
    expect(told).toEqual(['ready']);
  });

  it('fails when its settings are refused, without the words of the service', () => {
    const { vendor, told, failures } = open();
    vendor.socket.opens();
    vendor.socket.says(error('invalid_value', vendor.socket.messages[0]?.event_id));
    expect(told).toEqual(['failed OpenAI Realtime refused the settings of the session (invalid_value).']);
    expect(failures[0]).toMatchObject({ code: 'PROVIDER_FAILED', retryable: false });
  });

  it('gives up when the socket never opens', () => {
    const { vendor, told, clock } = open();
    for (let tries = 0; tries < 2; tries += 1) {
      expect(told).toEqual([]);
      clock.advance(2000);
      vendor.socket.ends({ reason: 'did not answer in time' });
      clock.advance(200);
    }
    expect(told).toEqual(['failed OpenAI Realtime did not answer in time.']);
  });

  it('gives up at once when the key is refused', () => {
    const { vendor, told } = open();
    vendor.socket.ends({ kind: 'fatal', status: 401, reason: 'refused the key (HTTP 401)' });
    expect(told).toEqual(['failed OpenAI Realtime refused the key (HTTP 401).']);
  });
});

describe('what the service says', () => {
  it('becomes events, in order', () => {
    const { vendor, told, session } = openReady();
    session.pushAudio(new Uint8Array(8 * 2000));
    for (const message of [
      { type: 'input_audio_buffer.speech_started', audio_start_ms: 300, item_id: 'u1' },
      { type: 'input_audio_buffer.speech_stopped', audio_end_ms: 1900, item_id: 'u1' },
      { type: 'input_audio_buffer.committed', item_id: 'u1' },
      created('r1'),
      { type: 'conversation.item.input_audio_transcription.delta', item_id: 'u1', delta: 'Good ' },
      { type: 'conversation.item.input_audio_transcription.delta', item_id: 'u1', delta: 'day' },
      { type: 'response.output_audio_transcript.delta', response_id: 'r1', item_id: 'item_r1', delta: 'Hi.' },
      audio('r1'),
      {
        type: 'response.output_audio_transcript.done',
        response_id: 'r1',
        item_id: 'item_r1',
        transcript: 'Hi.',
      },
      done('r1'),
      {
        type: 'conversation.item.input_audio_transcription.completed',
        item_id: 'u1',
        transcript: 'Good day.',
        usage: { type: 'duration', seconds: 2 },
      },
    ])
      vendor.socket.says(message);
    expect(told).toEqual([
      'speech',
      'interrupted',
      // 2000 ms were sent, and the silence that ended the turn is no speech.
      'spoke u1 600',
      'start r1',
      '~u1: Good ',
      '~u1: Good day',
      'text item_r1 Hi.',
      'audio item_r1 800',
      'end r1 complete',
      'usage {"kind":"transcription","model":"gpt-transcribe","seconds":2,"inputTokens":0,"outputTokens":0}',
      'u1: Good day.',
    ]);
  });

  it('counts cached tokens once, each kind apart', () => {
    const { vendor, told } = openReady();
    const usage = {
      total_tokens: 812,
      input_tokens: 640,
      output_tokens: 172,
      input_token_details: {
        text_tokens: 210,
        audio_tokens: 430,
        cached_tokens: 384,
        cached_tokens_details: { text_tokens: 192, audio_tokens: 192 },
      },
      output_token_details: { text_tokens: 44, audio_tokens: 128 },
    };
    vendor.socket.says(created('r1'));
    vendor.socket.says(done('r1', { usage }));
    expect(told[1]).toBe(
      `usage ${JSON.stringify({
        kind: 'response',
        inputTextTokens: 210,
        cachedTextTokens: 192,
        inputAudioTokens: 430,
        cachedAudioTokens: 192,
        outputTextTokens: 44,
        outputAudioTokens: 128,
      })}`,
    );
  });

  it('may lack half of the events, the ids and the padding', () => {
    const { vendor, told } = openReady();
    vendor.socket.says({ type: 'input_audio_buffer.speech_started' });
    vendor.socket.says({ type: 'response.audio.delta', response_id: 'r1', item_id: 'a', delta: 'AAAAAA' });
    vendor.socket.says({
      type: 'response.audio_transcript.done',
      response_id: 'r1',
      item_id: 'a',
      transcript: 'Hi.',
    });
    vendor.socket.says({ type: 'response.done', response: {} });
    expect(told).toEqual([
      'speech',
      'interrupted',
      'spoke before-r1 500',
      'start r1',
      'audio a 4',
      'text a Hi.',
      'end r1 complete',
    ]);
  });

  it.each([
    'no JSON',
    '[]',
    '{}',
    '{"type":7}',
    '{"type":"weather"}',
    '{"type":"response.output_audio.delta"}',
    '{"type":"response.output_audio.delta","delta":{}}',
    '{"type":"response.done"}',
    '{"type":"error"}',
    '{"type":"conversation.item.input_audio_transcription.delta"}',
  ])('may be %s: the session goes on', (text) => {
    const { vendor, told } = openReady();
    vendor.socket.says(text);
    vendor.socket.says(created('r9'));
    expect(told.at(-1)).toBe('start r9');
    expect(told.some((line) => line.startsWith('failed'))).toBe(false);
  });
});

describe('results of tools', () => {
  it('are one for each call; what comes behind it is a note', () => {
    const { session, vendor } = openReady();
    session.giveResults([{ toolCallId: 'c1', result: 'not yet' }]);
    session.giveResults([{ toolCallId: 'c1', result: '10' }]);
    expect(vendor.socket.messages.slice(-2)).toMatchObject([
      { item: { type: 'function_call_output', call_id: 'c1', output: 'not yet' } },
      { item: { type: 'message', role: 'system', content: [{ text: 'The tool call c1 has given: 10' }] } },
    ]);
  });
});

describe('errors', () => {
  it.each([
    ['response_cancel_not_active', 'x'],
    ['input_audio_buffer_commit_empty', 'x'],
    ['item_delete_invalid_item_id', 'x'],
    ['invalid_value', 'Audio content of 10ms is already shorter than 20ms.'],
    ['something_new', 'x'],
  ])('of the code %s change nothing', (code, message) => {
    const { vendor, told, logger } = openReady();
    vendor.socket.says(error(code, null, message));
    expect(told).toEqual([]);
    expect(logger.text).not.toContain(message);
  });

  it.each([
    ['invalid_api_key', ': check OPENAI_API_KEY, or the option apiKey'],
    ['insufficient_quota', ''],
  ])('of the code %s end the session', (code, remedy) => {
    const { vendor, told } = openReady();
    vendor.socket.says(error(code));
    expect(told).toEqual([`failed OpenAI Realtime refused to go on (${code})${remedy}.`]);
    vendor.socket.says(created('r1'));
    expect(told).toHaveLength(1);
  });
});

describe('another connection', () => {
  const history: ChatMessage[] = [
    { role: 'user', content: 'How much?' },
    {
      role: 'assistant',
      content: 'One moment.',
      toolCalls: [{ id: 'c1', name: 'look_up', arguments: {}, argumentsText: '{}' }],
    },
    { role: 'tool', toolCallId: 'c1', content: '10' },
    { role: 'assistant', content: 'Ten.' },
  ];

  it.each([
    ['a close', (vendor: FakeVendor) => vendor.socket.ends()],
    ['the end of the session', (vendor: FakeVendor) => vendor.socket.says(error('session_expired'))],
  ])('is made after %s, and told the conversation', (_, breakIt) => {
    const { vendor, told, session, clock } = openReady({ history });
    clock.advance(5000);
    vendor.socket.says(created('r1'));
    told.length = 0;
    breakIt(vendor);
    session.pushAudio(new Uint8Array(160));
    clock.advance(300);
    expect(vendor.sockets).toHaveLength(2);
    vendor.socket.opens();
    vendor.socket.says({ type: 'session.updated' });
    expect(told).toEqual(['lost', 'reconnected 300']);
    const items = vendor.socket.messages.flatMap(({ item }) => (item === undefined ? [] : [item]));
    expect(items).toEqual([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'How much?' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'One moment.' }] },
      { type: 'function_call', call_id: 'c1', name: 'look_up', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: '10' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Ten.' }] },
    ]);
    // What the caller said in the gap is not lost.
    expect(vendor.socket.messages.at(-1)?.type).toBe('input_audio_buffer.append');
    vendor.socket.says(created('r1'));
    vendor.socket.says(audio('r1'));
    expect(told.slice(2)).toEqual(['start r1', 'audio item_r1 800']);
  });

  it('is told as lost once, and not where there was none yet', () => {
    const { vendor, told, clock } = open();
    const breaks = () => {
      vendor.socket.opens();
      vendor.socket.ends();
      clock.advance(300);
    };
    const begins = () => {
      vendor.socket.opens();
      vendor.socket.says({ type: 'session.updated' });
    };
    breaks();
    begins();
    clock.advance(2000);
    vendor.socket.ends();
    clock.advance(1);
    breaks();
    begins();
    expect(told).toEqual(['ready', 'lost', 'reconnected 301']);
  });
});

describe('a session that is nearly over', () => {
  it('is followed by another one, in a silence', () => {
    const { vendor, told, clock, logger } = open();
    vendor.socket.opens();
    const expiresAt = clock.wallNow() / 1000 + 3600;
    vendor.socket.says({ type: 'session.created', session: { expires_at: expiresAt } });
    vendor.socket.says({ type: 'session.updated' });
    clock.advance(3_239_000);
    vendor.socket.says(created('r1'));
    clock.advance(10_000);
    expect(vendor.sockets).toHaveLength(1);
    vendor.socket.says(done('r1'));
    clock.advance(1000);
    expect(vendor.sockets).toHaveLength(2);
    vendor.socket.opens();
    vendor.socket.says({ type: 'session.updated' });
    expect(told.at(-1)).toMatch(/^renewed/);
    expect(logger.sentences('warn')).toEqual([]);
  });

  it('is a trouble after all when the next one does not come about at once', () => {
    const { vendor, told, clock } = open();
    vendor.socket.opens();
    const expiresAt = Math.floor((clock.wallNow() + 60_000) / 1000);
    vendor.socket.says({ type: 'session.created', session: { expires_at: expiresAt } });
    vendor.socket.says({ type: 'session.updated' });
    clock.advance(54_000);
    clock.advance(0);
    expect(vendor.sockets).toHaveLength(2);
    vendor.socket.ends();
    clock.advance(1000);
    vendor.socket.opens();
    vendor.socket.says({ type: 'session.updated' });
    expect(told).toEqual(['ready', 'lost', 'reconnected 1000']);
  });
});
