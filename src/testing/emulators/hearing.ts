// The ear of an emulated recognizer: by a script, or by what is in the sound.
import { type Hearing, type HearingOptions, ScriptedHearing } from './scripted-hearing.js';
import { ToneHearing } from './tone-hearing.js';

/** `next` gives the next utterance of a script; undefined: the words are those of a tone voice. */
export function createHearing(options: HearingOptions, next: (() => string) | undefined): Hearing {
  return next === undefined ? new ToneHearing(options) : new ScriptedHearing(options, next);
}
