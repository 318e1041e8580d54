// A vendor drops its connection, at every moment of a call: another one is made, and the call goes on.
import { cells, type TroubledCall } from '../../support/provider-trouble.js';
import { describeTrouble, type WantedEnd } from '../../support/trouble-checks.js';
import { DROPS } from '../../support/vendor-troubles.js';

/** A model's answer that has begun is not asked for again, and one that has not is asked for once more. */
function wantedOfModel({ phase }: TroubledCall): WantedEnd {
  return phase === 'start' ? 'goes on' : 'either';
}

describeTrouble('a recogniser drops', cells('stt', ['deepgram'], DROPS), () => 'goes on');
describeTrouble('a voice drops', cells('tts', ['elevenlabs'], DROPS), () => 'goes on');
describeTrouble('a realtime model drops', cells('engine', ['openai'], DROPS), () => 'goes on');
describeTrouble('a language model drops', cells('llm', ['chat'], DROPS), wantedOfModel);
