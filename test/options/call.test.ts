import { describe, expect, it } from 'vitest';
import { Agent } from '../../src/options/agent.js';
import { type CallOptions, checkCallOptions } from '../../src/options/call.js';
import { refusal } from './refusal.js';

const agent = new Agent({ variables: { name: 'friend', shop: 'A' } });
const to = '+15550111';
const numbers = [
  { number: '+15550100', agent: undefined },
  { number: '+15550101', agent: 'billing' },
] as const;
const defaults = { agent, numbers, current: (each: Agent) => each };

/** `default` is the voicemail message of `serve`. Options as a program without types may write them. */
const check = (options: object, voicemailMessage?: string) =>
  checkCallOptions({ to, ...options } as CallOptions, { ...defaults, voicemailMessage });

describe('CallOptions', () => {
  it('have the documented defaults', () => {
    expect(check({})).toEqual({
      to,
      from: '+15550100',
      agent,
      variables: {},
      firstMessage: undefined,
      machineDetection: false,
      voicemailMessage: undefined,
      ringTimeoutSeconds: 25,
    });
  });

  it.each<[string, unknown, string]>([
    ['to', undefined, 'CONFIG_MISSING'],
    ['to', '', 'CONFIG_INVALID'],
    ['to', '15550111', 'CONFIG_INVALID'],
    ['to', '+1 555 0111', 'CONFIG_INVALID'],
    ['to', 15_550_111, 'CONFIG_INVALID'],
    ['from', '', 'CONFIG_INVALID'],
    ['from', null, 'CONFIG_INVALID'],
    ['from', '+15550102', 'CONFIG_INVALID'],
    ['from', numbers[1], 'CONFIG_INVALID'],
    ['agent', {}, 'CONFIG_INVALID'],
    ['agent', null, 'CONFIG_INVALID'],
    ['variables', 'name', 'CONFIG_INVALID'],
    ['variables', { name: null }, 'CONFIG_INVALID'],
    ['firstMessage', ' ', 'CONFIG_INVALID'],
    ['machineDetection', 'yes', 'CONFIG_INVALID'],
    ['voicemailMessage', '', 'CONFIG_INVALID'],
    ['ringTimeoutSeconds', 4, 'CONFIG_INVALID'],
    ['ringTimeoutSeconds', 601, 'CONFIG_INVALID'],
    ['ringTimeoutSeconds', 20.5, 'CONFIG_INVALID'],
    ['ringTimeoutSecond', 20, 'CONFIG_INVALID'],
  ])('refuse %s: %j', (name, value, expected) => {
    const { code, message } = refusal(() => check({ [name]: value }));
    expect(code).toBe(expected);
    expect(message).toContain(name);
  });

  it('show no number in the error', () => {
    expect(refusal(() => check({ to: '+1555 867 5309' })).message).not.toContain('5309');
  });

  it('are placed from a number of the client', () => {
    expect(check({ from: '+15550101' }).from).toBe('+15550101');
  });

  it.each<[unknown, string]>([
    ['+15558675309', '…5309 (11 digits) is not among phoneNumber or phoneNumbers.'],
    ['15550101', 'It takes a number as +15550100 (E.164): a plus and 2 to 15 digits, no spaces.'],
    [null, 'It takes a number as +15550100 (E.164): a plus and 2 to 15 digits, no spaces.'],
  ])('say which numbers there are, and what is wrong with %j, without showing it', (from, why) => {
    expect(refusal(() => check({ from })).message).toBe(
      `from must be a number of this client: …0100, …0101. ${why}`,
    );
  });

  it('take the agent, not its name', () => {
    expect(refusal(() => check({ agent: 'billing' })).message).toBe(
      'agent must be the result of phone.agent({ … }), not its name.',
    );
  });

  it('are demanded as an object', () => {
    const untyped = to as unknown as CallOptions;
    expect(
      refusal(() => checkCallOptions(untyped, { ...defaults, voicemailMessage: undefined })).message,
    ).toContain('call()');
  });

  it.each<[string, object, string | undefined, [boolean, string | undefined]]>([
    ['own message', { voicemailMessage: 'Hi {name}.' }, undefined, [true, 'Hi friend.']],
    ['message of serve', {}, 'From {shop}.', [true, 'From A.']],
    ['own before that of serve', { voicemailMessage: 'Hi.' }, 'From {shop}.', [true, 'Hi.']],
    ['detection without a message', { machineDetection: true }, undefined, [true, undefined]],
    [
      'no detection with a message',
      { machineDetection: false, voicemailMessage: 'Hi.' },
      undefined,
      [false, undefined],
    ],
    ['no detection against serve', { machineDetection: false }, 'From {shop}.', [false, undefined]],
    [
      'variables of the call',
      { voicemailMessage: 'Hi {name} of {shop}.', variables: { name: 'Ada\u0007' } },
      undefined,
      [true, 'Hi Ada of A.'],
    ],
  ])('decide on machines: %s', (_, options, ofServe, [machineDetection, voicemailMessage]) => {
    expect(check(options, ofServe)).toMatchObject({ machineDetection, voicemailMessage });
    expect(check(options, ofServe).voicemailMessage).toBe(voicemailMessage);
  });

  it('fill the message with the variables of the agent that calls', () => {
    const other = new Agent({ variables: { name: 'colleague' } });
    expect(check({ agent: other, voicemailMessage: 'Hi {name} of {shop}.' }).voicemailMessage).toBe(
      'Hi colleague of {shop}.',
    );
  });
});
