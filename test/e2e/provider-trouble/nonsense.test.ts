// What a vendor sends is not what it should be, from some moment of a call on.
import { cells, type TroubledCall } from '../../support/provider-trouble.js';
import { describeTrouble, type WantedEnd } from '../../support/trouble-checks.js';
import { VENDORS } from '../../support/vendor-line-up.js';
import { NONSENSE } from '../../support/vendor-troubles.js';

/** Speech under the id of another call is heard by nobody: the agent has no voice then. */
function wantedOfVoice({ trouble }: TroubledCall): WantedEnd {
  return trouble.name === 'ids of another call' ? 'sorry' : 'goes on';
}

/** The same in the middle of an answer. One that begins with such an id may as well be ours. */
function wantedOfRealtime({ trouble }: TroubledCall): WantedEnd {
  return trouble.name === 'ids of another call' ? 'either' : 'goes on';
}

/** An error in the middle of an answer is its end; before it has begun it is asked for once more. */
function wantedOfModel({ trouble, phase }: TroubledCall): WantedEnd {
  const isIn = phase === 'thinking' || phase === 'speaking' || phase === 'goodbye';
  return trouble.name === 'an error event' && isIn ? 'either' : 'goes on';
}

describeTrouble(
  'a recogniser sends nonsense',
  cells('stt', ['deepgram', 'transcription'], NONSENSE),
  () => 'goes on',
);
describeTrouble('a voice sends nonsense', cells('tts', ['elevenlabs'], NONSENSE), wantedOfVoice);
describeTrouble(
  'a realtime model sends nonsense',
  cells('engine', VENDORS.engine, NONSENSE),
  wantedOfRealtime,
);
describeTrouble('a language model sends nonsense', cells('llm', ['chat'], NONSENSE), wantedOfModel);
