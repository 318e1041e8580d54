// Nothing can be had of a vendor from some moment of a call on: the caller is told so, and the call ends.
import { cells, type TroubledCall } from '../../support/provider-trouble.js';
import { describeTrouble, type WantedEnd } from '../../support/trouble-checks.js';
import { VENDORS } from '../../support/vendor-line-up.js';
import { OUTAGES } from '../../support/vendor-troubles.js';

/** Of the goodbye all may be there already. */
function wanted({ phase }: TroubledCall): WantedEnd {
  return phase === 'goodbye' ? 'either' : 'sorry';
}

describeTrouble('a recogniser is out', cells('stt', ['deepgram', 'transcription'], OUTAGES), wanted);
describeTrouble('a voice is out', cells('tts', ['elevenlabs'], OUTAGES), wanted);
describeTrouble('a realtime model is out', cells('engine', VENDORS.engine, OUTAGES), wanted);
describeTrouble('a language model is out', cells('llm', ['chat'], OUTAGES), wanted);
