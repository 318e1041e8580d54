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
  readonly simulator: CarrierASimulator;
  readonly server: MortalServer;
  readonly clock: Clock;
  readonly firstAfterMs: number;
  readonly everyMs: number;
  /** Takes one line of text for each kill. */
  print(line: string): void;
  /** The server does not come back. */
  onFailure(error: unknown): void;
}

/** Kills the server on and on. `stop` resolves when it serves and is killed no more. */
export function startKills(options: KillOptions): { stop(): Promise<void> } {
  const { clock, everyMs, firstAfterMs } = options;
  let killing: Promise<void> = Promise.resolve();
  const next = (): void => {
    timer = clock.after(everyMs, next);
    killing = killOnce(options).catch(options.onFailure);
  };
  let timer = clock.after(firstAfterMs, next);
  return {
    async stop() {
      timer.cancel();
      await killing;
    },
  };
}

async function killOnce({ simulator, server, clock, print }: KillOptions): Promise<void> {
  const legs = simulator.legs.filter((leg) => !leg.isOver && leg.stream !== undefined);
  const killedMs = clock.now();
  const sinceKill = () => `${((clock.now() - killedMs) / 1000).toFixed(1)} s`;
  await server.kill();
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
