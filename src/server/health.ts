// Two questions of a load balancer: does the process live, and may it be sent more calls.
import type { RequestHandler } from 'express';

/** The process answers: a phone server is `local`, a dashboard in a process of its own `dashboard`. Never needs a token. */
export function createHealthHandler(mode: 'local' | 'dashboard'): RequestHandler {
  return (_request, response) => {
    response.json({ status: 'ok', mode });
  };
}

/** 200, or 503 while no further call is taken. */
export function createReadyHandler(isReady: () => boolean): RequestHandler {
  return (_request, response) => {
    const ready = isReady();
    response.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'unavailable' });
  };
}
