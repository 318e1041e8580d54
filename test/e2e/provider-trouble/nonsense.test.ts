// What a vendor sends is not what it should be, from some moment of a call on.
import { cells } from '../../support/provider-trouble.js';
import { describeTrouble } from '../../support/trouble-checks.js';
import { NONSENSE } from '../../support/vendor-troubles.js';

describeTrouble(
  'a recogniser sends nonsense',
  cells('stt', () => NONSENSE),
);
describeTrouble(
  'a voice sends nonsense',
  cells('tts', () => NONSENSE),
);
describeTrouble(
  'a language model sends nonsense',
  cells('llm', () => NONSENSE),
);
describeTrouble(
  'a realtime model sends nonsense',
  cells('engine', () => NONSENSE),
);
