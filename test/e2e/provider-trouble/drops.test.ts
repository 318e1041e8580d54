// A vendor drops its connection, at every moment of a call: another one is made where one may be had, and the call goes on.
import { cells } from '../../support/provider-trouble.js';
import { checkReconnected, checkToolResult, describeTrouble } from '../../support/trouble-checks.js';
import { dropsOf } from '../../support/vendor-troubles.js';
import { wantedEnd } from '../../support/wanted-ends.js';

const REALTIME = cells('engine', dropsOf);
/** Those whose connection is broken while a tool runs. */
const WITH_TOOL = REALTIME.filter((call) => call.phase === 'thinking' && wantedEnd(call) === 'goes on');

describeTrouble('a recogniser drops', cells('stt', dropsOf), checkReconnected);
describeTrouble('a voice drops', cells('tts', dropsOf), checkReconnected);
describeTrouble('a language model drops', cells('llm', dropsOf), checkReconnected);
describeTrouble('a realtime model drops', REALTIME, checkReconnected);
describeTrouble(
  'a realtime model drops while a tool runs',
  WITH_TOOL.map((call) => ({ ...call, withTool: true })),
  checkToolResult,
);
