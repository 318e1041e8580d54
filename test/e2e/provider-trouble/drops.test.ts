// A vendor drops its connection, at every moment of a call: another one is made, and the call goes on.
import { cells, type TroubledCall } from '../../support/provider-trouble.js';
import { checkReconnected, describeTrouble, type WantedEnd } from '../../support/trouble-checks.js';
import { DROPS, OWN_CLOSES, REFUSING_CLOSES } from '../../support/vendor-troubles.js';

/** A model's answer that has begun is not asked for again, and one that has not is asked for once more. */
function wantedOfModel({ phase }: TroubledCall): WantedEnd {
  return phase === 'start' ? 'goes on' : 'either';
}

/** A connection that closes before anything was heard over it is made again, whatever the vendor says. */
function wantedOfRefused({ phase }: TroubledCall): WantedEnd {
  return phase === 'start' ? 'goes on' : 'sorry';
}

const RECOGNISER_DROPS = cells('stt', ['deepgram'], [...DROPS, ...OWN_CLOSES]);
const RECOGNISER_REFUSES = cells('stt', ['deepgram'], REFUSING_CLOSES);

describeTrouble('a recogniser drops', RECOGNISER_DROPS, () => 'goes on', checkReconnected);
describeTrouble('a recogniser refuses to go on', RECOGNISER_REFUSES, wantedOfRefused);
describeTrouble('a voice drops', cells('tts', ['elevenlabs'], DROPS), () => 'goes on');
describeTrouble('a realtime model drops', cells('engine', ['openai'], DROPS), () => 'goes on');
describeTrouble('a language model drops', cells('llm', ['chat'], DROPS), wantedOfModel);
