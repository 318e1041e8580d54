// Two questions of a load balancer: does the process live, and may it be sent more calls.
import { jsonAnswer, type Route } from './routes.js';

/**
 * The process answers: a phone server is `local`, a dashboard in a process of its own `dashboard`. Never needs a token. Once another process has taken
 * over, a proxy is to send everything there: the status says so, and nothing else changes it. A full server still has its calls.
 */
export function createHealthRoute(
  mode: 'local' | 'dashboard',
  isHandingOver: () => boolean = () => false,
): Route {
  return () => jsonAnswer(200, { status: isHandingOver() ? 'handing-over' : 'ok', mode });
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
