// Speech that is written as usual is cut out of its message, not parsed. Whatever a message is, both ways say the same: blanks in front of it
// mean nothing in JSON, and only the full parse takes them.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readServerEvent } from '../../../../src/providers/realtime/openai-realtime/messages.js';
import { garbled, mutations } from '../../../support/garbled.js';
import { runs } from '../../../support/depth.js';

const ids = '"response_id":"resp_1","item_id":"item_1","output_index":0,"content_index":0';
const audio = Buffer.alloc(160, 0xa5).toString('base64');
const MESSAGES = [
  `{"type":"response.output_audio.delta","event_id":"event_1",${ids},"delta":"${audio}"}`,
  `{"type":"response.audio.delta",${ids},"delta":"${audio}"}`,
  `{"type":"response.audio.delta",${ids},"delta":""}`,
  `{"type":"response.audio.delta",${ids},"delta":"pQ=="}`,
];

function read(text: string): unknown {
  const { id, message } = readServerEvent(text);
  return { id, message: message.type === 'audio' ? { ...message, audio: [...message.audio] } : message };
}

describe('a piece of speech', () => {
  it('that is written as usual is audio', () => {
    expect(read(MESSAGES[0] ?? '')).toEqual({
      id: 'event_1',
      message: {
        type: 'audio',
        responseId: 'resp_1',
        itemId: 'item_1',
        contentIndex: 0,
        audio: Array(160).fill(0xa5),
      },
    });
  });

  it('that has lost its end is none', () => {
    const text = MESSAGES[2]?.replace('""}', '"}') ?? '';
    expect(text.endsWith('"delta":"}')).toBe(true);
    expect(read(text)).toEqual({ id: '', message: { type: 'other', name: 'no JSON object' } });
  });

  it('is what the whole of its message says, however that was garbled', { timeout: 600_000 }, () => {
    fc.assert(
      fc.property(fc.constantFrom(...MESSAGES), mutations, (message, changes) => {
        const text = garbled(message, changes);
        expect(read(text)).toEqual(read(` ${text}`));
      }),
      { numRuns: runs(5000, 200_000) },
    );
  });
});
