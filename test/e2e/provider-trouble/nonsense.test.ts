// What a vendor sends is not what it should be, from some moment of a call on.
import { describeTrouble, troubledCalls } from '../../support/trouble-checks.js';
import { NONSENSE } from '../../support/vendor-troubles.js';

const CALLS = troubledCalls(() => NONSENSE);

describeTrouble('a recognizer sends nonsense', CALLS.stt);
describeTrouble('a voice sends nonsense', CALLS.tts);
describeTrouble('a language model sends nonsense', CALLS.llm);
describeTrouble('a realtime model sends nonsense', CALLS.engine);
