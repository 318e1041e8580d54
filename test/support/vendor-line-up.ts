// The vendors of one call, all of them emulated on a clock of their own, and the recipe of an agent that works with them.
import type { Clock } from '../../src/base/clock.js';
import type { EngineRecipe } from '../../src/engines/engine.js';
import { createPipelineRecipe } from '../../src/engines/pipeline/recipe.js';
import { createRealtimeRecipe } from '../../src/engines/realtime/recipe.js';
import { createAgentTools } from '../../src/engines/tools/agent-tool.js';
import { DEFAULT_TURN_TAKING } from '../../src/engines/turn-taking.js';
import type { Emulator } from '../../src/testing/index.js';
import {
  type ConnectedEmulator,
  LANGUAGE_MODELS,
  REALTIME_MODELS,
  RECOGNISERS,
  rowOf,
  type TroubledStage,
  VOICES,
} from './emulated-vendors.js';
import { FakeClock } from './fake-clock.js';
import { GREETING, type Scene } from './vendor-scene.js';

/** What a tool gives, which the answer to the question is made of, after a time in which something can happen. */
export const TOOL_RESULT = 'apple, lemon';
const TOOL_MS = 900;

export interface LineUp extends AsyncDisposable {
  readonly scene: Scene;
  readonly emulators: readonly Emulator[];
  /** The vendor that is to be broken. */
  readonly troubled: ConnectedEmulator;
  readonly recipe: (clock: Clock) => EngineRecipe;
}

/** The vendors of one call, with `vendor` at `stage`; the others are those of a well-known house. */
export async function lineUp(
  stage: TroubledStage,
  vendor: string,
  options: { withTool?: boolean | undefined } = {},
): Promise<LineUp> {
  const scene = openScene({ isTool: options.withTool === true });
  const turnTaking = { ...DEFAULT_TURN_TAKING, fillers: [] };
  const agent = { systemPrompt: 'You answer for a bakery.', turnTaking };
  if (stage === 'engine') {
    const model = await rowOf(REALTIME_MODELS, vendor).start(scene);
    return open([model.emulator], model.emulator, scene, (clock) =>
      createRealtimeRecipe({
        ...agent,
        firstMessage: GREETING,
        model: model.create(clock),
        tools: lookUp(scene, clock),
      }),
    );
  }
  const stt = await rowOf(RECOGNISERS, stage === 'stt' ? vendor : 'deepgram').start(scene);
  const llm = await rowOf(LANGUAGE_MODELS, stage === 'llm' ? vendor : 'chat').start(scene);
  const tts = await rowOf(VOICES, stage === 'tts' ? vendor : 'elevenlabs').start(scene);
  const stages = { stt, llm, tts };
  const emulators = [stt.emulator, llm.emulator, tts.emulator];
  return open(emulators, stages[stage].emulator, scene, (clock) =>
    createPipelineRecipe({
      ...agent,
      firstMessage: GREETING,
      stt: stt.create(clock),
      llm: llm.create(clock),
      tts: tts.create(clock),
    }),
  );
}

export function openScene({ isTool = false } = {}): Scene {
  return { clock: new FakeClock(), isLast: false, isTool, toolRuns: 0 };
}

/** The tool that an answer may be made of. */
function lookUp(scene: Scene, clock: Clock) {
  return createAgentTools([
    {
      name: 'look_up',
      description: 'Knows what is there today.',
      execute: () => {
        scene.toolRuns += 1;
        return new Promise((resolve) => void clock.after(TOOL_MS, () => resolve(TOOL_RESULT)));
      },
    },
  ]);
}

function open(
  emulators: readonly Emulator[],
  troubled: ConnectedEmulator,
  scene: Scene,
  recipe: LineUp['recipe'],
): LineUp {
  return {
    scene,
    emulators,
    troubled,
    recipe,
    async [Symbol.asyncDispose]() {
      for (const emulator of emulators) await emulator.close();
    },
  };
}
