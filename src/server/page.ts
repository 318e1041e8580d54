// The page and its API, for whoever asks: the web framework behind them is loaded then.
import type { RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { loadedOnUse } from '../base/loaded-on-use.js';
import type { PageOptions } from './page-app.js';
import { answerError, sendAnswer } from './routes.js';

/** Answers every request: what is nowhere with 404. @throws when the web framework is not installed. */
export function createPage(options: PageOptions): RequestListener {
  createRequire(import.meta.url).resolve('express');
  return loadedOnUse(
    async () => (await import('./page-app.js')).createPageApp(options),
    (error, request, response) => sendAnswer(response, answerError(error, request, options.logger)),
  );
}
