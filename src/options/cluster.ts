// The option `cluster` of `phone.serve(...)`: what it means, and what is refused. Documented here and nowhere else.
import { isDecodable } from '../base/decodable.js';
import { ConfigError } from '../base/errors.js';
import { hostComplaint } from '../base/host-name.js';
import { checkBoolean, checkNames, requireObject, requireText } from '../base/option-checks.js';
import type { ServedClient } from './client.js';

/** The option `cluster` of `phone.serve(...)`: several servers behind any load balancer are one phone system. */
export interface ClusterOptions {
  /** Redis 6.2 or later, or Valkey: `redis://user:password@host:6379`, with `rediss:` for TLS; of a Redis Cluster any node, without a path. Needs the npm package `@redis/client`. `memory:` joins servers of one process, for tests. */
  url: string;
  /** Of the cluster, 1-64 letters, digits, `-` and `_`. Clusters of other names can share the broker. */
  name: string;
  /** At least 32 bytes, the same on every server. Seals what is kept in the broker, and what servers tell each other. */
  secret: string;
  /** Where the other servers reach this one: `http://10.0.0.5:8000`. They post to `/cluster` there. */
  address: string;
  /** Public host that leads to this very server, past the load balancer, for media streams: `node-1.voice.example.com`. Others name it to the carrier where they have no room for a call and this one has. @default none: the load balancer decides */
  streamHost?: string | undefined;
  /** Keep live calls in the broker, sealed, so that another server goes on with them if theirs dies. `false` keeps them out: they then end with their server. @default true */
  state?: boolean | undefined;
}

/** Where the processes of a cluster meet. */
export interface BrokerPlace {
  readonly url: string;
  readonly name: string;
  readonly secret: string;
}

export interface CheckedCluster extends BrokerPlace {
  /** Without a slash at the end. */
  readonly address: string;
  readonly streamHost: string | undefined;
  readonly state: boolean;
}

const WHERE = 'cluster';
const NAMES = ['url', 'name', 'secret', 'address', 'streamHost', 'state'];
const NAME = /^[\w-]{1,64}$/;
const SHORTEST_SECRET_BYTES = 32;
const SECRET_FIX = 'Make one with: openssl rand -base64 32';
const URL_COMPLAINT =
  'must be the URL of a Redis or Valkey, such as redis://user:password@10.0.0.2:6379, or rediss:// for TLS.';
const END_COMPLAINT =
  'must end with its host and port, or with the number of a database behind them: leave out what follows. TLS is rediss://.';
const CODED_COMPLAINT =
  'must have each special character of its user and password coded: / is %2F, @ is %40, % is %25.';
const DATABASE = /^\/?\d*$/;
const ADDRESS_COMPLAINT =
  'must be where the other servers reach this one, such as http://10.0.0.5:8000: a scheme, a host and a port, no path.';

/** What else is wanted of the server. `others`: options that are set, and do not go with a cluster, by their names. */
export interface ClusterSurroundings {
  readonly client: ServedClient;
  readonly others: Readonly<Record<string, boolean>>;
}

/** Undefined for a server that is alone. @throws ConfigError */
export function checkCluster(
  options: ClusterOptions | undefined,
  { client, others }: ClusterSurroundings,
): CheckedCluster | undefined {
  if (options === undefined) return undefined;
  requireObject(options, WHERE, '{ url, name, secret, address }');
  checkNames(options, NAMES, WHERE);
  const url = requireText(WHERE, 'url', options.url, `It ${URL_COMPLAINT}`);
  const name = requireText(WHERE, 'name', options.name);
  const secret = requireText(WHERE, 'secret', options.secret, SECRET_FIX);
  const [wrong, complaint] = complainOfBroker({ url, name, secret }, SECRET_FIX) ?? [];
  if (wrong !== undefined) throw new ConfigError('CONFIG_INVALID', `cluster.${wrong} ${complaint}`);
  const address = checkAddress(requireText(WHERE, 'address', options.address, `It ${ADDRESS_COMPLAINT}`));
  const streamHost = checkStreamHost(options.streamHost, client);
  const state = checkBoolean('cluster.state', options.state, true);
  demandSurroundings(client, others);
  return { url, name, secret, address, streamHost, state };
}

/** What is wrong, and the end of a sentence that says so; undefined where nothing is. `secretFix`: where the secret comes from, as a sentence. */
export function complainOfBroker(
  { url, name, secret }: BrokerPlace,
  secretFix: string,
): [keyof BrokerPlace, string] | undefined {
  const unfit = /^memory:/i.test(url) && URL.canParse(url) ? undefined : complainOfUrl(url);
  if (unfit !== undefined) return ['url', unfit];
  if (!NAME.test(name)) return ['name', 'must be 1-64 letters, digits, - or _.'];
  if (Buffer.byteLength(secret) >= SHORTEST_SECRET_BYTES) return undefined;
  return [
    'secret',
    `must have at least ${SHORTEST_SECRET_BYTES} bytes, and is the same for the whole cluster. ${secretFix}`,
  ];
}

/** What is wrong with the URL of a Redis or Valkey, as `complainOfBroker` says it. */
export function complainOfUrl(url: string): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  // A password with a slash in it ends the host for whoever reads it.
  const behindHost = parsed === undefined ? url : `${parsed.pathname}${parsed.search}${parsed.hash}`;
  if (/^rediss?:/i.test(url) && behindHost.includes('@')) return CODED_COMPLAINT;
  if (parsed === undefined || !['redis:', 'rediss:'].includes(parsed.protocol)) return URL_COMPLAINT;
  const { pathname, search, hash, username, password } = parsed;
  if (!DATABASE.test(pathname) || search !== '' || hash !== '') return END_COMPLAINT;
  return [username, password].every(isDecodable) ? undefined : CODED_COMPLAINT;
}

/** A path would be lost, and what others send to all of an interface reaches nobody. */
function checkAddress(address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isBase = url?.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  const isHttp = url !== undefined && /^https?:$/.test(url.protocol);
  if (isHttp && isBase && !['0.0.0.0', '[::]'].includes(url.hostname)) return url.origin;
  throw new ConfigError('CONFIG_INVALID', `cluster.address ${ADDRESS_COMPLAINT}`);
}

/** The load balancer's own host leads to any server: named as that of one, it would do nothing. */
function checkStreamHost(streamHost: unknown, { webhookUrl }: ServedClient): string | undefined {
  if (streamHost === undefined) return undefined;
  const complaint =
    typeof streamHost === 'string' ? hostComplaint(streamHost) : 'is a text like node-1.voice.example.com';
  if (complaint !== undefined) throw new ConfigError('CONFIG_INVALID', `cluster.streamHost ${complaint}.`);
  if (streamHost === webhookUrl)
    throw new ConfigError(
      'CONFIG_CONFLICT',
      'cluster.streamHost must be a host of this server alone, and webhookUrl is that of all: leave it out, or give each server one of its own.',
    );
  return streamHost as string;
}

function demandSurroundings(
  { carrier, webhookUrl }: ServedClient,
  others: Readonly<Record<string, boolean>>,
): void {
  const [conflict] = Object.entries(others).find(([, isSet]) => isSet) ?? [];
  if (conflict !== undefined)
    throw new ConfigError(
      'CONFIG_CONFLICT',
      `cluster and ${conflict} exclude each other: remove one of them.`,
    );
  if (webhookUrl === undefined)
    throw new ConfigError(
      'CONFIG_MISSING',
      'cluster needs webhookUrl: the public host of the load balancer, the same on every server.',
    );
  if (carrier.streamTokenKey === undefined)
    throw new ConfigError(
      'CONFIG_MISSING',
      `cluster needs the webhook secret, by which servers know streams that another one has invited: set ${carrier.secretSetting}.`,
    );
}
