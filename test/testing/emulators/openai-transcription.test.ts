import { afterEach, describe, expect, it } from 'vitest';
import { makeEmulatedSpeech } from '../../../src/testing/emulators/emulated-speech.js';
import {
  emulateOpenAITranscription,
  type EmulateOpenAITranscriptionOptions,
  type OpenAITranscriptionEmulator,
  speakInTones,
  writeWav,
} from '../../../src/testing/index.js';

let emulator: OpenAITranscriptionEmulator;
afterEach(() => emulator.close());

const SPEECH = makeEmulatedSpeech({ durationMs: 500, sampleRateHz: 16_000 });
const toFile = (samples: Int16Array, sampleRateHz = 16_000) =>
  writeWav({ channels: [samples], sampleRateHz });

/** A file whose first header says so. */
function withLength(bytes: number): Uint8Array {
  const file = toFile(SPEECH);
  new DataView(file.buffer).setUint32(4, bytes, true);
  return file;
}

interface Form {
  readonly fields?: Readonly<Record<string, string>>;
  readonly file?: Uint8Array | null;
  readonly name?: string;
}

async function post(form: Form = {}, options: EmulateOpenAITranscriptionOptions = {}, key = 'test-key') {
  emulator = await emulateOpenAITranscription(options);
  const { fields = { model: 'm' }, file = toFile(SPEECH), name = 'a.wav' } = form;
  const body = new FormData();
  for (const [field, value] of Object.entries(fields)) body.append(field, value);
  if (file !== null) body.append('file', new Blob([new Uint8Array(file)], { type: 'audio/wav' }), name);
  const url = `${emulator.url}/v1/audio/transcriptions`;
  return fetch(url, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body });
}

describe('emulateOpenAITranscription', () => {
  it('hears one text of its list in each recording', async () => {
    const answer = await post(
      { fields: { model: 'm', language: 'en', prompt: 'a\r\nb' } },
      { utterances: ['One two.'] },
    );
    expect(await answer.json()).toEqual({ text: 'One two.' });
    expect(emulator.exchanges).toEqual([
      {
        fields: { model: 'm', language: 'en', prompt: 'a\r\nb' },
        audioMs: 500,
        soundMs: 500,
        aborted: false,
      },
    ]);
    expect(emulator.violations).toEqual([]);
  });

  it('reads the words of a tone voice without being told', async () => {
    const file = toFile(speakInTones('three loaves', { sampleRateHz: 16_000 }));
    expect(await (await post({ file })).json()).toEqual({ text: 'three loaves' });
  });

  it('streams word by word, and tells what it thinks of its pieces', async () => {
    const streamed = await post({ fields: { model: 'm', stream: 'true' } }, { utterances: ['One two.'] });
    const events = (await streamed.text()).trim().split('\n\n');
    expect(events.map((event) => JSON.parse(event.replace('data: ', '')))).toEqual([
      { type: 'transcript.text.delta', delta: 'One' },
      { type: 'transcript.text.delta', delta: ' two.' },
      { type: 'transcript.text.done', text: 'One two.' },
    ]);
    await emulator.close();
    const fields = { model: 'm', response_format: 'verbose_json' };
    const verbose = await post({ fields }, { utterances: ['One.'], noSpeechProb: 0.7 });
    expect(await verbose.json()).toMatchObject({
      text: 'One.',
      segments: [{ text: 'One.', no_speech_prob: 0.7 }],
    });
  });

  it.each<[string, Form, RegExp]>([
    ['no model', { fields: {} }, /missing field model/],
    ['a field that it does not know', { fields: { model: 'm', color: 'red' } }, /unknown field color/],
    ['a language with a region', { fields: { model: 'm', language: 'en-GB' } }, /en-GB/],
    ['subtitles', { fields: { model: 'm', response_format: 'srt' } }, /JSON only/],
    ['no file', { file: null }, /one file/],
    ['a file whose name says no format', { name: 'blob' }, /no format/],
    ['a file that is no WAV', { file: new Uint8Array(100) }, /WAV/],
    ['another rate', { file: toFile(SPEECH, 8000) }, /16000 Hz/],
    ['a header that says another length', { file: withLength(1000) }, /16044 bytes says 1008/],
  ])('refuses %s', async (_, form, sentence) => {
    expect((await post(form)).status).toBe(400);
    expect(emulator.violations).toEqual([expect.stringMatching(sentence)]);
  });

  it('refuses a wrong key, and complains of silence, in which it hears nothing', async () => {
    expect((await post({}, {}, 'wrong')).status).toBe(401);
    await emulator.close();
    const silent = await post({ file: toFile(new Int16Array(16_000)) }, { utterances: ['One.'] });
    expect(await silent.json()).toEqual({ text: '' });
    expect(emulator.violations).toEqual(['a recording without a sound']);
  });
});
