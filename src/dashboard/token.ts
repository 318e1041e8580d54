// The dashboard token and the session cookie that stands for it in a browser.
import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

const SESSION_MS = 7 * 24 * 60 * 60 * 1000;

/** A cookie to set, ready for the Set-Cookie header. */
export interface SessionCookie {
  readonly name: string;
  readonly header: string;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}

/** Compares without telling, by its time, where two texts differ or how long they are. */
function isEqual(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

/**
 * Values of a cookie in a Cookie header. A neighbor under the same domain can add one of the same name, so there may be several.
 * Source: RFC 6265, section 4.2.1.
 */
export function readCookies(header: string | undefined, name: string): string[] {
  return (header?.split(';') ?? []).flatMap((pair) => {
    const separator = pair.indexOf('=');
    return separator !== -1 && pair.slice(0, separator).trim() === name
      ? [pair.slice(separator + 1).trim()]
      : [];
  });
}

/**
 * Checks tokens and makes sessions. A session is `<expiry>.<HMAC-SHA256 over expiry>`, its key derived from the token:
 * it survives a restart, and ends with the token.
 */
export class TokenKeeper {
  readonly #token: string;
  readonly #sessionKey: Buffer;
  /**
   * Cookies are shared by all ports of a host, and behind a port mapping nobody knows the port that a browser sees: the name
   * depends on the token. Instances with one token share their sessions.
   */
  readonly cookieName: string;

  constructor(token: string) {
    this.#token = token;
    this.#sessionKey = Buffer.from(hkdfSync('sha256', token, '', 'offhook dashboard session', 32));
    this.cookieName = `offhook_session_${this.#sign('name').slice(0, 8)}`;
  }

  isToken(candidate: string): boolean {
    return isEqual(candidate, this.#token);
  }

  /** `now` is epoch milliseconds. */
  isSession(value: string, now: number): boolean {
    const [expiry = '', mac = '', ...rest] = value.split('.');
    if (rest.length > 0 || !/^\d{1,15}$/.test(expiry)) return false;
    return isEqual(mac, this.#sign(expiry)) && Number(expiry) > now;
  }

  createSession(options: { now: number; secure: boolean }): SessionCookie {
    const expiry = String(options.now + SESSION_MS);
    const name = this.cookieName;
    const attributes = `Path=/; Max-Age=${SESSION_MS / 1000}; HttpOnly; SameSite=Lax${options.secure ? '; Secure' : ''}`;
    return { name, header: `${name}=${expiry}.${this.#sign(expiry)}; ${attributes}` };
  }

  /** Has a browser forget its session. A copy of the cookie is good until it expires, or the token changes. */
  endSession(options: { secure: boolean }): SessionCookie {
    const name = this.cookieName;
    const secure = options.secure ? '; Secure' : '';
    return { name, header: `${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax${secure}` };
  }

  #sign(expiry: string): string {
    return createHmac('sha256', this.#sessionKey).update(expiry).digest('base64url');
  }
}
