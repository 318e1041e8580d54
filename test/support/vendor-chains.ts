// Calls of the pipeline whose stages may have a fallback each, and in which several vendors are in trouble at once.
import type { Clock } from '../../src/base/clock.js';
import { createPipelineRecipe } from '../../src/engines/pipeline/recipe.js';
import { DEFAULT_TURN_TAKING } from '../../src/engines/turn-taking.js';
import { Circuits } from '../../src/providers/circuits.js';
import { LanguageModelChain } from '../../src/providers/fallback/language-model-chain.js';
import { SpeechToTextChain } from '../../src/providers/fallback/speech-to-text-chain.js';
import { TextToSpeechChain } from '../../src/providers/fallback/text-to-speech-chain.js';
import type { ChatMessage, LanguageModel, LanguageModelRequest } from '../../src/providers/language-model.js';
import { type EmulatedVendor, LANGUAGE_MODELS, RECOGNISERS, rowOf, VOICES } from './emulated-vendors.js';
import type { Phase } from './call-moments.js';
import { playVendorCall, type VendorCallOutcome } from './vendor-call.js';
import { openScene } from './vendor-line-up.js';
import { GREETING, type Scene } from './vendor-scene.js';
import type { VendorTrouble } from './vendor-troubles.js';

export type PipelineStage = 'stt' | 'llm' | 'tts';

/** The first of each stage, and the one that is asked in its place. */
export const CHAINS = {
  stt: ['deepgram', 'assemblyai'],
  llm: ['chat', 'anthropic'],
  tts: ['elevenlabs', 'cartesia'],
} as const satisfies Record<PipelineStage, readonly [string, string]>;

/** A vendor of a chain, 0 for the first, and what happens to it. */
export interface Broken {
  readonly stage: PipelineStage;
  readonly place: 0 | 1;
  readonly trouble: VendorTrouble;
}

export interface ChainedCall {
  readonly broken: readonly Broken[];
  readonly phase: Phase;
  /** Stages that have a fallback. */
  readonly chained: readonly PipelineStage[];
  readonly fillers: readonly string[];
}

export interface ChainedOutcome extends VendorCallOutcome {
  readonly call: ChainedCall;
  /** What the language models were asked with. */
  readonly asked: readonly (readonly ChatMessage[])[];
}

export function nameOfChained({ broken, phase, chained, fillers }: ChainedCall): string {
  const troubles = broken.map(({ stage, place, trouble }) => `${CHAINS[stage][place]} ${trouble.name}`);
  const settings = [chained.length === 0 ? 'no fallback' : `fallback of ${chained.join(', ')}`];
  if (fillers.length > 0) settings.push('fillers');
  return `${troubles.join(' and ')}, at ${phase} (${settings.join(', ')})`;
}

export async function playChained(call: ChainedCall): Promise<ChainedOutcome> {
  const { broken, phase, chained, fillers } = call;
  const scene = openScene();
  const places = (stage: PipelineStage) => CHAINS[stage].slice(0, chained.includes(stage) ? 2 : 1);
  const startAll = <Provider>(stage: PipelineStage, rows: Parameters<typeof rowOf<Provider>>[0]) =>
    Promise.all(places(stage).map((name) => rowOf(rows, name).start(scene)));
  const stages = {
    stt: await startAll('stt', RECOGNISERS),
    llm: await startAll('llm', LANGUAGE_MODELS),
    tts: await startAll('tts', VOICES),
  };
  const emulators = [...stages.stt, ...stages.llm, ...stages.tts].map(({ emulator }) => emulator);
  const asked: (readonly ChatMessage[])[] = [];
  const recipe = (clock: Clock) => {
    const shared = { clock, circuits: new Circuits(clock) };
    const created = <Provider>(vendors: readonly EmulatedVendor<Provider>[]) =>
      vendors.map((vendor) => vendor.create(clock)) as [Provider, ...Provider[]];
    const [stt, llm, tts] = [created(stages.stt), created(stages.llm), created(stages.tts)];
    for (const model of llm) recordAsked(model, { scene, asked });
    return createPipelineRecipe({
      systemPrompt: 'You answer for a bakery.',
      firstMessage: GREETING,
      turnTaking: { ...DEFAULT_TURN_TAKING, fillers },
      stt: stt.length === 1 ? stt[0] : new SpeechToTextChain({ ...shared, members: stt }),
      llm: llm.length === 1 ? llm[0] : new LanguageModelChain({ ...shared, members: llm }),
      tts: tts.length === 1 ? tts[0] : new TextToSpeechChain({ ...shared, members: tts }),
    });
  };
  const begin = () => {
    for (const { stage, place, trouble } of broken) {
      const vendor = stages[stage][place];
      if (vendor === undefined) throw new Error(`there is no vendor ${place} of ${stage}`);
      trouble.begin(vendor.emulator);
    }
  };
  try {
    const outcome = await playVendorCall(
      {
        recipe,
        vendorClock: scene.clock,
        isConnected: () =>
          broken.every(({ stage, place }) => (stages[stage][place]?.emulator.openSockets ?? 0) > 0),
        lastQuestion: () => {
          scene.isLast = true;
        },
      },
      { phase, isEarly: broken.every(({ trouble }) => trouble.isEarly), begin },
      emulators,
    );
    return { ...outcome, call, asked };
  } finally {
    for (const emulator of emulators) await emulator.close();
  }
}

/** Keeps what a model is asked with, and tells the vendor which part of its answer is wanted. */
function recordAsked(
  model: LanguageModel,
  { scene, asked }: { scene: Scene; asked: (readonly ChatMessage[])[] },
): void {
  const respond = model.respond.bind(model);
  Object.assign(model, {
    respond(request: LanguageModelRequest) {
      asked.push(structuredClone(request.messages));
      const [said, goOn] = request.messages.slice(-2);
      scene.said = goOn?.role === 'system' && said?.role === 'assistant' ? said.content : undefined;
      return respond(request);
    },
  });
}
