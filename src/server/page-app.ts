// What Express answers: the page with its API, and whatever is nowhere.
import type { RequestListener } from 'node:http';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import { NotFoundError } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import type { ProxyTrust } from './proxy-trust.js';
import { answerError, sendAnswer } from './routes.js';

/** The dashboard as a server sees it. */
export interface DashboardMount {
  /** Answers what is its own, and calls `next` for everything else. */
  readonly handler: RequestHandler;
  /** True for a path that is the dashboard's alone, `/` not among them. */
  owns?(path: string): boolean;
  /** Tells its pages that the server is about to stop. */
  announceDrain?(): void;
  /** Tells its pages whether the broker of the cluster is there: without it, facts of the others are missing. */
  announceBroker?(isThere: boolean): void;
  /** Ends its event streams. Idempotent. */
  close(): void;
}

export interface PageOptions {
  readonly dashboard: DashboardMount | undefined;
  readonly trusts: ProxyTrust;
  readonly logger: Logger;
}

export function createPageApp({ dashboard, trusts, logger }: PageOptions): RequestListener {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');
  app.set('trust proxy', trusts);
  if (dashboard !== undefined) app.use(dashboard.handler);
  app.use(() => {
    throw new NotFoundError('No such path.');
  });
  const answerWhatFailed: ErrorRequestHandler = (error: unknown, request, response, next) => {
    const answer = answerError(error, request, logger);
    // Half an answer cannot be mended: Express cuts the connection.
    if (response.headersSent) next(error);
    else sendAnswer(response, answer);
  };
  app.use(answerWhatFailed);
  return app;
}
