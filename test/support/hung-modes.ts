// Calls of agents with two voice modes, both of which hang: the first from some moment of the call on, the second as soon as it is tried.
import type { Clock } from '../../src/base/clock.js';
import type { EngineRecipe } from '../../src/engines/engine.js';
import { createFallbackRecipe } from '../../src/engines/fallback-engine.js';
import { createPipelineRecipe } from '../../src/engines/pipeline-engine.js';
import { createRealtimeRecipe } from '../../src/engines/realtime-engine.js';
import { DEFAULT_TURN_TAKING } from '../../src/engines/turn-taking.js';
import { Circuits } from '../../src/providers/circuits.js';
import type { Emulator } from '../../src/testing/index.js';
import { FakeClock } from './fake-clock.js';
import { atATime, socketsLeft } from './provider-trouble.js';
import { type Ending, PHASES, type Phase, VendorCall } from './vendor-call.js';
import {
  GREETING,
  LANGUAGE_MODELS,
  REALTIME_MODELS,
  RECOGNISERS,
  type Scene,
  start,
  VOICES,
} from './vendor-line-up.js';
import { OUTAGES } from './vendor-troubles.js';

/** Who hangs: a realtime model, or one stage of a pipeline. */
export type HungMode = 'openai' | 'gemini' | 'agents' | 'stt' | 'llm' | 'tts';

/** `unreached`: no handshake is answered. `mute`: it is, and nothing more comes. */
export type Hanging = 'unreached' | 'mute';

export interface HungCall {
  readonly modes: readonly [first: HungMode, second: HungMode];
  readonly second: Hanging;
  readonly phase: Phase;
  readonly fillers: readonly string[];
}

export interface HungOutcome {
  readonly call: HungCall;
  readonly ending: Ending | undefined;
  readonly longestWaitMs: number;
  /** What the agent was heard to say, turn by turn. */
  readonly heard: readonly string[];
  readonly timersLeft: number;
  readonly socketsLeft: number;
  readonly violations: readonly string[];
}

const MODELS: readonly HungMode[] = ['openai', 'gemini', 'agents'];
const STAGES: readonly HungMode[] = ['stt', 'llm', 'tts'];
const FILLERS = ['One moment, please.', 'Let me see.'];
/** Longer than any call. */
const NEVER_MS = 3_600_000;

/**
 * Each realtime model before every other mode, and each pipeline before every model. Of a recogniser that is mute its own session thinks
 * that there was nothing to hear.
 */
export function hungCalls(): HungCall[] {
  const first = [
    ...MODELS.flatMap((one) => [...MODELS, ...STAGES].map((other) => [one, other] as const)),
    ...STAGES.flatMap((one) => MODELS.map((other) => [one, other] as const)),
  ];
  return first.flatMap((modes) => {
    const hasPipeline = modes.some((mode) => STAGES.includes(mode));
    const hangings: readonly Hanging[] = modes[1] === 'stt' ? ['unreached'] : ['unreached', 'mute'];
    return hangings.flatMap((second) =>
      (hasPipeline ? [[], FILLERS] : [[]]).flatMap((fillers) =>
        PHASES.map((phase) => ({ modes, second, phase, fillers })),
      ),
    );
  });
}

export function nameOfHung({ modes, second, phase, fillers }: HungCall): string {
  const with_ = fillers.length > 0 ? ', fillers' : '';
  return `${modes[0]} at ${phase}, then ${modes[1]} ${second}${with_}`;
}

/** The outcome of each, in the order of `calls`. */
export function playHung(calls: readonly HungCall[]): Promise<HungOutcome[]> {
  return atATime(calls, play);
}

/** A voice mode of the call. */
interface StartedMode {
  readonly emulators: readonly Emulator[];
  /** The one that is to hang. */
  readonly hung: Emulator;
  readonly recipe: (clock: Clock) => EngineRecipe;
}

async function play(call: HungCall): Promise<HungOutcome> {
  const scene: Scene = { clock: new FakeClock(), isLast: false, isTool: false, toolRuns: 0 };
  const [first, second] = [
    await startMode(call.modes[0], call, scene),
    await startMode(call.modes[1], call, scene),
  ] as const;
  const emulators = [...first.emulators, ...second.emulators];
  const played = new VendorCall({
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
  });
  const begin = () => {
    OUTAGES.find(({ name }) => name === 'frozen, and no handshake')?.begin(first.hung, call.modes[0]);
    if (call.second === 'unreached') second.hung.ignoreNext(1000);
    else second.hung.troubles = { delayMs: NEVER_MS };
  };
  try {
    await played.run(call.phase, begin, { isEarly: true });
    await played.close();
    // A model that is warmed up is not the call's: it waits for the answer a little longer.
    await played.wait(3000);
    const heard = emulators.filter((emulator) => call.second === 'unreached' || emulator !== second.hung);
    const left = await Promise.all(emulators.map(socketsLeft));
    return {
      call,
      ending: played.ending,
      longestWaitMs: played.longestWaitMs,
      heard: played.turns.map(({ agentText }) => agentText),
      timersLeft: played.clock.pending,
      socketsLeft: left.reduce((sum, each) => sum + each, 0),
      // Who hears nothing of a vendor breaks its rules.
      violations: heard.flatMap(({ violations }) => violations),
    };
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
    const { emulator, create } = await start(REALTIME_MODELS, mode, scene);
    const recipe = (clock: Clock) => createRealtimeRecipe({ ...agent, model: create(clock) });
    return { emulators: [emulator], hung: emulator, recipe };
  }
  const stt = await start(RECOGNISERS, 'deepgram', scene);
  const llm = await start(LANGUAGE_MODELS, 'chat', scene);
  const tts = await start(VOICES, 'elevenlabs', scene);
  return {
    emulators: [stt.emulator, llm.emulator, tts.emulator],
    hung: { stt, llm, tts }[mode].emulator,
    recipe: (clock) =>
      createPipelineRecipe({
        ...agent,
        stt: stt.create(clock),
        llm: llm.create(clock),
        tts: tts.create(clock),
      }),
  };
}
