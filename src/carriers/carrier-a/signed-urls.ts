// The spellings of a URL that the carrier may have signed. It is not uniform about ports and escapes, and neither is its SDK.
import { parse as parseQuery, stringify as stringifyQuery } from 'node:querystring';
import { queryOf } from './form.js';

/**
 * Candidates for a webhook, the likeliest first: the URL as it is, as a URL parser writes it, and with its query written anew, each
 * without a port and with one. User info and a fragment are settings of the carrier's client, which are not signed; a verifier that is handed a URL
 * with them counts as right either way.
 */
export function* webhookUrls(url: string): Generator<string> {
  // Nearly every webhook is signed like this: the others are made only for one that is not.
  yield url;
  const urls = [...new Set([url, ...withoutClientSettings(url)])];
  const others = new Set(
    urls
      .flatMap(spellings)
      .flatMap((spelling) => [withPort(spelling, undefined), withPort(spelling, ownPort(spelling))]),
  );
  others.delete(url);
  yield* others;
}

/** Candidates for the upgrade of a stream: with or without the query, a trailing slash, a port. */
export function upgradeUrls(host: string, target: string): Set<string> {
  const [text = ''] = target.split('#', 1);
  const [path = ''] = text.split('?', 1);
  const query = text.slice(path.length);
  const bare = path.replace(/\/$/, '');
  const targets = [path, bare, `${bare}/`].flatMap((each) => [each + query, each]);
  const hosts = [...withoutClientSettings(`wss://${host}`), `wss://${host}`];
  const urls = [...hosts, ...hosts.map((each) => each.toLowerCase())].flatMap((origin) =>
    targets.map((each) => origin + each),
  );
  return new Set(
    urls.flatMap((url) => [undefined, ownPort(url), '443', '80'].map((port) => withPort(url, port))),
  );
}

function withoutClientSettings(url: string): string[] {
  const parts = split(url);
  if (parts === undefined) return [];
  const { scheme, host, port, rest } = parts;
  const [path = ''] = rest.split('#', 1);
  return [`${scheme}://${host}${port === undefined ? '' : `:${port}`}${path}`];
}

function spellings(url: string): string[] {
  if (!URL.canParse(url)) return [url];
  const normal = new URL(url);
  if (normal.search === '') return [url, normal.href];
  const written = new URL(url);
  written.search = '';
  written.hash = '';
  // Without a limit: what is left out of a candidate would not be signed.
  const query = stringifyQuery(parseQuery(queryOf(url), undefined, undefined, { maxKeys: 0 }));
  return [url, normal.href, `${written.href}?${query}`];
}

/** The port in the URL, else the one of its scheme. The SDK counts every scheme but https as port 80. */
function ownPort(url: string): string {
  const parts = split(url);
  return parts?.port ?? (parts?.scheme.toLowerCase() === 'https' ? '443' : '80');
}

function withPort(url: string, port: string | undefined): string {
  const parts = split(url);
  if (parts === undefined) return url;
  const { scheme, user, host, rest } = parts;
  return `${scheme}://${user}${host}${port === undefined ? '' : `:${port}`}${rest}`;
}

interface UrlParts {
  readonly scheme: string;
  /** With the `@`; empty when there is none. */
  readonly user: string;
  readonly host: string;
  readonly port: string | undefined;
  /** Path, query and fragment. */
  readonly rest: string;
}

const URL_PARTS = /^([a-z][a-z\d+.-]*):\/\/([^/?#]*@)?(\[[^\]/?#]*\]|[^/?#:@]*)(?::(\d+))?(.*)$/is;

/** Undefined for what is no URL with a host. */
function split(url: string): UrlParts | undefined {
  const match = URL_PARTS.exec(url);
  if (match === null) return undefined;
  const [, scheme = '', user = '', host = '', port, rest = ''] = match;
  return { scheme, user, host, port, rest };
}
