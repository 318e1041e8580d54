// Two questions of a load balancer: does the process live, and may it be sent more calls.
import { jsonAnswer, type Route } from './routes.js';

/** The process answers: a phone server is `local`, a dashboard in a process of its own `dashboard`. Never needs a token. */
export function createHealthRoute(mode: 'local' | 'dashboard'): Route {
  const answer = jsonAnswer(200, { status: 'ok', mode });
  return () => answer;
}

/** 200, or 503 while no further call is taken. */
export function createReadyRoute(isReady: () => boolean): Route {
  return () =>
    isReady() ? jsonAnswer(200, { status: 'ready' }) : jsonAnswer(503, { status: 'unavailable' });
}
