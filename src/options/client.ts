// The options of `new Offhook(...)`: what they mean, and what is refused. Documented here and nowhere else.
import { isE164 } from '../base/e164.js';
import { ConfigError } from '../base/errors.js';
import { hostComplaint } from '../base/host-name.js';
import { nearestName } from '../base/nearest-name.js';
import { checkMethods, checkNames, requireObject } from '../base/option-checks.js';
import type { Carrier } from '../carriers/carrier.js';
import { CARRIERS } from '../carriers/index.js';
import { AGENT_NAME, CARRIER_ID } from '../contract/call-record.js';

/** Options of `new Offhook(...)`. */
export interface ClientOptions {
  /** The telephony carrier: `new CarrierA()`, `new CarrierB()`, or a `Carrier` of your own. */
  carrier: Carrier;
  /** Your number at the carrier, as `+15550100` (E.164). Required, unless `phoneNumbers` is set. */
  phoneNumber?: string | undefined;
  /** Your numbers at the carrier, instead of `phoneNumber`: each as `'+15550100'` or `{ number, agent }`. Outbound calls are placed from the first one, unless they say `from`. */
  phoneNumbers?: readonly (string | PhoneNumberOptions)[] | undefined;
  /** Public host name that reaches this server over TLS, with a port unless it is 443; no scheme, no path. Without it, the `Host` header of a webhook is used, and webhooks of numbers are not set at the carrier. */
  webhookUrl?: string | undefined;
}

/** An entry of `phoneNumbers`. */
export interface PhoneNumberOptions {
  /** As `+15550100` (E.164). */
  number: string;
  /** Name of the agent that answers calls to this number: one that `phone.agent({ name })` makes before `serve`. @default the agent of `serve`, or what its function chooses */
  agent?: string | undefined;
}

const CLIENT_OPTIONS = ['carrier', 'phoneNumber', 'phoneNumbers', 'webhookUrl'];
const NUMBER_OPTIONS = ['number', 'agent'];

/** A number of the client, and the name of the agent that answers there; undefined for the server's. */
export interface OwnNumber {
  readonly number: string;
  readonly agent: string | undefined;
}

/** Options of a client that can work. */
export interface CheckedClientOptions {
  readonly carrier: Carrier;
  readonly numbers: readonly [OwnNumber, ...OwnNumber[]];
  /** Calls to other numbers are unexpected: the application has listed its numbers. */
  readonly areNumbersListed: boolean;
  readonly webhookUrl?: string | undefined;
}

/** What `serve` looks at. */
export type ServedClient = Pick<CheckedClientOptions, 'carrier' | 'webhookUrl'>;

/** @throws ConfigError */
export function checkClientOptions(options: ClientOptions): CheckedClientOptions {
  const where = 'new Offhook()';
  requireObject(options, where);
  checkNames(options, CLIENT_OPTIONS, where);
  const { carrier, webhookUrl } = options;
  if (carrier === undefined) {
    throw new ConfigError(
      'CONFIG_MISSING',
      `carrier is missing: set it, for example carrier: ${SHIPPED.join(' or carrier: ')}.`,
    );
  }
  checkNoName(carrier);
  checkMethods('carrier', carrier, {
    methods: ['verify', 'verifyUpgrade', 'openMedia', 'prepare'],
    example: `exactly one carrier object, as in carrier: ${SHIPPED.join(' or carrier: ')}`,
  });
  checkCarrier(carrier);
  const checked = { carrier, ...checkNumbers(options), webhookUrl };
  if (webhookUrl === undefined) return checked;
  const complaint =
    typeof webhookUrl === 'string' ? hostComplaint(webhookUrl) : 'is a text like voice.example.com';
  if (complaint !== undefined) {
    throw new ConfigError('CONFIG_INVALID', `webhookUrl ${complaint}.`);
  }
  return checked;
}

/** `carrier-a` -> `CarrierA`, which stays as it is. */
function classOf(id: string): string {
  return id.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

const SHIPPED = [...CARRIERS.keys()].map((id) => `new ${classOf(id)}()`);

const E164_FORM = 'in the form +15550100 (E.164): a plus and 2 to 15 digits, no spaces';

function checkNumbers({
  phoneNumber,
  phoneNumbers,
}: ClientOptions): Pick<CheckedClientOptions, 'numbers' | 'areNumbersListed'> {
  if (phoneNumbers !== undefined) {
    if (phoneNumber === undefined) return { numbers: checkList(phoneNumbers), areNumbersListed: true };
    throw new ConfigError(
      'CONFIG_CONFLICT',
      'phoneNumber and phoneNumbers exclude each other: put all numbers in phoneNumbers.',
    );
  }
  if (phoneNumber === undefined) {
    throw new ConfigError(
      'CONFIG_MISSING',
      'phoneNumber is missing: set your number, like +15550100, or several as phoneNumbers.',
    );
  }
  if (!isNumber(phoneNumber)) {
    throw new ConfigError('CONFIG_INVALID', `phoneNumber must be ${E164_FORM}.`);
  }
  return { numbers: [{ number: phoneNumber, agent: undefined }], areNumbersListed: false };
}

function checkList(list: unknown): CheckedClientOptions['numbers'] {
  const [first, ...others] = (Array.isArray(list) ? list : []).map(checkEntry);
  if (first === undefined) {
    throw new ConfigError(
      'CONFIG_INVALID',
      "phoneNumbers must be a list with at least one number: ['+15550100', { number: '+15550101', agent: 'billing' }].",
    );
  }
  const numbers = [first, ...others] as const;
  const isAgain = ({ number }: OwnNumber, index: number) =>
    numbers.findIndex((each) => each.number === number) < index;
  const again = numbers.findIndex(isAgain);
  if (again === -1) return [...numbers];
  throw new ConfigError(
    'CONFIG_INVALID',
    `phoneNumbers[${again}] is in the list already: list each number once.`,
  );
}

function checkEntry(entry: unknown, index: number): OwnNumber {
  const where = `phoneNumbers[${index}]`;
  const isObject = typeof entry === 'object' && entry !== null;
  if (isObject) checkNames(entry, NUMBER_OPTIONS, where);
  const { number, agent } = (isObject ? entry : { number: entry }) as Partial<
    Record<keyof OwnNumber, unknown>
  >;
  if (!isNumber(number)) {
    throw new ConfigError(
      'CONFIG_INVALID',
      `${where} must be a number, or { number, agent } with a number, ${E164_FORM}.`,
    );
  }
  if (agent === undefined || (typeof agent === 'string' && AGENT_NAME.test(agent))) return { number, agent };
  throw new ConfigError(
    'CONFIG_INVALID',
    `agent of ${where} must be the name of an agent that this client makes later, as in phone.agent({ name: 'billing' }). An agent itself belongs to another client.`,
  );
}

function isNumber(value: unknown): value is string {
  return typeof value === 'string' && isE164(value);
}

const CARRIER_PARTS = ['supports', 'webhooks', 'rest'] as const satisfies readonly (keyof Carrier)[];

/** A name stands for no carrier. @throws ConfigError that says which object does */
function checkNoName(carrier: unknown): void {
  if (typeof carrier !== 'string') return;
  const meant = nearestName(carrier, [...CARRIERS.keys(), ...[...CARRIERS.keys()].map(classOf)]);
  const hint = meant === undefined ? SHIPPED.join(' or carrier: ') : `new ${classOf(meant)}()`;
  throw new ConfigError('CONFIG_INVALID', `carrier must be an object, not its name: set carrier: ${hint}.`);
}

/** A carrier of the application's own is looked at here: later it costs calls. */
function checkCarrier(carrier: Carrier): void {
  if (typeof carrier.id !== 'string' || !CARRIER_ID.test(carrier.id)) {
    throw new ConfigError(
      'CONFIG_INVALID',
      'The id of the carrier must be in kebab-case, like my-carrier, with at most 40 characters.',
    );
  }
  for (const part of CARRIER_PARTS) {
    const value: unknown = carrier[part];
    if (typeof value === 'object' && value !== null) continue;
    throw new ConfigError('CONFIG_INVALID', `The carrier ${carrier.id} has no ${part}.`);
  }
}
