// Plays calls in which one vendor is in trouble, many at a time, and says what became of each.
import type { EngineFact } from '../../src/engines/engine.js';
import type { Emulator } from '../../src/testing/index.js';
import { type Ending, PHASES, type Phase, VendorCall } from './vendor-call.js';
import { lineUp, TOOL_RESULT, type TroubledStage } from './vendor-line-up.js';
import type { VendorTrouble } from './vendor-troubles.js';

/** One cell of the matrix. */
export interface TroubledCall {
  readonly stage: TroubledStage;
  readonly vendor: string;
  readonly trouble: VendorTrouble;
  readonly phase: Phase;
  /** The answer to the question is made of what a tool gives, which takes its time. */
  readonly withTool?: boolean;
}

export interface TroubleOutcome {
  readonly call: TroubledCall;
  readonly ending: Ending | undefined;
  readonly longestWaitMs: number;
  /** What the agent was heard to say, turn by turn. */
  readonly heard: readonly string[];
  /** What the person said, as the record has it, turn by turn. */
  readonly said: readonly string[];
  /** Troubles that the record would say were remedied. */
  /** Who serves the stage, as records show it. */
  readonly provider: string | null;
  /** From the trouble to the first of them. */
  readonly backAfterMs: number | undefined;
  readonly toolRuns: number;
  /** The vendor's last connection was told what the tool gave. */
  readonly knowsResult: boolean;
  readonly reconnections: readonly Extract<EngineFact, { type: 'provider.reconnected' }>[];
  /** Of the engine, when the call was over. */
  readonly timersLeft: number;
  /** To the vendor, when it has had a second of real time to notice that the call is over. */
  readonly socketsLeft: number;
  readonly violations: readonly string[];
}

/** Calls that are played at a time: they mostly wait for each other's moments. */
const AT_A_TIME = 40;
const CUT_WITHIN_MS = 2500;

export function cells(
  stage: TroubledStage,
  vendors: readonly string[],
  troubles: readonly VendorTrouble[],
): TroubledCall[] {
  return vendors.flatMap((vendor) =>
    troubles.flatMap((trouble) => PHASES.map((phase) => ({ stage, vendor, trouble, phase }))),
  );
}

export function nameOf({ vendor, trouble, phase }: TroubledCall): string {
  return `${vendor}, ${trouble.name}, at ${phase}`;
}

/** The outcome of each, in the order of `calls`. */
export function playAll(calls: readonly TroubledCall[]): Promise<TroubleOutcome[]> {
  return atATime(calls, play);
}

/** Plays many calls at a time. */
export async function atATime<Call, Outcome>(
  calls: readonly Call[],
  play: (call: Call) => Promise<Outcome>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < calls.length; index = next++) {
      const call = calls[index];
      if (call !== undefined) outcomes[index] = await play(call);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return outcomes;
}

async function play(call: TroubledCall): Promise<TroubleOutcome> {
  const { stage, vendor, trouble, phase } = call;
  await using vendors = await lineUp(stage, vendor, { withTool: call.withTool });
  const { scene, recipe, troubled } = vendors;
  const played = new VendorCall({
    recipe,
    vendorClock: scene.clock,
    isConnected: () => troubled.openSockets > 0,
    lastQuestion: () => {
      scene.isLast = true;
    },
  });
  await played.run(phase, () => trouble.begin(troubled, vendor), trouble);
  await played.close();
  return {
    call,
    ending: played.ending,
    longestWaitMs: played.longestWaitMs,
    said: played.turns.map(({ userText }) => userText),
    heard: played.turns.map(({ agentText }) => agentText),
    provider: recipe(scene.clock).providers[stage],
    backAfterMs: played.backAfterMs,
    toolRuns: scene.toolRuns,
    knowsResult: JSON.stringify(troubled.connections?.at(-1) ?? null).includes(TOOL_RESULT),
    reconnections: played.facts.filter((fact) => fact.type === 'provider.reconnected'),
    timersLeft: played.clock.pending,
    socketsLeft: await socketsLeft(troubled),
    violations: troubled.violations,
  };
}

export async function socketsLeft(emulator: Emulator): Promise<number> {
  const deadline = Date.now() + CUT_WITHIN_MS;
  while (emulator.openSockets > 0 && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 20));
  return emulator.openSockets;
}
