// Who may see the dashboard, and who may act on a call. Knows requests only by their few facts that matter here.
import type { Clock } from '../base/clock.js';
import { AuthError, LimitError } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import { AttemptLimit } from './attempt-limit.js';
import { hostNameOf, isLoopbackAddress, isLoopbackHost, isNumericHost } from './host-name.js';
import { readCookies, TokenKeeper } from './token.js';

/** What is known of a request. Header names are lower case. */
export interface RequestFacts {
  header(name: string): string | undefined;
  query: URLSearchParams;
  /** The client's address, as far as the trusted proxies tell. */
  address: string;
  /** The other end of the socket itself. */
  peerAddress: string;
  /** The host that the client asked for, as far as the trusted proxies tell, with its port. */
  publicHost: string;
  /** True when the client came over TLS. */
  secure: boolean;
}

/** How a request showed that it may: a token in it, the cookie, or there is no token to show. */
export type Credential = 'token' | 'session' | 'open';

export interface GatekeeperParts {
  /** Absent or undefined: the dashboard is open to whoever reaches it by a trusted host name. */
  token?: string | undefined;
  /** Host names that are ours, beside loopback names and IP literals. A port in them is ignored. */
  allowedHosts: readonly string[];
  clock: Clock;
  logger: Logger;
}

/** Headers that a proxy adds. Any of them means that the request is not from this machine. */
const FORWARDING_HEADERS = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-port',
  'x-forwarded-server',
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'cf-ray',
] as const;

/** The guard of page and API. */
export class Gatekeeper {
  readonly #keeper: TokenKeeper | null;
  readonly #allowedHosts: ReadonlySet<string>;
  readonly #attempts: AttemptLimit;
  readonly #clock: Clock;
  readonly #logger: Logger;
  /** Said once: who sends foreign names may send many. */
  #hasComplained = false;

  constructor(parts: GatekeeperParts) {
    this.#keeper = parts.token === undefined ? null : new TokenKeeper(parts.token);
    this.#allowedHosts = new Set(parts.allowedHosts.map((host) => hostNameOf(host) ?? ''));
    this.#attempts = new AttemptLimit(parts.clock);
    this.#clock = parts.clock;
    this.#logger = parts.logger;
  }

  /**
   * Lets a reader in.
   * @throws AuthError AUTH_REQUIRED without the right token, AUTH_FORBIDDEN for a foreign host name; LimitError for
   * wrong tokens in a row, whatever token comes next.
   */
  admitReader(facts: RequestFacts): Credential {
    return this.#admit(facts, [...bearersOf(facts), facts.query.get('token')]);
  }

  /**
   * Lets a command in: everything `admitReader` asks (a token in the query does not count), and that no foreign page
   * sent it. Without a token only this machine may command.
   * @throws as `admitReader`.
   */
  admitCommand(facts: RequestFacts): void {
    const credential = this.#admit(facts, bearersOf(facts));
    if (!isSameOrigin(facts, credential))
      throw new AuthError('AUTH_FORBIDDEN', 'Commands are accepted only from the dashboard itself.');
    if (!this.mayCommand(facts))
      throw new AuthError(
        'AUTH_FORBIDDEN',
        'Without a dashboard token, commands are accepted only from this machine. Set dashboardToken to control calls from elsewhere.',
      );
  }

  /**
   * Lets a server in that brings its calls: with the token as a bearer, and nothing else. Without a token nobody may over the network:
   * whoever reaches the port could make calls up.
   * @throws AuthError, LimitError for wrong tokens in a row.
   */
  admitSender(facts: RequestFacts): void {
    if (this.#keeper === null) {
      throw new AuthError(
        'AUTH_FORBIDDEN',
        'Without a token, the dashboard accepts calls only from servers of the same user on this machine. Start it with a token to accept them over the network.',
      );
    }
    if (this.#admit(facts, bearersOf(facts)) === 'token') return;
    throw new AuthError('AUTH_REQUIRED', 'Send the dashboard token as a bearer token.');
  }

  /** @throws AuthError AUTH_FORBIDDEN where no token is set: to speak on calls and to delete them is not for everybody on this machine either. */
  demandToken(): void {
    if (this.#keeper !== null) return;
    throw new AuthError(
      'AUTH_FORBIDDEN',
      'Speaking on calls and deleting them needs a dashboard token: set dashboardToken, and send it as a bearer token.',
    );
  }

  /** False where a command would be refused for want of a token. */
  mayCommand(facts: RequestFacts): boolean {
    return this.#keeper !== null || isFromThisMachine(facts);
  }

  /** The Set-Cookie header of a new session, or undefined where there is no token. */
  sessionHeader(facts: RequestFacts): string | undefined {
    return this.#keeper?.createSession({
      now: this.#clock.wallNow(),
      secure: facts.secure,
    }).header;
  }

  /** True for a browser that is in by its session. */
  hasSession(facts: RequestFacts): boolean {
    const keeper = this.#keeper;
    if (keeper === null) return false;
    const cookies = readCookies(facts.header('cookie'), keeper.cookieName);
    return cookies.some((cookie) => keeper.isSession(cookie, this.#clock.wallNow()));
  }

  /** The Set-Cookie header that ends a session, or undefined where there is no token. */
  endHeader(facts: RequestFacts): string | undefined {
    return this.#keeper?.endSession({ secure: facts.secure }).header;
  }

  #admit(facts: RequestFacts, candidates: readonly (string | null)[]): Credential {
    if (this.#keeper === null) {
      this.#checkHost(facts);
      return 'open';
    }
    const keeper = this.#keeper;
    const shown = candidates.filter((candidate) => candidate !== null);
    const hasSession = this.hasSession(facts);
    // Whoever is in already, or sits at this machine, cannot be locked out by somebody else's guesses.
    const isExempt = hasSession || isFromThisMachine(facts);
    if (shown.length > 0 && !isExempt) this.#refuseGuesser(facts.address);
    if (shown.some((candidate) => keeper.isToken(candidate))) return 'token';
    if (hasSession) return 'session';
    if (shown.length > 0 && !isExempt) this.#attempts.fail(facts.address);
    throw new AuthError('AUTH_REQUIRED', 'The dashboard token is missing or wrong.');
  }

  /** Without a look at the token: a guess that is right must not be told from one that is wrong. */
  #refuseGuesser(address: string): void {
    const closedMs = this.#attempts.closedMs(address);
    if (closedMs === 0) return;
    const retryAfterSeconds = Math.ceil(closedMs / 1000);
    throw new LimitError('Too many wrong tokens from this address. Wait a few seconds.', {
      retryAfterSeconds,
    });
  }

  /** Against DNS rebinding: a foreign name that resolves to us is still a foreign name. */
  #checkHost(facts: RequestFacts): void {
    const host = hostNameOf(facts.header('host') ?? '');
    if (host !== null && (isNumericHost(host) || isLoopbackHost(host) || this.#allowedHosts.has(host)))
      return;
    if (!this.#hasComplained) this.#logger.warn({}, 'dashboard request with a foreign host name refused');
    this.#hasComplained = true;
    throw new AuthError(
      'AUTH_FORBIDDEN',
      'Without a token, the dashboard answers only under its own host names. Set dashboardToken, or use localhost, the IP address or the host of webhookUrl.',
    );
  }
}

/** True for a request that no proxy has passed on, and that asked for this machine by a name of its own. */
function isFromThisMachine(facts: RequestFacts): boolean {
  const host = hostNameOf(facts.header('host') ?? '');
  return (
    isLoopbackAddress(facts.peerAddress) &&
    host !== null &&
    isLoopbackHost(host) &&
    FORWARDING_HEADERS.every((name) => facts.header(name) === undefined)
  );
}

/**
 * Scheme names are case-insensitive. Node reads the bytes of a header as Latin-1, and most programs write them as UTF-8: a token with
 * such characters is right either way. Source: RFC 9110, sections 5.5 and 11.1.
 */
function bearersOf(facts: RequestFacts): string[] {
  const [, shown] = /^bearer +(\S.*)$/i.exec(facts.header('authorization') ?? '') ?? [];
  return shown === undefined ? [] : [shown.trim(), Buffer.from(shown.trim(), 'latin1').toString('utf8')];
}

/**
 * A browser says where a request comes from; a program without a cookie need not. Sec-Fetch-Site decides where it is
 * sent, since a proxy may have rewritten the host that Origin is compared with.
 */
function isSameOrigin(facts: RequestFacts, credential: Credential): boolean {
  const site = facts.header('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin';
  const origin = facts.header('origin');
  if (origin === undefined) return credential !== 'session';
  const [, host] = /^https?:\/\/([^/]+)$/i.exec(origin) ?? [];
  return host !== undefined && host.toLowerCase() === facts.publicHost.toLowerCase();
}
