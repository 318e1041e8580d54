// Nothing can be had of a vendor from some moment of a call on: the caller is told so, and the call ends.
import { describeTrouble, troubledCalls } from '../../support/trouble-checks.js';
import { OUTAGES } from '../../support/vendor-troubles.js';

const CALLS = troubledCalls(() => OUTAGES);

describeTrouble('a recognizer is out', CALLS.stt);
describeTrouble('a voice is out', CALLS.tts);
describeTrouble('a language model is out', CALLS.llm);
describeTrouble('a realtime model is out', CALLS.engine);
