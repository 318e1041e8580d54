import { afterEach, describe, expect, it, vi } from 'vitest';
import { OpenAITranscription, type OpenAITranscriptionOptions } from '../../../../src/providers/stt/index.js';
import {
  emulateOpenAITranscription,
  type EmulateOpenAITranscriptionOptions,
  type OpenAITranscriptionEmulator,
} from '../../../../src/testing/index.js';
import { FakeClock } from '../../../support/fake-clock.js';
import { listenWith, pause, speak } from '../ear.js';
import { passUntil } from '../../../support/pass-until.js';
import { soon } from '../../../support/soon.js';
import { closedAfterTest } from '../../../support/closed-after-test.js';
import { itRefuses } from '../../../support/refused-options.js';

afterEach(() => vi.unstubAllEnvs());

const ONE = 'Three loaves, please.';
const TWO = 'And a tart.';

async function start(
  emulation: EmulateOpenAITranscriptionOptions = { utterances: [ONE, TWO] },
  options: OpenAITranscriptionOptions = {},
) {
  const clock = new FakeClock();
  const emulator = closedAfterTest(await emulateOpenAITranscription({ clock, ...emulation }));
  const provider = new OpenAITranscription({
    apiKey: 'test-key',
    baseUrl: `${emulator.url}/v1`,
    model: 'whisper-large',
    ...options,
  });
  const { session, events: listener } = listenWith(provider, { clock, language: 'en-GB' });
  /** Moves the time on until it holds. */
  const eventually = (check: () => void, stepMs = 20) => passUntil(clock, stepMs, check);
  return { clock, emulator, provider, session, listener, eventually, told: listener.told };
}

const fieldsOf = (emulator: OpenAITranscriptionEmulator) => emulator.exchanges.map(({ fields }) => fields);

describe('OpenAITranscription', () => {
  it('sends an utterance as a WAV file when it pauses, and tells its text', async () => {
    const { emulator, session, listener, eventually, told } = await start();
    pause(session, 1000);
    speak(session, 700);
    pause(session, 600);
    await eventually(() => expect(told).toEqual([ONE]));
    expect(fieldsOf(emulator)).toEqual([{ model: 'whisper-large', response_format: 'json', language: 'en' }]);
    const [sent] = emulator.exchanges;
    expect(sent?.audioMs).toBe(1200);
    expect(listener.seconds).toBeCloseTo(1.2);
    expect(emulator.violations).toEqual([]);
  });

  it('tells of no trouble where the first answer is the only one, however the time goes on', async () => {
    const { clock, session, eventually, told } = await start();
    const now = clock.now.bind(clock);
    let moments = 0;
    vi.spyOn(clock, 'now').mockImplementation(() => {
      moments += 0.001;
      return now() + moments;
    });
    speak(session, 700);
    pause(session, 600);
    await eventually(() => expect(told.at(-1)).toBe(ONE));
    expect(told).toEqual([ONE]);
  });

  it('sends nothing of silence, and says that nothing is open', async () => {
    const { emulator, session, told } = await start();
    pause(session, 3000);
    session.finishUtterance();
    speak(session, 200);
    session.finishUtterance();
    expect(told).toEqual(['', '']);
    expect(emulator.requests).toEqual([]);
  });

  it('tells texts in the order of what was said, whichever comes first, and one empty final at the end of it', async () => {
    const { emulator, session, eventually, told, clock } = await start({ utterances: [ONE, TWO] });
    emulator.refuseNext({ status: 503 });
    speak(session, 700);
    session.finishUtterance();
    await eventually(() => expect(emulator.requests).toHaveLength(1), 0);
    speak(session, 700);
    session.finishUtterance();
    session.finishUtterance();
    // The second recording is heard first, while the first one is tried again: its words are those of the script's first.
    await eventually(() => expect(emulator.exchanges).toHaveLength(1), 0);
    expect(told).toEqual([]);
    clock.advance(200);
    await eventually(() => expect(told).toHaveLength(3));
    expect(told).toEqual(['back 0', TWO, ONE]);
    session.finishUtterance();
    expect(told).toHaveLength(4);
  });

  it.each([
    ['openai', [`~Three`, '~Three loaves,', `~${ONE}`, ONE]],
    ['chat', [`~Three`, '~Three loaves,', `~${ONE}`, ONE]],
    ['bare', [`~Three`, '~Three loaves,', `~${ONE}`, ONE]],
    ['none', [ONE]],
  ] as const)('tells the words of a stream of the kind %s as they come', async (streams, expected) => {
    const { emulator, session, eventually, told } = await start(
      { utterances: [ONE], streams },
      { stream: true },
    );
    speak(session, 700);
    session.finishUtterance();
    await eventually(() => expect(told).toEqual(expected));
    expect(fieldsOf(emulator)).toMatchObject([{ stream: 'true' }]);
  });

  it('looks at an utterance that goes on, where that is wanted, and is paid for each look', async () => {
    const utterances = ['Three', 'Three loaves,', ONE];
    const options = { partialEveryMs: 300 };
    const { emulator, session, listener, eventually, told } = await start({ utterances }, options);
    for (const text of utterances.slice(0, 2)) {
      speak(session, 640);
      await eventually(() => expect(told).toContain(`~${text}`));
    }
    session.finishUtterance();
    await eventually(() => expect(told).toEqual(['~Three', '~Three loaves,', ONE]));
    expect(emulator.exchanges.map(({ audioMs }) => audioMs)).toEqual([540, 840, 1280]);
    expect(listener.seconds).toBeCloseTo(0.54 + 0.84 + 1.28);
  });

  it('writes afterwards, unless it looks at what goes on', () => {
    const options = { apiKey: 'key' };
    expect(new OpenAITranscription(options).writesAfterwards).toBe(true);
    expect(new OpenAITranscription({ ...options, partialEveryMs: 300 }).writesAfterwards).toBe(false);
  });

  it('gives a look up that comes too late', async () => {
    const options = { partialEveryMs: 300 };
    const { emulator, session, eventually, told, clock } = await start(
      { utterances: [ONE], firstWordMs: 1000 },
      options,
    );
    speak(session, 700);
    await eventually(() => expect(emulator.exchanges).toHaveLength(1), 0);
    session.finishUtterance();
    await eventually(
      () => expect(emulator.exchanges.map(({ aborted }) => aborted)).toEqual([true, false]),
      0,
    );
    clock.advance(1000);
    await eventually(() => expect(told).toEqual([ONE]));
  });

  it('drops what the model itself believes to be nothing', async () => {
    const { emulator, session, eventually, told } = await start(
      { utterances: ['Thanks for watching!'], noSpeechProb: 0.9 },
      { verbose: true },
    );
    speak(session, 700);
    session.finishUtterance();
    await eventually(() => expect(told).toEqual(['']));
    expect(fieldsOf(emulator)).toMatchObject([{ response_format: 'verbose_json' }]);
  });

  it('passes prompt and language on, and leaves the language to the model when it is told to', async () => {
    const options = { prompt: 'A bakery: sourdough, "Käse".\r\n--', language: 'auto' };
    const { emulator, session, eventually, told } = await start({ utterances: [ONE] }, options);
    speak(session, 700);
    session.finishUtterance();
    await eventually(() => expect(told).toEqual([ONE]));
    expect(fieldsOf(emulator)[0]).toEqual({
      model: 'whisper-large',
      response_format: 'json',
      prompt: options.prompt,
    });
  });

  it('sends a speech without a pause in parts of a minute', async () => {
    const { emulator, session, eventually, told } = await start({ utterances: [ONE, TWO] });
    for (let second = 0; second < 60; second += 1) {
      speak(session, 900);
      pause(session, 100);
    }
    await eventually(() => expect(told).toEqual([ONE]));
    speak(session, 900);
    session.finishUtterance();
    await eventually(() => expect(told).toEqual([ONE, TWO]));
    expect(emulator.exchanges.map(({ audioMs }) => audioMs)).toEqual([60_000, 900]);
  });
});

describe('OpenAITranscription, when something goes wrong', () => {
  const say = ({ session }: Awaited<ReturnType<typeof start>>) => {
    speak(session, 700);
    session.finishUtterance();
  };

  it.each([
    [401, 'invalid_api_key'],
    [400, 'unsupported_format'],
    [429, 'insufficient_quota'],
  ])('gives up at once after %i %s', async (status, code) => {
    const setup = await start();
    setup.emulator.refuseNext({ status, body: JSON.stringify({ error: { code, message: 'secret' } }) });
    say(setup);
    await soon(() => expect(setup.told).toHaveLength(1));
    expect(setup.told[0]).toMatch(new RegExp(`^failed: The transcription server .*HTTP ${status}, ${code}`));
    expect(setup.told[0]).not.toContain('secret');
    expect([setup.emulator.requests.length, setup.listener.seconds]).toEqual([1, 0]);
    say(setup);
    expect(setup.told).toHaveLength(1);
  });

  it('tries again at the start of a call, also when the server is asked for too much', async () => {
    const setup = await start();
    setup.emulator.refuseNext({ status: 429, times: 3 });
    say(setup);
    await setup.eventually(() => expect(setup.told).toEqual(['back 0', ONE]));
    expect(setup.listener.troubles).toBe(3);
    setup.emulator.refuseNext({ status: 429, times: 2 });
    say(setup);
    await setup.eventually(() => expect(setup.told).toHaveLength(3));
    expect(setup.told[2]).toMatch(/^failed: .*too much at a time/);
    expect(setup.emulator.requests).toHaveLength(6);
  });

  it('sends an utterance again whose connection was lost before its text, and is charged for what was taken', async () => {
    const setup = await start({ utterances: [ONE], firstWordMs: 500 });
    say(setup);
    await soon(() => expect(setup.emulator.exchanges).toHaveLength(1));
    setup.clock.advance(300);
    setup.emulator.cutRequests();
    await setup.eventually(() => expect(setup.told).toEqual(['back 0', ONE]));
    // From the first request on, which was of no use, to the one that was answered.
    expect(setup.listener.gaps[0]).toBeGreaterThanOrEqual(375);
    expect(setup.emulator.exchanges.map(({ aborted }) => aborted)).toEqual([true, false]);
    expect(setup.listener.seconds).toBeCloseTo(0.7);
  });

  it('gives up after three tries of a stream that breaks off', async () => {
    const utterances = [ONE, ONE, ONE];
    const setup = await start({ utterances, errorAfter: 1 }, { stream: true });
    say(setup);
    await setup.eventually(() => expect(setup.told.at(-1)).toMatch(/^failed: /));
    expect(setup.emulator.exchanges).toHaveLength(3);
    expect(setup.told.at(-1)).toMatch(/broke off its answer \(server_error\)/);
  });

  it('gives up when its time is over, of a stream that stands still', async () => {
    const setup = await start({ utterances: [ONE, ONE], wordMs: 60_000 }, { stream: true, timeoutMs: 1000 });
    const saidAt = setup.clock.now();
    say(setup);
    await setup.eventually(() => expect(setup.told.at(-1)).toMatch(/^failed: .* did not answer in time/));
    expect(setup.clock.now() - saidAt).toBeLessThan(1200);
    expect(setup.emulator.exchanges).toHaveLength(2);
  });

  it('sends an utterance a second time after a while, and takes the answer that comes first', async () => {
    const setup = await start({ utterances: [ONE, ONE], firstWordMs: 100 });
    setup.emulator.ignoreNext();
    say(setup);
    await setup.eventually(() => expect(setup.told).toEqual(['back 0', ONE]));
    expect(setup.listener.gaps).toEqual([1500]);
    expect([setup.emulator.requests.length, setup.listener.troubles]).toEqual([1, 0]);
    expect(setup.listener.seconds).toBeCloseTo(0.7);
  });

  it('does not take a server that is slow for a broken one', async () => {
    const setup = await start({ utterances: [ONE, ONE], firstWordMs: 2600 });
    say(setup);
    await setup.eventually(() => expect(setup.told).toEqual([ONE]));
    expect(setup.listener.gaps).toEqual([]);
    await soon(() => expect(setup.emulator.exchanges.map(({ aborted }) => aborted)).toEqual([false, true]));
    // The server has taken both.
    expect(setup.listener.seconds).toBeCloseTo(1.4);
  });

  it('asks a server that is always slow twice for one utterance only, whichever call it is of', async () => {
    const setup = await start({ utterances: [ONE, TWO, ONE], firstWordMs: 2000 });
    say(setup);
    await setup.eventually(() => expect(setup.told).toEqual([ONE]));
    say(setup);
    await setup.eventually(() => expect(setup.told).toHaveLength(2));
    const { clock, provider } = setup;
    const { session, events: listener } = listenWith(provider, { clock, language: 'en-GB' });
    say({ ...setup, session });
    await setup.eventually(() => expect(listener.told).toHaveLength(1));
    expect(setup.emulator.exchanges).toHaveLength(4);
    expect([setup.listener.seconds, listener.seconds]).toEqual([expect.closeTo(2.1), expect.closeTo(0.7)]);
  });

  it('asks a server again that answers something else, and says so when it always does', async () => {
    const setup = await start();
    setup.emulator.refuseNext({ status: 200, body: '<html>' });
    say(setup);
    await setup.eventually(() => expect(setup.told).toEqual(['back 0', ONE]));
    setup.emulator.refuseNext({ status: 200, body: '<html>', times: 3 });
    say(setup);
    await setup.eventually(() => expect(setup.told).toHaveLength(3));
    expect(setup.told[2]).toBe('failed: The transcription server did not answer with a transcript.');
  });

  it('stops what is under way when it is closed, and pays for it', async () => {
    const setup = await start({ utterances: [ONE], firstWordMs: 500 });
    say(setup);
    await soon(() => expect(setup.emulator.exchanges).toHaveLength(1));
    setup.session.close();
    expect(setup.listener.seconds).toBeCloseTo(0.7);
    await soon(() => expect(setup.emulator.exchanges[0]?.aborted).toBe(true));
    setup.clock.advance(10_000);
    setup.session.close();
    setup.session.finishUtterance();
    expect(setup.told).toEqual([]);
    expect(setup.listener.seconds).toBeCloseTo(0.7);
  });
});

describe('the settings of OpenAITranscription', () => {
  it('knows model, price and key of the vendor, and asks for none elsewhere', () => {
    const vendor = new OpenAITranscription();
    expect(vendor.name).toBe('openai/gpt-transcribe');
    expect(vendor.price).toMatchObject({ perAudioMinute: 0.0045 });
    expect(() => vendor.assertConfigured()).toThrow(/OPENAI_API_KEY/);
    const own = new OpenAITranscription({
      baseUrl: 'http://127.0.0.1:8000/v1',
      model: 'w',
      service: 'speaches',
    });
    expect(own.name).toBe('speaches/w');
    expect(own.price).toBeUndefined();
    expect(() => own.assertConfigured()).not.toThrow();
  });

  it('does not show the key of the environment to a server that is named in the code', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'sk-mine');
    const setup = await start({ apiKey: 'sk-mine' }, { apiKey: undefined });
    speak(setup.session, 700);
    setup.session.finishUtterance();
    await soon(() => expect(setup.emulator.requests).toHaveLength(1));
    expect(setup.emulator.requests[0]?.headers.authorization).toBeUndefined();
  });

  itRefuses(OpenAITranscription, [
    [{ baseUrl: 'http://127.0.0.1:1' }, /model/],
    [{ stream: true, verbose: true }, /exclude each other/],
    [{ partialEveryMs: 100 }, /partialEveryMs/],
    [{ timeoutMs: 1 }, /timeoutMs/],
    [{ lang: 'en' } as OpenAITranscriptionOptions, /no option "lang"/],
  ]);
});
