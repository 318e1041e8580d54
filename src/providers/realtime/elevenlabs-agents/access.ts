// Sockets to an agent that not everybody may speak with: the service gives a signed address for each conversation, which is asked for
// with the key. The address is as good as a key: it stands in no log and no error.
import type { Clock } from '../../../base/clock.js';
import { readText } from '../../wire/answer-text.js';
import { fatalFailure, refusalFailure, WireError, transientFailure } from '../../wire/failure.js';
import type { HttpChannel } from '../../wire/http-channel.js';
import { parseObject, toText } from '../../wire/json.js';
import {
  openVendorSocket,
  type OpenVendorSocket,
  type VendorSocket,
  type VendorSocketOptions,
} from '../../wire/vendor-socket.js';

export interface SignedAccess {
  readonly channel: HttpChannel;
  /** Where signed addresses are given. */
  readonly url: URL;
  readonly key: string;
  /** Opens a socket at an address. @default the real one */
  readonly open?: OpenVendorSocket | undefined;
}

/** One that takes longer leaves too little of the time that a caller waits. */
const ANSWER_TIMEOUT_MS = 1500;
const MAX_ANSWER_BYTES = 16_384;

/** Opens sockets at addresses that are signed for each of them. */
export function signedOpening(access: SignedAccess): OpenVendorSocket {
  return (options) => new SignedSocket(access, options);
}

class SignedSocket implements VendorSocket {
  readonly #abort = new AbortController();
  #socket: VendorSocket | undefined;

  constructor(access: SignedAccess, options: VendorSocketOptions) {
    void this.#connect(access, options);
  }

  get bufferedBytes(): number {
    return this.#socket?.bufferedBytes ?? 0;
  }

  send(message: string | Uint8Array): void {
    this.#socket?.send(message);
  }

  ping(): void {
    this.#socket?.ping();
  }

  close(lastMessage?: string): void {
    this.#abort.abort();
    this.#socket?.close(lastMessage);
  }

  terminate(): void {
    this.#abort.abort();
    this.#socket?.terminate();
  }

  async #connect(access: SignedAccess, options: VendorSocketOptions): Promise<void> {
    const { open = openVendorSocket } = access;
    const { clock, handshakeTimeoutMs = Number.POSITIVE_INFINITY } = options;
    const { signal } = this.#abort;
    const startedAt = clock.now();
    try {
      const url = await requestAddress(access, { clock, signal, withinMs: handshakeTimeoutMs });
      if (signal.aborted) return;
      // The address and the socket are one try.
      const leftMs = Math.max(0, handshakeTimeoutMs - (clock.now() - startedAt));
      const target = { ...options.target, url, headers: {} };
      this.#socket = open({ ...options, target, handshakeTimeoutMs: leftMs });
    } catch (error) {
      if (signal.aborted) return;
      const failure =
        error instanceof WireError ? error.failure : transientFailure('could not be reached', error);
      options.events.ended(failure);
    }
  }
}

/** @throws WireError */
async function requestAddress(
  { channel, url, key }: SignedAccess,
  { clock, signal, withinMs }: { clock: Clock; signal: AbortSignal; withinMs: number },
): Promise<URL> {
  const headers = { 'xi-api-key': key };
  const answer = await channel.request({
    method: 'GET',
    url,
    headers,
    signal,
    clock,
    answerTimeoutMs: Math.min(ANSWER_TIMEOUT_MS, withinMs),
  });
  const text = await readText(answer, MAX_ANSWER_BYTES);
  if (answer.status !== 200)
    throw new WireError(refusalFailure({ status: answer.status, retryAfter: answer.header('retry-after') }));
  const address = toText(parseObject(text)?.signed_url);
  const signed = URL.canParse(address) ? new URL(address) : undefined;
  if (signed === undefined || !/^wss?:$/.test(signed.protocol))
    throw new WireError(fatalFailure('gave no signed address'));
  return signed;
}
