// Calls in which one vendor is in trouble: the cells of the matrix, and what becomes of each.
import type { EngineFact } from '../../src/engines/engine.js';
import { rowOf, type TroubledStage, VENDORS } from './emulated-vendors.js';
import { PHASES, type Phase } from './call-moments.js';
import { playVendorCall, type VendorCallOutcome } from './vendor-call.js';
import { lineUp, TOOL_RESULT } from './vendor-line-up.js';
import type { VendorManner, VendorTrouble } from './vendor-troubles.js';

const STAGES: readonly TroubledStage[] = ['stt', 'llm', 'tts', 'engine'];

/** One cell of the matrix. */
export interface TroubledCall {
  readonly stage: TroubledStage;
  readonly vendor: string;
  readonly trouble: VendorTrouble;
  readonly phase: Phase;
  /** The answer to the question is made of what a tool gives, which takes its time. */
  readonly withTool?: boolean;
}

export interface TroubleOutcome extends VendorCallOutcome {
  readonly call: TroubledCall;
  /** Who serves the stage, as records show it. */
  readonly provider: string | null;
  /** Troubles that the record would say were remedied. */
  readonly reconnections: readonly Extract<EngineFact, { type: 'provider.reconnected' }>[];
  readonly toolRuns: number;
  /** The vendor's last connection was told what the tool gave. */
  readonly knowsResult: boolean;
}

/** Every vendor in each of these troubles that it can have, in every phase. */
export function cells(troublesOf: (manner: VendorManner) => readonly VendorTrouble[]): TroubledCall[] {
  return STAGES.flatMap((stage) =>
    Object.entries(VENDORS[stage]).flatMap(([vendor, manner]) =>
      troublesOf(manner)
        .filter(({ isPossible }) => isPossible?.(manner) ?? true)
        .flatMap((trouble) => PHASES.map((phase) => ({ stage, vendor, trouble, phase }))),
    ),
  );
}

export function mannerOf({ stage, vendor }: Pick<TroubledCall, 'stage' | 'vendor'>): VendorManner {
  return rowOf(VENDORS[stage], vendor);
}

export function nameOf({ vendor, trouble, phase }: TroubledCall): string {
  return `${vendor}, ${trouble.name}, at ${phase}`;
}

export async function playTroubled(call: TroubledCall): Promise<TroubleOutcome> {
  const { stage, vendor, trouble, phase } = call;
  await using vendors = await lineUp(stage, vendor, { withTool: call.withTool });
  const { scene, recipe, troubled, emulators } = vendors;
  const outcome = await playVendorCall(
    {
      recipe,
      vendorClock: scene.clock,
      isConnected: () => troubled.openSockets > 0,
      lastQuestion: () => {
        scene.isLast = true;
      },
    },
    {
      phase,
      isEarly: trouble.isEarly,
      begin: () => {
        trouble.begin(troubled, mannerOf(call).errors);
        const { lastsMs } = trouble;
        if (lastsMs !== undefined) scene.clock.after(lastsMs, () => trouble.end?.(troubled));
      },
    },
    emulators,
  );
  return {
    ...outcome,
    call,
    provider: recipe(scene.clock).providers[stage],
    reconnections: outcome.facts.filter((fact) => fact.type === 'provider.reconnected'),
    toolRuns: scene.toolRuns,
    knowsResult: JSON.stringify(troubled.connections?.at(-1) ?? null).includes(TOOL_RESULT),
  };
}
