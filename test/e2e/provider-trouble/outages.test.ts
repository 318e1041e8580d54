// Nothing can be had of a vendor from some moment of a call on: the caller is told so, and the call ends.
import { cells } from '../../support/provider-trouble.js';
import { describeTrouble } from '../../support/trouble-checks.js';
import { OUTAGES } from '../../support/vendor-troubles.js';

describeTrouble(
  'a recogniser is out',
  cells('stt', () => OUTAGES),
);
describeTrouble(
  'a voice is out',
  cells('tts', () => OUTAGES),
);
describeTrouble(
  'a language model is out',
  cells('llm', () => OUTAGES),
);
describeTrouble(
  'a realtime model is out',
  cells('engine', () => OUTAGES),
);
