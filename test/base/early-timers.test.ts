// Whole suites of what waits, once more, on a clock whose timers ring early, as those of the platform do: by less than a millisecond.
import { FakeClock } from '../support/fake-clock.js';

FakeClock.earlyMs = 0.9;

await import('../providers/tts/cartesia/cartesia.test.js');
await import('../providers/tts/cartesia/dialect.test.js');
await import('../providers/tts/deepgram-aura/deepgram-aura.test.js');
await import('../providers/tts/openai-speech/openai-speech.test.js');
await import('../providers/circuits.test.js');
await import('../providers/fallback/patient-reader.test.js');
await import('../providers/stt/deepgram/session.test.js');
await import('../providers/stt/openai-transcription/openai-transcription.test.js');
await import('../providers/wire/http-voice.test.js');
await import('../providers/wire/retry-plan.test.js');
await import('../providers/wire/second-request.test.js');
