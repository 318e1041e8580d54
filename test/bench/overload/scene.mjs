// One server under load with everybody around it: callers, carrier and vendors in this process, the server in another one.
import { createDice, openWorld } from '../../trials/world.mjs';
import { ANSWER, Crowd } from './callers.mjs';
import { DoorLog } from './door.mjs';
import { MachineLog, separate } from './machine.mjs';

/** A server that is slower than its callers, as on a small machine: without the compilers and caches of V8. It is full before they are. */
export const SLOW = [
  '--no-opt',
  '--no-sparkplug',
  '--no-maglev',
  '--no-use-ic',
  '--no-lazy-feedback-allocation',
];

/** A shorter hole is shorter than those in speech itself. */
export const AUDIBLE_MS = 60;
/** What stood still so long before a gap may have torn it. */
const LOOK_BACK_MS = 500;

/** @param {import('../../trials/world.mjs').ServerPlan} plan */
export async function openScene(plan) {
  const world = await openWorld([{ ...plan, nodeFlags: SLOW }], { answer: ANSWER });
  const [exchange] = world.exchanges;
  const pid = exchange?.phone.pid;
  if (exchange === undefined || pid === undefined) throw new Error('no server');
  const place = separate(pid);
  const crowd = new Crowd(exchange.simulator, createDice(1));
  const door = new DoorLog(exchange.phone.url);
  const machine = new MachineLog(pid);
  return {
    phone: exchange.phone,
    crowd,
    door,
    machine,
    /** Who has which processor. */
    place,
    /** What each call that is over heard of the server's doing: its gaps that are long enough to be heard. `ofOthers` is how many were not. */
    gaps() {
      const audible = crowd.heard.map(({ gaps }) =>
        gaps.filter(({ durationMs }) => durationMs >= AUDIBLE_MS),
      );
      const own = audible.map((gaps) =>
        gaps.filter(
          ({ at, durationMs }) => machine.disturbedMs(at - LOOK_BACK_MS, at + durationMs) < durationMs,
        ),
      );
      return { own, ofOthers: audible.flat().length - own.flat().length };
    },
    async close() {
      machine.end();
      await door.end();
      await world.close();
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof openScene>>} Scene */
/** @typedef {ReturnType<Scene['gaps']>} Gaps */
