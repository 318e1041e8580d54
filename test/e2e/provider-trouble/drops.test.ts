// A vendor of the pipeline drops its connection, at every moment of a call: another one is made where one may be had, and the call goes on.
import { checkReconnected, describeTrouble, troubledCalls } from '../../support/trouble-checks.js';
import { dropsOf } from '../../support/vendor-troubles.js';

const CALLS = troubledCalls(dropsOf);

describeTrouble('a recognizer drops', CALLS.stt, checkReconnected);
describeTrouble('a voice drops', CALLS.tts, checkReconnected);
describeTrouble('a language model drops', CALLS.llm, checkReconnected);
