// Offhook: the client object. What it serves with is built in `client/runtime.ts`, the only place where all rooms meet.
import { isE164 } from './base/e164.js';
import { ConfigError, RequestError } from './base/errors.js';
import type { PlacedCall } from './calls/call-desk.js';
import type { Runtime, RunningServer, ServedCalls } from './client/runtime.js';
import { checkSayOptions, toInformation, toSpokenText } from './base/text-for-call.js';
import type { ForgetOutcome, SayOptions, SayOutcome } from './contract/call-command.js';
import type { HangUpState } from './contract/call-record.js';
import { Agent, type AgentOptions } from './options/agent.js';
import type { CallOptions } from './options/call.js';
import { checkDrainOptions, type DrainOptions } from './options/drain.js';
import { type CheckedClientOptions, type ClientOptions, checkClientOptions } from './options/client.js';
import {
  type AttachOptions,
  type CheckedServeOptions,
  checkAttachOptions,
  checkServeOptions,
  type ServeOptions,
} from './options/serve.js';
import type { AttachableServer } from './server/attachment.js';

/** A phone number and what answers it. */
export class Offhook {
  readonly #options: CheckedClientOptions;
  /** Undefined where nothing is served. */
  #loading: Promise<Runtime> | undefined;
  #runtime: Runtime | undefined;
  /** What was served last had started. */
  #hasServed = false;
  /** Those that have a name, by it. */
  readonly #agents = new Map<string, Agent>();
  /** Those that have tools of servers that no agent before them has: the servers are asked when this client serves. */
  readonly #equipped = new Set<Agent>();

  /** @throws ConfigError */
  constructor(options: ClientOptions) {
    this.#options = checkClientOptions(options);
  }

  /** Makes an agent: an immutable recipe for `serve` and `call`. @throws ConfigError, also for a name that another agent of this client has */
  agent(options: AgentOptions): Agent {
    const agent = new Agent(options);
    const { name, toolSources } = agent.options;
    if (name !== undefined && this.#agents.has(name)) {
      throw new ConfigError(
        'CONFIG_CONFLICT',
        `name must be unique: this client already has an agent named "${name}".`,
      );
    }
    if (name !== undefined) this.#agents.set(name, agent);
    const known = new Set([...this.#equipped].flatMap((equipped) => equipped.options.toolSources));
    if (toolSources.some((source) => !known.has(source))) this.#equipped.add(agent);
    return agent;
  }

  /** Answers calls until `disconnect`. Resolves when it listens. @throws ConfigError; nothing listens then. */
  async serve(options: ServeOptions): Promise<RunningServer> {
    this.#refuseTwo();
    return this.#open(checkServeOptions(options, this.#options), (runtime) => runtime.open());
  }

  /**
   * Answers calls on a `node:http` or `node:https` server of yours, until `disconnect`: webhooks and streams, `/health` and `/ready`, the
   * page at `/dashboard`, `/metrics`, `/api/openapi.json` and what is below `/api/dashboard/`. These come before your own routes;
   * every other request and upgrade, `/` included, is yours, whenever you add its listener. The server may listen already or later. It is
   * never closed here: `disconnect` first, then close it. Behind TLS of its own or a proxy, set `webhookUrl`.
   * @throws ConfigError, also for a server that has a phone
   */
  async attach(server: AttachableServer, options: AttachOptions): Promise<ServedCalls> {
    this.#refuseTwo();
    const { checkServer } = await import('./server/attachment.js');
    this.#refuseTwo();
    const http = checkServer(server);
    return this.#open(checkAttachOptions(options, this.#options), (runtime) => runtime.attach(http));
  }

  /**
   * Calls a number, while `serve` runs. Resolves when the carrier has taken the call; `ended` resolves with the record when it is
   * over and stored, and never rejects: whether it was answered, busy or failed stands in `outcome` and `endReason`.
   * @throws ConfigError for an option that cannot work or a setting that is missing, RequestError while and after shutting down,
   * LimitError when a budget is used up or the process is overloaded, CarrierError when the carrier refused or did not answer; of the last two a record tells as well.
   */
  async call(options: CallOptions): Promise<PlacedCall> {
    return this.#serving('call()').call(options);
  }

  /**
   * Ends a call. `callId` may be the carrier's id. Resolves once the carrier was asked: with `done`, with `pending` while it has not
   * confirmed the end and is asked again, or with `failed` when it refused. The record's `hangUp` says the same, and how it went on.
   * @throws NotFoundError, RequestError for one that is over at the carrier, too
   */
  async hangUp(callId: string): Promise<HangUpState> {
    return this.#serving('hangUp()').controls.hangUp(callId);
  }

  /**
   * Hands the caller over to a number (E.164). Resolves when the carrier has taken the order; the record's `transfer` tells the
   * result. @throws NotFoundError, RequestError for a number that is none or a call that is over, CarrierError
   */
  async transfer(callId: string, to: string): Promise<void> {
    const { controls } = this.#serving('transfer()');
    if (typeof to !== 'string' || !isE164(to)) {
      throw new RequestError('REQUEST_INVALID', 'transfer() takes a phone number like +15550123 (E.164).');
    }
    await controls.transfer(callId, to);
  }

  /**
   * Plays keys to the other side: `0-9 A-D # *`, and `w` and `W` for half a second and a second of silence; at most 32.
   * @throws NotFoundError, RequestError for other keys or a call that is over, CarrierError
   */
  async sendDigits(callId: string, digits: string): Promise<void> {
    await this.#serving('sendDigits()').controls.sendDigits(callId, digits);
  }

  /**
   * Has the agent say `text` on a live call, in its own voice: after what it says now, or (`interrupt`) instead of the rest of that. It never
   * talks over the caller, and what they have asked is answered. Markup is left out; at most 4,000 characters. Resolves with what became
   * of it once it was heard, or will not be. @throws NotFoundError, RequestError for a text that cannot be said, a call on which
   * nothing can be said or a server that was shut down, LimitError when 20 texts wait, ConfigError before `serve` has resolved
   */
  async say(callId: string, text: string, options: SayOptions = {}): Promise<SayOutcome> {
    const { controls } = this.#serving('say()');
    return controls.say(callId, toSpokenText(text), checkSayOptions(options));
  }

  /**
   * Tells the model of a live call something that nobody hears; `onMessage` gets it in `history`. It is in the conversation from then on,
   * and asks for no answer. At most 4,000 characters, and 100 texts on a call. Resolves when the next answer knows it.
   * @throws NotFoundError, RequestError for an empty text or a call that is over or not connected, LimitError
   */
  async inform(callId: string, text: string): Promise<void> {
    await this.#serving('inform()').controls.inform(callId, toInformation(text));
  }

  /**
   * Deletes a call that is over: its record, transcript and events, here, on disk and at dashboards, its recording on this machine, and what the
   * carrier recorded. Only its ID remains. Once more, it does what failed before. `callId` may be the carrier's. Resolves when no byte of it is left on this machine's disk; the answer says what became of the
   * recording at the carrier. @throws NotFoundError, RequestError for one that is live or yet to be hung up, StoreError when the disk fails
   */
  async forget(callId: string): Promise<ForgetOutcome> {
    return this.#serving('forget()').forget(callId);
  }

  /**
   * Records nothing of a live call on this machine until `resumeRecording`: both sides are silent there, for who listens in as well, and the record says
   * so in `pauses`. Before the call is connected, its recording begins paused. @throws NotFoundError, RequestError for a call that is over, and without
   * both `localRecording` and `listenIn`
   */
  async pauseRecording(callId: string): Promise<void> {
    await this.#serving('pauseRecording()').controls.pauseRecording(callId);
  }

  /** Goes on with the recording, unless a tool has paused it, too. @throws NotFoundError, RequestError for a call that is over, and without both `localRecording` and `listenIn` */
  async resumeRecording(callId: string): Promise<void> {
    await this.#serving('resumeRecording()').controls.resumeRecording(callId);
  }

  /**
   * Takes no new call, and disconnects once those that are up are over, or at other servers of a cluster, or after `timeoutSeconds`. Meanwhile inbound calls get the busy answer,
   * `call()` throws `LimitError`, `GET /ready` answers 503, and everything else works as before. Resolves when nothing is left, as
   * `disconnect` does, which may be called meanwhile to end at once. Of several drains, the one whose time is over first ends the calls. Does nothing when nothing is served.
   * @throws ConfigError for an option that cannot work
   */
  async drain(options?: DrainOptions): Promise<void> {
    const timeoutMs = checkDrainOptions(options);
    const loading = this.#loading;
    if (loading === undefined) return;
    // Why it was not loaded, `serve` says.
    const runtime = await loading.catch(() => undefined);
    await runtime?.drain(timeoutMs);
    await this.#close(loading);
  }

  /**
   * Stops listening, hangs up every call, closes every stream, and everything else in order. Resolves within `drainSeconds`, or
   * the second that the carrier has at least to hang up, and what `onCallEnd` needs, at most as long again. Nothing is left then: no
   * request, timer, socket or thread. Idempotent; does nothing when nothing is served. Never rejects.
   */
  async disconnect(): Promise<void> {
    if (this.#loading !== undefined) await this.#close(this.#loading);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.disconnect();
  }

  #refuseTwo(): void {
    if (this.#loading === undefined) return;
    throw new ConfigError('CONFIG_CONFLICT', 'This client is already serving: call disconnect() first.');
  }

  async #open<T>(options: CheckedServeOptions, open: (runtime: Runtime) => Promise<T>): Promise<T> {
    const loading = this.#load(options);
    this.#loading = loading;
    this.#hasServed = false;
    try {
      const runtime = await loading;
      this.#runtime = runtime;
      const opened = await open(runtime);
      this.#hasServed = true;
      if (options.handleSignals) runtime.drainOnSignal(() => this.drain());
      return opened;
    } catch (error) {
      await this.#close(loading);
      throw error;
    }
  }

  /** Who only makes an agent, or a test, does without all that serves. @throws ConfigError */
  async #load(options: CheckedServeOptions): Promise<Runtime> {
    const { Runtime } = await import('./client/runtime.js');
    const agentNamed = (name: string) => this.#agents.get(name);
    const agentNames = () => [...this.#agents.keys()];
    const equippedAgents = () => [...this.#equipped];
    return new Runtime(options, { ...this.#options, agentNamed, agentNames, equippedAgents });
  }

  async #close(loading: Promise<Runtime>): Promise<void> {
    // Why it was not loaded, `serve` says.
    const runtime = await loading.catch(() => undefined);
    await runtime?.close();
    if (this.#loading !== loading) return;
    this.#loading = undefined;
    this.#runtime = undefined;
  }

  #serving(what: string): Runtime {
    const runtime = this.#runtime;
    if (runtime?.isOpen === true) return runtime;
    // No setting is missing, and the call, if there was one, is over or elsewhere.
    if (this.#hasServed)
      throw new RequestError('REQUEST_CONFLICT', `${what} needs a running server: this one was shut down.`);
    throw new ConfigError(
      'CONFIG_MISSING',
      `${what} needs a running server: await phone.serve({ … }) first.`,
    );
  }
}
