import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import type { CallEvent } from '../../src/contract/call-event.js';
import { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import { setPhrasesFor } from '../../src/engines/languages/set-phrases.js';
import type { Callee, CallerStep } from '../../src/testing/index.js';
import { asksUpon, WAIT } from '../support/asking-caller.js';
import { eventually, nothingIsKept } from '../support/carrier-phone.js';
import { KilledPhone, type KilledPhoneOptions } from '../support/killed-phone.js';

const QUESTION: CallerStep = { type: 'say', text: 'What time is it?' };
const HANG_UP: CallerStep = { type: 'hang-up' };

const GREETING = 'Hello, how can I help you?';
const BACK = 'I am back. We were cut off for a moment.';
const REPEAT = setPhrasesFor('en').resumed.repeat;
const ANSWER = 'I heard: What time is it? What else can I do for you?';
/** Half a minute: the server is killed in it, however late that is on a busy machine. */
const MESSAGE = [
  'Your order is ready.',
  'It has two loaves of bread and one cake with cherries in it.',
  'You can collect it on Tuesday from nine in the morning to six in the evening.',
  'The shop is behind the station, next to the post office.',
  'Please bring the number of your order, which is in the letter that we sent.',
  'Call us if you would like to have it brought to your door.',
  'We wish you a good day.',
].join(' ');
const SENTENCES = ['One is the first.', 'Two is the second.', 'Three is the third.', 'Four is the last.'];

interface Kill {
  readonly name: string;
  readonly options?: KilledPhoneOptions;
  /** What the caller does; undefined where the call is placed from here. */
  script?(isBack: AbortSignal): CallerStep[];
  /** Whom the caller is handed over to. */
  readonly transferTo?: Callee;
  /** Kills the server, and sees to another one. Resolves when the agent is back. */
  kill(phone: KilledPhone): Promise<unknown>;
  /** What the record says then; `said` is its transcript. */
  readonly record: object;
  readonly said: readonly (string | RegExp)[] | RegExp;
  readonly incidents: readonly string[];
  /** How often a tool ran. @default 0 */
  readonly toolRuns?: number;
}

/** The agent has said so much, whole, in whichever process. */
const turnOver = (index: number) => (fact: CallEvent) =>
  fact.type === 'turn.completed' && fact.turn.index === index;
/** So much of what it is saying has been heard. */
const hasSaid = (text: string) => (fact: CallEvent) =>
  fact.type === 'transcript.segment' && fact.entry.role === 'agent' && fact.entry.text.includes(text);

const KILLS: readonly Kill[] = [
  {
    name: 'while the agent listens',
    script: asksUpon,
    async kill(phone) {
      await phone.fact(turnOver(0));
      await phone.replace();
      await phone.fact(turnOver(1));
    },
    record: { endReason: 'caller-hangup', term: 2 },
    said: [`agent: ${GREETING}`, `agent: ${BACK}`, 'user: What time is it?', `agent: ${ANSWER}`],
    incidents: ['process-replaced'],
  },
  {
    name: 'while the agent speaks: what was not heard is said',
    options: { agent: { firstMessage: SENTENCES.join(' ') } },
    script: asksUpon,
    async kill(phone) {
      await phone.fact(hasSaid('Four'));
      await phone.replace();
      await phone.fact((fact) => fact.type === 'turn.completed' && fact.turn.agentText.includes('the last'));
    },
    record: { endReason: 'caller-hangup', term: 2 },
    // Of marks that were on their way nobody knows: the sentences behind them are said once more.
    said: [
      /^agent: One is the first\./,
      `agent: ${BACK}`,
      /^agent: (?!One).*Four is the last\.$/,
      'user: What time is it?',
      `agent: ${ANSWER}`,
    ],
    incidents: ['process-replaced'],
  },
  {
    name: 'and so is the next one, a moment later',
    script: asksUpon,
    async kill(phone) {
      await phone.fact(turnOver(0));
      await phone.replace();
      await phone.fact(turnOver(1));
      await phone.replace();
      await phone.fact(turnOver(2));
    },
    record: { endReason: 'caller-hangup', term: 3 },
    said: [
      `agent: ${GREETING}`,
      `agent: ${BACK}`,
      `agent: ${BACK}`,
      'user: What time is it?',
      `agent: ${ANSWER}`,
    ],
    incidents: ['process-replaced', 'process-replaced'],
  },
  {
    name: 'while a call is placed: it says what it was placed with',
    options: {
      simulator: {
        callees: { '*': { type: 'human', ringMs: 12_000, script: [WAIT, QUESTION, WAIT, HANG_UP] } },
      },
    },
    async kill(phone) {
      phone.call({ to: '+15550123', firstMessage: 'Good day, {name}.', variables: { name: 'Ada' } });
      await phone.fact((fact) => fact.type === 'call.status' && fact.carrierCallId !== null);
      await phone.replace();
    },
    record: { direction: 'outbound', endReason: 'caller-hangup', term: 2 },
    said: ['agent: Good day, Ada.', 'user: What time is it?', `agent: ${ANSWER}`],
    incidents: ['process-replaced'],
  },
  {
    name: 'while the caller speaks: they are asked to say it again',
    script: (isBack) => [WAIT, { type: 'say', text: 'Can I come by train?' }, ...asksUpon(isBack).slice(1)],
    async kill(phone) {
      await phone.fact((fact) => fact.type === 'transcript.segment' && fact.entry.role === 'user');
      await pause(systemClock, 300);
      await phone.kill();
      // Nobody hears the rest of it.
      await pause(systemClock, 3000);
      await phone.begin();
      await phone.fact(turnOver(2));
    },
    record: { endReason: 'caller-hangup', term: 2 },
    said: [
      `agent: ${GREETING}`,
      /^user: Can/,
      `agent: ${BACK}`,
      `agent: ${REPEAT}`,
      'user: What time is it?',
      `agent: ${ANSWER}`,
    ],
    incidents: ['process-replaced'],
  },
  {
    name: 'while a tool runs: it is not run again, and the model is told',
    options: { agent: { looksUp: true } },
    script: (isBack) => [WAIT, { type: 'say', text: 'Please look it up.' }, ...asksUpon(isBack).slice(1)],
    async kill(phone) {
      await phone.toolRuns();
      await phone.replace();
      await phone.fact(hasSaid('not certain'));
      await phone.fact((fact) => fact.type === 'turn.completed' && fact.turn.agentText.includes('certain'));
    },
    record: { endReason: 'caller-hangup', term: 2 },
    said: [
      `agent: ${GREETING}`,
      'user: Please look it up.',
      /^tool: look_up/,
      `agent: ${BACK}`,
      'agent: That is not certain.',
      'user: What time is it?',
      'agent: I heard: What time is it?',
    ],
    incidents: ['process-replaced'],
    toolRuns: 1,
  },
  {
    name: 'while a caller is handed over, who comes back to the next process',
    script: asksUpon,
    transferTo: { type: 'no-answer', ringMs: 12_000 },
    async kill(phone) {
      const { callId } = await phone.fact(turnOver(0));
      phone.transfer(callId, '+15550124');
      await phone.fact((fact) => fact.type === 'transfer.updated');
      await phone.replace();
      await phone.fact((fact) => fact.type === 'transfer.updated' && fact.result === 'no-answer');
      await phone.fact(turnOver(1));
    },
    record: { endReason: 'caller-hangup', term: 2, transfer: { to: '+15550124', result: 'no-answer' } },
    said: [
      `agent: ${GREETING}`,
      'system: Transfer to …0124: no answer',
      /^agent: /,
      'user: What time is it?',
      `agent: ${ANSWER}`,
    ],
    incidents: ['process-replaced'],
  },
  {
    name: 'while a machine is left a message: it is left once',
    options: {
      simulator: {
        callees: { '*': { type: 'machine', ringMs: 500, greetingMs: 2000, silenceMs: 40_000 } },
      },
    },
    async kill(phone) {
      phone.call({ to: '+15550123', voicemailMessage: MESSAGE });
      await phone.fact((fact) => fact.type === 'transcript.segment' && fact.entry.text.includes('order'));
      await phone.replace();
    },
    record: { direction: 'outbound', outcome: 'voicemail', endReason: 'agent-hangup', term: 2 },
    // The agent may have begun to greet before it was known to talk to a machine.
    said: new RegExp(
      `^(agent: Hello[^\\n]*\\n)?(user: \\[speech\\]\\n)*agent: ${MESSAGE.replaceAll('.', '\\.')}(\\nuser: \\[speech\\])*$`,
    ),
    incidents: ['process-replaced'],
  },
  {
    name: 'in a goodbye: the agent hangs up',
    script: () => [
      WAIT,
      { type: 'say', text: 'That is all, goodbye.' },
      { type: 'pause', durationMs: 60_000 },
    ],
    async kill(phone) {
      await phone.fact(hasSaid('Thank you for calling'));
      await phone.replace();
    },
    record: { endReason: 'agent-hangup', term: 2 },
    // What was heard of it is not said again; what the model had yet to say of it is not asked for.
    said: /^agent: Hello, how can I help you\?\nuser: That is all, goodbye\.(\nagent: (Thank|I am back|Goodbye).*)+$/,
    incidents: ['process-replaced'],
  },
  {
    name: 'and the caller hangs up before another one is there',
    script: () => [WAIT, { type: 'pause', durationMs: 1000 }, HANG_UP],
    async kill(phone) {
      await phone.fact(turnOver(0));
      await phone.kept();
      await phone.kill();
      await phone.simulator.settled();
      await phone.begin();
    },
    record: { endReason: 'process-lost' },
    said: [`agent: ${GREETING}`],
    incidents: ['process-lost'],
  },
];

const CASES = SIMULATED_CARRIERS.flatMap((id) => KILLS.map((kill) => ({ id, ...kill })));

describe.concurrent('a server is killed', () => {
  it.each(CASES)('$name, on $id', async ({ id, options, script, transferTo, kill, ...expected }) => {
    await using phone = await KilledPhone.start(id, {
      ...options,
      agent: { idle: false, ...options?.agent },
    });
    const isBack = new AbortController();
    const calling =
      script && phone.simulator.call({ script: script(isBack.signal), ...(transferTo && { transferTo }) });
    await kill(phone);
    isBack.abort();
    const { callId } = await phone.fact(({ type }) => type === 'call.ended');
    const report = await calling;
    const record = await phone.record(callId);
    if (expected.incidents[0] !== 'process-lost' && report !== undefined)
      expect(report).toMatchObject({ ok: true, protocolErrors: [] });
    expect(record).toMatchObject({ outcome: 'answered', error: null, ...expected.record });
    const { transcript, incidents } = record;
    const { said } = expected;
    const lines = transcript.map(({ role, text }) => `${role}: ${text}`);
    if (said instanceof RegExp) expect(lines.join('\n')).toMatch(said);
    else
      expect(lines).toEqual(
        said.map((line) => (typeof line === 'string' ? line : expect.stringMatching(line))),
      );
    expect(incidents.map(({ code }) => code)).toEqual(expected.incidents);
    expect(phone.tools).toHaveLength(expected.toolRuns ?? 0);
    // One call, of which nothing is told twice, and nothing is kept any more.
    expect(phone.started).toEqual([record.callId]);
    await eventually('onCallEnd', () => phone.ended[0]);
    expect(phone.ended.map((told) => told.callId)).toEqual([record.callId]);
    expect(new Set(transcript.map((entry) => entry.id)).size).toBe(transcript.length);
    expect(transcript.every(({ final }) => final)).toBe(true);
    await nothingIsKept(phone.dataDir);
  });
});
