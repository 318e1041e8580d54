// A realtime model drops its connection, at every moment of a call: another one is made where one may be had, and the call goes on.
import { cells } from '../../support/provider-trouble.js';
import { rotated } from '../../support/rotated.js';
import {
  checkReconnected,
  checkToolResult,
  describeTrouble,
  troubledCalls,
} from '../../support/trouble-checks.js';
import { dropsOf } from '../../support/vendor-troubles.js';
import { wantedEnd } from '../../support/wanted-ends.js';

const CALLS = troubledCalls(dropsOf);
/** Those whose connection is broken while a tool runs. */
const WITH_TOOL = cells(dropsOf).filter(
  (call) => call.stage === 'engine' && call.phase === 'thinking' && wantedEnd(call) === 'goes on',
);

describeTrouble('a realtime model drops', CALLS.engine, checkReconnected);
describeTrouble(
  'a realtime model drops while a tool runs',
  rotated(WITH_TOOL, [({ vendor }) => vendor, ({ trouble }) => trouble.name]).map((call) => ({
    ...call,
    withTool: true,
  })),
  checkToolResult,
);
