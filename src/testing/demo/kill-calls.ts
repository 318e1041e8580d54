// Kills the demo's server again and again, in the middle of calls, and says what became of them.
import type { Clock } from '../../base/clock.js';
import { counted } from '../../base/counted.js';
import { maskPhone } from '../../base/redact.js';
import type { CarrierASimulator } from '../carrier-a/simulator.js';
import type { MortalServer } from './mortal-server.js';

const LOOK_MS = 20;
/** A call that has no stream by then is not waited for. */
const PATIENCE_MS = 8000;

export interface KillOptions {
  readonly clock: Clock;
  readonly firstAfterMs: number;
  readonly everyMs: number;
  /** Resolves when what is killed serves again, or is not to any more. */
  kill(stopped: AbortSignal): Promise<void>;
  /** It does not come back. */
  onFailure(error: unknown): void;
}

/** Kills on and on, one at a time. `stop` resolves when nothing is killed any more. */
export function startKills(options: KillOptions): { stop(): Promise<void> } {
  const { clock, everyMs, firstAfterMs } = options;
  const stopping = new AbortController();
  let killing: Promise<void> | undefined;
  const next = (): void => {
    timer = clock.after(everyMs, next);
    killing ??= options
      .kill(stopping.signal)
      .catch(options.onFailure)
      .finally(() => {
        killing = undefined;
      });
  };
  let timer = clock.after(firstAfterMs, next);
  return {
    async stop() {
      timer.cancel();
      stopping.abort();
      await killing;
    },
  };
}

export interface KilledServer {
  readonly simulator: CarrierASimulator;
  readonly server: Pick<MortalServer, 'kill' | 'start'>;
  readonly clock: Clock;
  /** Takes one line of text. */
  print(line: string): void;
}

/** Kills the server and starts it again, and says what became of its calls. @throws ConfigError when it does not serve again. */
export async function killServer({ simulator, server, clock, print }: KilledServer): Promise<void> {
  const legs = simulator.legs.filter((leg) => !leg.isOver && leg.stream !== undefined);
  const killedMs = clock.now();
  const sinceKill = () => `${((clock.now() - killedMs) / 1000).toFixed(1)} s`;
  await server.kill();
  await server.start();
  const backAfter = sinceKill();
  const fates = legs.map(async (leg) => {
    const caller = maskPhone(leg.facts.from);
    while (clock.now() - killedMs < PATIENCE_MS && !leg.isOver && leg.stream === undefined)
      await new Promise<void>((resolve) => void clock.after(LOOK_MS, resolve));
    return leg.stream === undefined
      ? `the call from ${caller} is lost`
      : `the call from ${caller} went on after ${sinceKill()}`;
  });
  const told = await Promise.all(fates);
  print(
    [`server killed with ${counted(legs.length, 'call')} up, back after ${backAfter}`, ...told].join(', '),
  );
}
