// The dashboard: page, API and event stream over a store and a bus. Mounted in the server, or in a process of its own.
import { type Clock, systemClock } from '../base/clock.js';
import { ConfigError } from '../base/errors.js';
import { loadedOnUse } from '../base/loaded-on-use.js';
import { createLogger, type Logger } from '../base/log.js';
import type { CallControls, ForgetOutcome } from '../contract/call-command.js';
import type { CallEntry } from '../contract/dashboard-api.js';
import type { CallEvents } from '../contract/call-event.js';
import type { LiveSound } from '../contract/live-sound.js';
import type { CallReader } from '../stores/call-store.js';
import { Gatekeeper } from './auth.js';
import type { RecordingSource } from './call-audio.js';
import type { IngestEndpoint } from './ingest-endpoint.js';
import { LiveAudio } from './live-audio.js';
import { createPage, loadPage, type Page } from './page.js';
import type { DashboardHandler } from './router.js';
import { EventFeed } from './sse.js';

export interface DashboardOptions {
  /** What it shows: any `CallStore`, or `calls` of what `serve` returned. */
  store: CallReader;
  /** What happens meanwhile, for open pages: `events` of what `serve` returned, or what else hears every fact behind the store. */
  bus: CallEvents;
  /** Takes the commands of the page's buttons: the `Offhook` that serves. Null where this process owns no calls. */
  controls: CallControls | null;
  /** Deletes calls that are over. @default that of `controls`, where it has one; else no call can be deleted */
  forget?: (callId: string) => Promise<ForgetOutcome>;
  /** Protects page and API. Without it they are open to whoever reaches them by a trusted host name. */
  token?: string | undefined;
  /** Serve the page. The API is there in any case. @default true */
  page?: boolean;
  /** Takes the calls of other processes at `POST /api/dashboard/ingest`, for whoever has the token. @default none are taken */
  ingest?: IngestEndpoint;
  /** Host names of ours (`host`, `webhookUrl`), beside IP literals and loopback names. Asked only without a token. @default [] */
  allowedHosts?: readonly string[];
  /** Where this process takes calls. @default it takes none */
  entry?: () => CallEntry;
  /** Metrics of the process around, in the text exposition format, for `/metrics`. @default none */
  metrics?: () => string;
  /** Those of all servers of the cluster, by server, for `/metrics/servers`. @default there is none */
  serverMetrics?: (() => Promise<string>) | undefined;
  /** Recordings of calls, for `/api/dashboard/calls/{callId}/audio`. @default there are none */
  recordings?: RecordingSource | null;
  /** Calls that are up, for `/api/dashboard/calls/{callId}/listen`. @default nobody can listen in */
  liveSound?: LiveSound | null;
  /** @default JSON lines on standard error, level info */
  logger?: Logger;
  /** @default the real clock */
  clock?: Clock;
}

export interface Dashboard {
  /**
   * To be mounted at the root of an Express app, with `app.use(dashboard.handler)`. Answers `/`, `/dashboard`, `/metrics` and what is below
   * `/api`; mount it behind routes of your own that shall come first. Whether proxies are trusted is that app's `trust proxy`.
   */
  readonly handler: DashboardHandler;
  /** True for a path that is the dashboard's alone, `/` not among them. */
  owns(path: string): boolean;
  /** Sends every open page a new snapshot: what it was told no longer holds. */
  refresh(): void;
  /** Tells every page that the server is about to stop. */
  announceDrain(): void;
  /** Tells every page whether the broker of the cluster answers. @default it does */
  announceBroker(isThere: boolean): void;
  /** Ends every event stream, and everything that is listened to. Idempotent. */
  close(): void;
}

const PAGE_PATHS: readonly string[] = ['/dashboard', '/dashboard/'];
const OWN_PATHS = /^\/(?:metrics(?:\/servers)?|api\/openapi\.json|api\/dashboard\/.*)$/;

/** What stands in for a page that has not been built. */
const UNBUILT = createPage(
  '<!doctype html><html lang="en"><title>offhook</title><p>The page is not built. Run <code>npm run build</code>.</p></html>',
);

/** Builds a dashboard. It owns neither store nor events: `close` it before them. @throws ConfigError for an empty token. */
export function createDashboard(options: DashboardOptions): Dashboard {
  const { store, bus, controls, token, allowedHosts = [], clock = systemClock } = options;
  const logger = options.logger ?? createLogger({ level: 'info' });
  if (token === '') throw new ConfigError('CONFIG_INVALID', 'The dashboard token must not be empty.');
  const liveAudio = new LiveAudio({ sound: options.liveSound ?? null, store, clock, logger });
  const { isOffered: canListen } = liveAudio;
  const feed = new EventFeed({ store, bus, entry: options.entry, canListen, clock, logger });
  const parts = {
    gatekeeper: new Gatekeeper({ token, allowedHosts, clock, logger }),
    feed,
    store,
    page: options.page === false ? null : builtPage(logger),
    controls,
    forget: options.forget ?? controls?.forget?.bind(controls) ?? null,
    metrics: options.metrics ?? (() => ''),
    serverMetrics: options.serverMetrics ?? null,
    ingest: options.ingest ?? null,
    recordings: options.recordings ?? null,
    liveAudio,
    clock,
    logger,
  };
  // A server that only takes calls does without the web framework, the API's schemas and its document.
  const handler: DashboardHandler = loadedOnUse(
    async () => (await import('./router.js')).createRouter(parts),
    (error, _request, _response, next) => next(error),
  );
  const hasPage = options.page !== false;
  return {
    handler,
    owns: (path) => (hasPage && PAGE_PATHS.includes(path)) || OWN_PATHS.test(path),
    refresh: () => feed.refresh(),
    announceDrain: () => feed.announceDrain(),
    announceBroker: (isThere) => feed.announceBroker(isThere),
    close: () => {
      liveAudio.close();
      feed.close();
    },
  };
}

function builtPage(logger: Logger): Page {
  const page = loadPage();
  if (page === null) logger.warn({}, 'dashboard page not built');
  return page ?? UNBUILT;
}
