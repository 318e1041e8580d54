// Two questions of a load balancer: does the process live, and may it be sent more calls.
import type { RequestHandler } from 'express';

/** The process answers. Never needs a token. */
export const healthHandler: RequestHandler = (_request, response) => {
  response.json({ status: 'ok', mode: 'local' });
};

/** 200, or 503 while no further call is taken. */
export function createReadyHandler(isReady: () => boolean): RequestHandler {
  return (_request, response) => {
    const ready = isReady();
    response.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'unavailable' });
  };
}
