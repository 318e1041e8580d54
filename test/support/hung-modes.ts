// Calls of agents with two voice modes, both of which hang: the first from some moment of the call on, the second as soon as it is tried.
import type { Clock } from '../../src/base/clock.js';
import type { EngineRecipe } from '../../src/engines/engine.js';
import { createFallbackRecipe } from '../../src/engines/fallback/recipe.js';
import { createPipelineRecipe } from '../../src/engines/pipeline/recipe.js';
import { createRealtimeRecipe } from '../../src/engines/realtime/recipe.js';
import { DEFAULT_TURN_TAKING } from '../../src/engines/turn-taking.js';
import { Circuits } from '../../src/providers/circuits.js';
import type { Emulator } from '../../src/testing/index.js';
import {
  type EmulatedVendor,
  LANGUAGE_MODELS,
  REALTIME_MODELS,
  RECOGNISERS,
  rowOf,
  VOICES,
} from './emulated-vendors.js';
import { PHASES, type Phase } from './call-moments.js';
import { playVendorCall, type VendorCallOutcome } from './vendor-call.js';
import type { Aspect } from './rotated.js';
import { openScene } from './vendor-line-up.js';
import { GREETING, type Scene } from './vendor-scene.js';
import { OUTAGES, type VendorTrouble } from './vendor-troubles.js';

/** Who hangs: a realtime model, or one stage of a pipeline. */
export type HungMode = 'openai' | 'gemini' | 'agents' | 'stt' | 'llm' | 'tts';

/** `unreached`: no handshake is answered. `mute`: it is, and nothing more comes. */
const HANGINGS = ['unreached', 'mute'] as const;
export type Hanging = (typeof HANGINGS)[number];

export interface HungCall {
  readonly modes: readonly [first: HungMode, second: HungMode];
  readonly second: Hanging;
  readonly phase: Phase;
  readonly fillers: readonly string[];
}

export interface HungOutcome extends VendorCallOutcome {
  readonly call: HungCall;
}

const MODELS: readonly HungMode[] = ['openai', 'gemini', 'agents'];
const STAGES: readonly HungMode[] = ['stt', 'llm', 'tts'];
const FILLERS = ['One moment, please.', 'Let me see.'];
const FROZEN = outageCalled('frozen, and no handshake');
/** Longer than any call. */
const NEVER_MS = 3_600_000;

/** Each realtime model before every other mode, and each pipeline before every model. */
export function hungCalls(): HungCall[] {
  const first = [
    ...MODELS.flatMap((one) => [...MODELS, ...STAGES].map((other) => [one, other] as const)),
    ...STAGES.flatMap((one) => MODELS.map((other) => [one, other] as const)),
  ];
  return first.flatMap((modes) => {
    const hasPipeline = modes.some((mode) => STAGES.includes(mode));
    return HANGINGS.flatMap((second) =>
      (hasPipeline ? [[], FILLERS] : [[]]).flatMap((fillers) =>
        PHASES.map((phase) => ({ modes, second, phase, fillers })),
      ),
    );
  });
}

/** Every two modes; each of them in every phase, hanging in every way, and with fillers and without. */
export const HUNG_ASPECTS: readonly Aspect<HungCall>[] = [
  ({ modes }) => `${modes}`,
  ({ modes: [, other], second }) => `${other}, ${second}`,
  ({ modes: [, other], fillers }) => `${other}, ${fillers}`,
  ({ modes: [first], fillers }) => `${first}, ${fillers}`,
  ({ modes: [first], phase }) => `${first}, ${phase}`,
  ({ modes: [, other], phase }) => `${other}, ${phase}`,
  ({ second, phase }) => `${second}, ${phase}`,
  ({ fillers, phase }) => `${fillers}, ${phase}`,
];

export function nameOfHung({ modes, second, phase, fillers }: HungCall): string {
  const with_ = fillers.length > 0 ? ', fillers' : '';
  return `${modes[0]} at ${phase}, then ${modes[1]} ${second}${with_}`;
}

/** A voice mode of the call. */
interface StartedMode {
  readonly emulators: readonly Emulator[];
  /** The one that is to hang. */
  readonly hung: Emulator;
  readonly recipe: (clock: Clock) => EngineRecipe;
}

export async function playHung(call: HungCall): Promise<HungOutcome> {
  const scene = openScene();
  const first = await startMode(call.modes[0], call, scene);
  const second = await startMode(call.modes[1], call, scene);
  const emulators = [...first.emulators, ...second.emulators];
  const begin = () => {
    FROZEN.begin(first.hung);
    if (call.second === 'unreached') second.hung.ignoreNext(1000);
    else second.hung.troubles = { delayMs: NEVER_MS };
  };
  try {
    const outcome = await playVendorCall(
      {
        recipe: (clock) =>
          createFallbackRecipe(
            [first, second].map(({ recipe }) => ({ recipe: recipe(clock), needs: [] })),
            new Circuits(clock),
          ),
        vendorClock: scene.clock,
        isConnected: () => first.hung.openSockets > 0,
        lastQuestion: () => {
          scene.isLast = true;
        },
        saysGoodbyeAgain: true,
        // A model that is warmed up is not the call's: it waits for its answer a little longer.
        closingMs: 5500,
      },
      { phase: call.phase, isEarly: FROZEN.isEarly, begin },
      emulators,
    );
    // Who hears nothing of a vendor breaks its rules.
    const isDeaf = (emulator: Emulator) => call.second === 'mute' && emulator === second.hung;
    const violations = emulators
      .flatMap((each) => (isDeaf(each) ? [] : each.violations))
      // No ping comes through to one whose connection is frozen.
      .filter((violation) => violation !== 'A ping was not answered in time.');
    return { ...outcome, call, violations };
  } finally {
    for (const emulator of emulators) await emulator.close();
  }
}

async function startMode(mode: HungMode, { fillers }: HungCall, scene: Scene): Promise<StartedMode> {
  const agent = {
    systemPrompt: 'You answer for a bakery.',
    firstMessage: GREETING,
    turnTaking: { ...DEFAULT_TURN_TAKING, fillers },
  };
  if (mode !== 'stt' && mode !== 'llm' && mode !== 'tts') {
    const { emulator, create } = await rowOf(REALTIME_MODELS, mode).start(scene);
    const recipe = (clock: Clock) => createRealtimeRecipe({ ...agent, model: create(clock) });
    return { emulators: [emulator], hung: emulator, recipe };
  }
  const stt = await rowOf(RECOGNISERS, 'deepgram').start(scene);
  const llm = await rowOf(LANGUAGE_MODELS, 'chat').start(scene);
  const tts = await rowOf(VOICES, 'elevenlabs').start(scene);
  const stages: Record<'stt' | 'llm' | 'tts', EmulatedVendor<unknown>> = { stt, llm, tts };
  return {
    emulators: [stt.emulator, llm.emulator, tts.emulator],
    hung: stages[mode].emulator,
    recipe: (clock) =>
      createPipelineRecipe({
        ...agent,
        stt: stt.create(clock),
        llm: llm.create(clock),
        tts: tts.create(clock),
      }),
  };
}

function outageCalled(name: string): VendorTrouble {
  const found = OUTAGES.find((trouble) => trouble.name === name);
  if (found === undefined) throw new Error(`there is no outage ${name}`);
  return found;
}
