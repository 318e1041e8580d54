// The host under which carriers reach this server: the operator's, or that of a tunnel that is opened for as long as we serve.
import type { Logger } from '../base/log.js';
import type { Tunnel, TunnelProgram } from '../tunnels/tunnel.js';

export class PublicHost {
  readonly #logger: Logger;
  readonly #closing = new AbortController();
  #name: string | undefined;
  #tunnel: Tunnel | undefined;

  /** `configured` is `webhookUrl`. */
  constructor(configured: string | undefined, logger: Logger) {
    this.#name = configured;
    this.#logger = logger;
  }

  /** Undefined where only a webhook can tell, and when the tunnel is gone. */
  get name(): string | undefined {
    return this.#name;
  }

  /** Opens a tunnel to `url`. @throws ConfigError */
  async open(program: TunnelProgram, url: string): Promise<void> {
    const tunnel = await program.open(url, { signal: this.#closing.signal });
    this.#tunnel = tunnel;
    this.#name = tunnel.host;
    // Started anew it would have another host, at which no number points: that is for the operator to see.
    void tunnel.lost.then(() => {
      this.#name = undefined;
      this.#logger.error(
        { host: tunnel.host },
        'the tunnel closed: calls can no longer reach this server. Live calls go on where possible; restart to open a new tunnel',
      );
    });
  }

  /** Gives up a tunnel that is being opened. */
  giveUp(): void {
    this.#closing.abort();
  }

  /** Idempotent, never rejects. */
  async close(): Promise<void> {
    this.giveUp();
    await this.#tunnel?.close();
  }
}
