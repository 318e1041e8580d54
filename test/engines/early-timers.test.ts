// Whole suites of calls, once more, on a clock whose timers ring early, as those of the platform do: by less than a millisecond.
import './frames-with-sound.js';
import { FakeClock } from '../support/fake-clock.js';

FakeClock.earlyMs = 0.9;

await import('./silent-caller.test.js');
await import('./broken-sentence.test.js');
await import('./pipeline/trouble.test.js');
await import('./pipeline/silence.test.js');
await import('./realtime/watch.test.js');
await import('./frozen-ears.test.js');
await import('./keys.test.js');
