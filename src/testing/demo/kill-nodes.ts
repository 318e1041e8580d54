// Kills one node of the demo's cluster after the other, and says what the callers noticed.
import type { Clock } from '../../base/clock.js';
import { counted } from '../../base/counted.js';
import { pause } from '../../base/pause.js';
import type { CarrierASimulator } from '../carrier-a/simulator.js';
import type { DemoCluster } from './demo-cluster.js';

const LOOK_MS = 20;
/** A killed node stays away for as long. */
const AWAY_MS = 5000;
/** Who has not heard the agent again by then is not waited for. */
const PATIENCE_MS = 15_000;

export interface NodeKillerOptions {
  readonly simulator: Pick<CarrierASimulator, 'legs'>;
  readonly cluster: Pick<DemoCluster, 'nodes' | 'nodeOf'>;
  readonly clock: Clock;
  /** Takes one line of text for each kill. */
  print(line: string): void;
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

export class NodeKiller {
  #kills = 0;
  /** The longest time from a kill to the agent's voice. */
  #silenceMs: number | undefined;
  readonly #options: NodeKillerOptions;

  constructor(options: NodeKillerOptions) {
    this.#options = options;
  }

  /** Kills the next node, and starts it again unless `stopped`. @throws ConfigError when it does not serve again. */
  async kill(stopped: AbortSignal): Promise<void> {
    const { simulator, cluster, clock, print } = this.#options;
    const node = cluster.nodes[this.#kills % cluster.nodes.length];
    if (node === undefined) return;
    this.#kills += 1;
    const calls = simulator.legs.flatMap((leg) => {
      const { isOver, stream } = leg;
      return isOver || stream === undefined || cluster.nodeOf(stream) !== node ? [] : [{ leg, stream }];
    });
    const killedMs = clock.now();
    const sinceMs = () => clock.now() - killedMs;
    await node.kill();
    let silenceMs: number | undefined;
    /** Where the leg's caller hears the agent again. */
    const follow = async ({ leg, stream: lost }: (typeof calls)[number]): Promise<string> => {
      while (!stopped.aborted && !leg.isOver && sinceMs() < PATIENCE_MS) {
        const { stream } = leg;
        if (stream !== undefined && stream !== lost && stream.playback.lastSoundMs !== undefined) {
          silenceMs = Math.max(silenceMs ?? 0, sinceMs());
          return `went on at ${cluster.nodeOf(stream)?.name ?? 'one that is gone, too'}`;
        }
        await pause(clock, LOOK_MS, stopped);
      }
      return leg.isOver ? 'ended' : 'not heard again';
    };
    const revive = async (): Promise<void> => {
      await pause(clock, AWAY_MS, stopped);
      if (!stopped.aborted) await node.start();
    };
    const [fates, backAfterMs] = await Promise.all([Promise.all(calls.map(follow)), revive().then(sinceMs)]);
    if (silenceMs !== undefined) this.#silenceMs = Math.max(this.#silenceMs ?? 0, silenceMs);
    if (stopped.aborted) return;
    const parts = [...new Set(fates)]
      .sort()
      .map((fate) => `${fates.filter((other) => other === fate).length} ${fate}`);
    if (silenceMs !== undefined) parts.push(`silence up to ${seconds(silenceMs)}`);
    parts.push(`back after ${seconds(backAfterMs)}`);
    print(`${node.name} killed with ${counted(calls.length, 'call')} up: ${parts.join(', ')}`);
  }

  /** What the kills came to so far, one line each. */
  summary(): string[] {
    const silence = this.#silenceMs === undefined ? '' : `, silence up to ${seconds(this.#silenceMs)}`;
    return [`kills       ${this.#kills}${silence}`];
  }
}
