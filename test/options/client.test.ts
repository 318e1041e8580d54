import { describe, expect, it } from 'vitest';
import { Agent } from '../../src/options/agent.js';
import { type ClientOptions, checkClientOptions } from '../../src/options/client.js';
import { createPlainCarrier } from '../support/plain-carrier.js';
import { refusal } from './refusal.js';

const carrier = createPlainCarrier();
const client = { carrier, phoneNumber: '+15550100' };

// Options as a program without types may write them.
const makeClient = (options: object) => checkClientOptions({ ...client, ...options } as ClientOptions);

describe('ClientOptions', () => {
  it.each<[string, unknown, string]>([
    ['carrier', undefined, 'CONFIG_MISSING'],
    ['carrier', [carrier, carrier], 'CONFIG_INVALID'],
    ['carrier', 'carrier-a', 'CONFIG_INVALID'],
    ['carrier', {}, 'CONFIG_INVALID'],
    ['phoneNumber', undefined, 'CONFIG_MISSING'],
    ['phoneNumber', '', 'CONFIG_INVALID'],
    ['phoneNumber', '15550100', 'CONFIG_INVALID'],
    ['phoneNumber', '+1 555 0100', 'CONFIG_INVALID'],
    ['phoneNumber', '+05550100', 'CONFIG_INVALID'],
    ['phoneNumber', 15_550_100, 'CONFIG_INVALID'],
    ['webhookUrl', 'https://voice.example.com', 'CONFIG_INVALID'],
    ['webhookUrl', 'wss://voice.example.com', 'CONFIG_INVALID'],
    ['webhookUrl', 'voice.example.com/', 'CONFIG_INVALID'],
    ['webhookUrl', 'voice.example.com/path', 'CONFIG_INVALID'],
    ['webhookUrl', 'voice.example.com?x=1', 'CONFIG_INVALID'],
    ['webhookUrl', 'voice_agent.example.com', 'CONFIG_INVALID'],
    ['webhookUrl', 'voice.example.com:0', 'CONFIG_INVALID'],
    ['webhookUrl', 'voice.example.com:70000', 'CONFIG_INVALID'],
    ['webhookUrl', 'voice.example.com:', 'CONFIG_INVALID'],
    ['webhookUrl', 'user@voice.example.com', 'CONFIG_INVALID'],
    ['webhookUrl', '-voice.example.com', 'CONFIG_INVALID'],
    ['webhookUrl', 'voice..example.com', 'CONFIG_INVALID'],
    ['webhookUrl', 'voice.example.com.', 'CONFIG_INVALID'],
    ['webhookUrl', '1.2.3.999', 'CONFIG_INVALID'],
    ['webhookUrl', 'voice example.com', 'CONFIG_INVALID'],
    ['webhookUrl', '', 'CONFIG_INVALID'],
    ['webhookUrl', null, 'CONFIG_INVALID'],
    ['webhookURL', 'voice.example.com', 'CONFIG_INVALID'],
  ])('refuse %s: %j', (name, value, expected) => {
    const { code, message } = refusal(() => makeClient({ [name]: value }));
    expect(code).toBe(expected);
    expect(message).toContain(name);
  });

  it.each<[unknown, string]>([
    ['carrier-b', 'carrier must be an object, not its name: set carrier: new CarrierB().'],
    ['CarrierB', 'set carrier: new CarrierB().'],
    ['carrierA', 'set carrier: new CarrierA().'],
    ['acme', 'set carrier: new CarrierA() or carrier: new CarrierB().'],
    [{}, 'exactly one carrier object, as in carrier: new CarrierA() or carrier: new CarrierB()'],
    [class {}, 'Did you forget new?'],
    [undefined, 'carrier: new CarrierA() or carrier: new CarrierB().'],
  ])('say which object a carrier is, not %j', (given, message) => {
    expect(refusal(() => makeClient({ carrier: given })).message).toContain(message);
  });

  it.each<[string, object, string, string]>([
    ['both', { phoneNumbers: ['+15550101'] }, 'CONFIG_CONFLICT', 'put all numbers in phoneNumbers'],
    ['neither', { phoneNumber: undefined }, 'CONFIG_MISSING', 'or several as phoneNumbers'],
  ])('refuse %s of phoneNumber and phoneNumbers', (_, options, code, message) => {
    const refused = refusal(() => makeClient(options));
    expect(refused).toMatchObject({ code, message: expect.stringContaining(message) });
    expect(refused.message).toContain('phoneNumber');
  });

  it.each<[unknown, string]>([
    [[], 'phoneNumbers must be a list with at least one number'],
    ['+15550100', 'phoneNumbers must be a list'],
    [{ number: '+15550100' }, 'phoneNumbers must be a list'],
    [null, 'phoneNumbers must be a list'],
    [['+15550100', '15550101'], 'phoneNumbers[1] must be a number, or { number, agent }'],
    [['+15550100', undefined], 'phoneNumbers[1] must be a number'],
    [[{}], 'phoneNumbers[0] must be a number'],
    [[{ number: '+1 555' }], 'phoneNumbers[0] must be a number'],
    [[['+15550100']], 'phoneNumbers[0]'],
    [[{ nummer: '+15550100' }], 'phoneNumbers[0] has no option "nummer". Did you mean number?'],
    [['+15550100', '+15550101', '+15550100'], 'phoneNumbers[2] is in the list already'],
    [['+15550100', { number: '+15550100', agent: 'billing' }], 'phoneNumbers[1] is in the list already'],
    [[{ number: '+15550100', agent: 'The Desk' }], 'agent of phoneNumbers[0] must be the name of an agent'],
    [[{ number: '+15550100', agent: new Agent({ name: 'desk' }) }], 'belongs to another client'],
  ])('refuse phoneNumbers: %j', (phoneNumbers, message) => {
    const refused = refusal(() => makeClient({ phoneNumber: undefined, phoneNumbers }));
    expect(refused).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(message) });
  });

  it('take one number or several, the first one first', () => {
    const one = { number: '+15550100', agent: undefined };
    expect(makeClient({})).toMatchObject({ numbers: [one], areNumbersListed: false });
    const other = { number: '+15550101', agent: 'billing' };
    const several = { phoneNumber: undefined, phoneNumbers: ['+15550100', other] };
    expect(makeClient(several)).toMatchObject({ numbers: [one, other], areNumbersListed: true });
  });

  it('say of a whole address at once what does not belong to webhookUrl', () => {
    const messageFor = (webhookUrl: string) => refusal(() => makeClient({ webhookUrl })).message;
    expect(messageFor('https://voice.example.com/path')).toMatch(/scheme.* and the path/);
    expect(messageFor('https://voice.example.com')).not.toContain('path');
    expect(messageFor('voice.example.com/path')).not.toContain('scheme');
  });

  it('show no number in the error', () => {
    expect(refusal(() => makeClient({ phoneNumber: '+1555 867 5309' })).message).not.toContain('5309');
  });

  it.each([
    undefined,
    'voice.example.com',
    'voice.example.com:8443',
    'localhost:3000',
    '192.0.2.7',
    'XN--bcher-kva.example',
  ])('take webhookUrl %s', (webhookUrl) => {
    expect(makeClient({ webhookUrl }).webhookUrl).toBe(webhookUrl);
  });
});
