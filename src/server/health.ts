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

/** Whether further calls are taken. */
export interface Readiness {
  /** `draining`: none will be any more. */
  readonly status: 'ready' | 'draining' | 'unavailable';
  /** Why it is unavailable. `full`: `maxCalls`. `joining`: a node of a cluster that has yet to hear of the others, and does not know their calls. */
  readonly reason?: 'overloaded' | 'budget' | 'full' | 'joining';
  /** Of a cluster. Calls are taken without it all the same. */
  readonly broker?: 'there' | 'away';
}

/** 200, or 503 while no further call is taken. */
export function createReadyRoute(readiness: () => Readiness): Route {
  return () => {
    const said = readiness();
    return jsonAnswer(said.status === 'ready' ? 200 : 503, { ...said });
  };
}
