// Two questions of a load balancer: does the process live, and may it be sent more calls.
import { jsonAnswer, type Route } from './routes.js';

/** The process answers: a phone server is `local`, a dashboard in a process of its own `dashboard`. Never needs a token. */
export function createHealthRoute(mode: 'local' | 'dashboard'): Route {
  const answer = jsonAnswer(200, { status: 'ok', mode });
  return () => answer;
}

/** Whether further calls are taken. `draining`: none will be any more. */
export type Readiness = 'ready' | 'draining' | 'unavailable';

/** 200, or 503 while no further call is taken. */
export function createReadyRoute(readiness: () => Readiness): Route {
  return () => {
    const status = readiness();
    return jsonAnswer(status === 'ready' ? 200 : 503, { status });
  };
}
