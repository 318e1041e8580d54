// The words of the service for its connections: each is set up first, and resumed where the service still knows the session.
import { createHash } from 'node:crypto';
import { PCM_16K, PCM_24K, PCM_8K } from '../../../audio/format.js';
import { KEPT_CHARS } from '../../wire/bounds.js';
import { fatalFailure, transientFailure } from '../../wire/failure.js';
import type { Json } from '../../wire/json.js';
import { readClose } from './closes.js';
import { GeminiLiveDebt } from './debt.js';
import { readServerMessage, type ServerPiece } from './messages.js';
import { type LiveSettings, toAudio, toSetup } from './settings.js';
import { type LinkProtocol, SessionLink, type SessionLinkOptions } from '../session-link.js';

export interface GeminiLiveLinkOptions
  extends Pick<SessionLinkOptions, 'context' | 'events' | 'target' | 'open' | 'isQuiet' | 'takesAudio'> {
  readonly settings: LiveSettings;
  readonly protocol: Pick<LinkProtocol, 'opened' | 'lost'> & {
    /** A connection on which the settings are taken. `isResumed`: the service still knows the session. */
    ready(connection: { readonly isResumed: boolean }): void;
    /** What is not of the connection itself. */
    received(piece: ServerPiece): void;
    /** Nothing came that was owed: the connection is given up. */
    unpaid(): void;
  };
}

/** Source: Google, Live API guide, session management: two hours from the end of the session. */
const HANDLE_VALID_MS = 2 * 60 * 60_000;

const PCM_FORMATS = [PCM_24K, PCM_16K, PCM_8K];

/** A connection on which the settings are not answered is of no use. */
const SETUP_WAIT_MS = 3000;

/** The service takes up to half a minute to answer a ping: what shows no sign of life for three of these is gone, also while nobody waits. */
const PING_MS = 20_000;

/** Connects when it is made. */
export class GeminiLiveLink {
  readonly session: SessionLink;
  readonly #options: GeminiLiveLinkOptions;
  readonly #debt: GeminiLiveDebt;
  readonly #settingsDigest: string;
  /** What the session can be resumed with, as long as nothing was said since. */
  #handle: string | undefined;
  /** What comes to resume it with may be of before what we have sent, or hold what nobody heard: until its next answer. */
  #isDoubtful = false;
  /** What this connection was resumed with. */
  #usedHandle: string | undefined;

  constructor(options: GeminiLiveLinkOptions) {
    this.#options = options;
    const { context, settings, protocol, ...rest } = options;
    const { handle } = context;
    const setUpWith = JSON.stringify(toSetup(settings, context, undefined));
    this.#settingsDigest = createHash('sha256').update(setUpWith).digest('base64url');
    if (handle?.settingsDigest === this.#settingsDigest) this.#handle = handle.handle;
    this.#debt = new GeminiLiveDebt({
      clock: context.clock,
      ping: () => this.session.ping(),
      unpaid: (lastedMs) => {
        protocol.unpaid();
        this.session.renew('said nothing while a caller waited', { lastedMs });
      },
    });
    this.session = new SessionLink({
      ...rest,
      context,
      pingMs: PING_MS,
      toAudio,
      // A handle can be refused for reasons of its own: the next connection is told the conversation anew.
      readClose: (close) =>
        this.#usedHandle !== undefined && !this.session.isReady
          ? transientFailure(`did not resume the session (${close.code})`)
          : readClose(close),
      unanswered: {
        waitMs: SETUP_WAIT_MS,
        act: () => this.session.renew('did not take the settings in time'),
      },
      protocol: {
        ...protocol,
        connected: () => {
          this.#usedHandle = this.#handle;
          // It is of use once.
          this.changed();
          this.session.send(toSetup(settings, context, this.#usedHandle));
        },
        text: (text) => {
          this.#debt.alive();
          for (const piece of readServerMessage(text)) this.#received(piece);
        },
        pong: () => this.#debt.alive(),
        ready: () => protocol.ready({ isResumed: this.#usedHandle !== undefined }),
      },
    });
  }

  /** What changes the conversation makes the handle worthless, unless it is caller audio. */
  send(message: Json): void {
    this.doubt();
    this.session.send(message);
  }

  /** With every piece of the caller's audio. `isOwed`: they wait for something, and have to be answered before they give up. */
  watch({ isOwed }: { isOwed: boolean }): void {
    if (this.session.isReady) this.#debt.watch({ isOwed });
  }

  /** The conversation goes on: what was told to resume it with is of a state before. */
  changed(): void {
    if (this.#handle === undefined) return;
    this.#handle = undefined;
    this.#options.events.resumable(undefined);
  }

  /** The same, and what is told next may be so, too. */
  doubt(): void {
    this.#isDoubtful = true;
    this.changed();
  }

  /** The service answers, and the caller hears it. */
  answered(): void {
    this.changed();
    this.#isDoubtful = false;
  }

  #received(piece: ServerPiece): void {
    if (piece.type === 'setup-complete') this.session.ready();
    else if (piece.type === 'resumption') this.#resumable(piece.handle);
    else if (piece.type === 'go-away') this.session.renewal.plan(0);
    else if (this.session.isReady && (piece.type !== 'audio' || this.#hasFormat(piece.sampleRateHz)))
      this.#options.protocol.received(piece);
  }

  /** '': not at this point. */
  #resumable(handle: string): void {
    if (handle === '' || handle.length > KEPT_CHARS || this.#isDoubtful) {
      this.changed();
      return;
    }
    const { context, events } = this.#options;
    this.#handle = handle;
    const expiresAt = context.clock.wallNow() + HANDLE_VALID_MS;
    events.resumable({ handle, settingsDigest: this.#settingsDigest, expiresAt });
  }

  /** The service says with each piece of audio at which rate it is. Returns false for one that no telephone takes. */
  #hasFormat(rate: number | undefined): boolean {
    const { formats } = this.session;
    if (rate === undefined || rate === formats.output.sampleRateHz) return true;
    const output = PCM_FORMATS.find(({ sampleRateHz }) => sampleRateHz === rate);
    if (output === undefined)
      this.session.fail(fatalFailure('speaks in an audio format that no telephone takes'));
    else this.session.setFormats({ ...formats, output });
    return output !== undefined;
  }
}
