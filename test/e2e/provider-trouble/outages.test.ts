// Nothing can be had of a vendor from some moment of a call on: the caller is told so, and the call ends.
import { cells, type TroubledCall } from '../../support/provider-trouble.js';
import { describeTrouble, type WantedEnd } from '../../support/trouble-checks.js';
import { VENDORS } from '../../support/vendor-line-up.js';
import { OUTAGES } from '../../support/vendor-troubles.js';

/** In the goodbye nobody has to be heard any more. Of what is said all may be there already. */
function wanted({ stage, phase }: TroubledCall): WantedEnd {
  if (phase !== 'goodbye') return 'sorry';
  return stage === 'stt' ? 'goes on' : 'either';
}

describeTrouble('a recogniser is out', cells('stt', ['deepgram', 'transcription'], OUTAGES), wanted);
describeTrouble('a voice is out', cells('tts', ['elevenlabs'], OUTAGES), wanted);
describeTrouble('a realtime model is out', cells('engine', VENDORS.engine, OUTAGES), wanted);
describeTrouble('a language model is out', cells('llm', ['chat'], OUTAGES), wanted);
