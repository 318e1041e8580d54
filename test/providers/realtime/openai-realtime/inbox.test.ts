import { describe, expect, it } from 'vitest';
import { audio, created, done, openReady } from './scene.js';

const usage = { input_tokens: 640, output_tokens: 172 };
const ofItem = (type: string, item_id: string, fields: object = {}) => ({ type, item_id, ...fields });
const TRANSCRIPTION = 'conversation.item.input_audio_transcription';

describe('a message of the service that comes twice', () => {
  it('acts once, whatever it is', () => {
    const { vendor, told, session } = openReady();
    session.pushAudio(new Uint8Array(8 * 2000));
    const messages = [
      ofItem('input_audio_buffer.speech_started', 'u1'),
      ofItem('input_audio_buffer.speech_stopped', 'u1', { audio_end_ms: 1900 }),
      ofItem('input_audio_buffer.committed', 'u1'),
      created('r1'),
      ofItem(`${TRANSCRIPTION}.delta`, 'u1', { delta: 'Good day' }),
      {
        ...ofItem('response.output_audio_transcript.delta', 'item_r1', { delta: 'Hi.' }),
        response_id: 'r1',
      },
      audio('r1'),
      done('r1', { usage }),
      ofItem(`${TRANSCRIPTION}.completed`, 'u1', { transcript: 'Good day.', usage: { seconds: 2 } }),
    ];
    for (const [index, message] of messages.entries())
      for (let times = 0; times < 2; times += 1) vendor.socket.says({ event_id: `e${index}`, ...message });
    expect(told.map((line) => line.split(' {')[0])).toEqual([
      'speech',
      'interrupted',
      'spoke u1 600',
      'start r1',
      '~u1: Good day',
      'text item_r1 Hi.',
      'audio item_r1 800',
      'usage',
      'end r1 complete',
      'usage',
      'u1: Good day.',
    ]);
  });

  it.each([
    ['under the same id', { event_id: 'e1' }, { event_id: 'e1' }],
    ['under another id', { event_id: 'e1' }, { event_id: 'e2' }],
    ['without one', {}, {}],
  ])('%s is paid for once', (_, first, second) => {
    const { vendor, told } = openReady();
    vendor.socket.says(created('r1'));
    vendor.socket.says({ ...first, ...done('r1', { usage }) });
    vendor.socket.says(created('r2'));
    vendor.socket.says({ ...second, ...done('r1', { usage }) });
    const text = ofItem(`${TRANSCRIPTION}.completed`, 'u1', { transcript: 'Hi.', usage: { seconds: 2 } });
    vendor.socket.says({ ...first, event_id: 'e8', ...text });
    vendor.socket.says({ ...second, event_id: 'e9', ...text });
    expect(told.filter((line) => line.startsWith('usage'))).toHaveLength(2);
    expect(told.filter((line) => line.startsWith('end'))).toEqual(['end r1 complete']);
  });

  it('is paid for once where answers have no ids', () => {
    const { vendor, told } = openReady();
    const nameless = { type: 'response.done', response: { usage } };
    vendor.socket.says({ type: 'response.audio.delta', item_id: 'a', delta: 'AAAA' });
    vendor.socket.says(nameless);
    vendor.socket.says(nameless);
    expect(told.filter((line) => line.startsWith('usage'))).toHaveLength(1);
  });

  it('begins and ends nothing when it is late', () => {
    const { vendor, told } = openReady();
    vendor.socket.says(done('r1'));
    vendor.socket.says(created('r1'));
    vendor.socket.says(audio('r1'));
    vendor.socket.says(ofItem('input_audio_buffer.committed', 'u1'));
    vendor.socket.says(created('r2'));
    told.length = 0;
    vendor.socket.says(ofItem('input_audio_buffer.speech_started', 'u1'));
    vendor.socket.says(ofItem('input_audio_buffer.committed', 'u1'));
    vendor.socket.says(audio('r2'));
    expect(told).toEqual(['audio item_r2 800']);
  });

  it('is a new one on the next connection, which counts anew', () => {
    const { vendor, told, clock } = openReady();
    clock.advance(2000);
    vendor.socket.says({ event_id: 'e1', ...created('r1') });
    vendor.socket.says({ event_id: 'e2', ...done('r1') });
    vendor.socket.ends();
    clock.advance(300);
    vendor.socket.opens();
    vendor.socket.says({ event_id: 'e0', type: 'session.updated' });
    told.length = 0;
    vendor.socket.says({ event_id: 'e1', ...created('r1') });
    vendor.socket.says({ event_id: 'e2', ...done('r1') });
    expect(told).toEqual(['start r1', 'end r1 complete']);
  });
});
