// What one call of the pipeline is made of: the recipe, everything that was left open in it filled in.
import type { CallContext } from '../../contract/call-context.js';
import type { CallProviders } from '../../contract/call-record.js';
import type { LanguageModel } from '../../providers/language-model.js';
import type { SpeechToText } from '../../providers/speech-to-text.js';
import type { TextToSpeech } from '../../providers/text-to-speech.js';
import type { AgentLanguages } from '../languages/agent-words.js';
import type { CallerWait } from './caller-wait.js';
import type { Guardrails } from './speaking/guardrails.js';
import type { ThinkingTimeouts } from './speaking/reply.js';
import type { ToolBox } from '../tools/tool-box.js';
import type { TurnTakingSettings } from '../turn-taking.js';

export interface PipelineCallOptions {
  /** As the recipe names them. */
  readonly providers: CallProviders;
  readonly call: CallContext;
  readonly stt: SpeechToText;
  readonly tts: TextToSpeech;
  readonly model: LanguageModel;
  readonly timeouts: ThinkingTimeouts;
  readonly wait: CallerWait;
  readonly systemPrompt: string | undefined;
  readonly firstMessage: string | undefined;
  readonly languages: AgentLanguages;
  readonly interruptible: boolean;
  readonly turnTaking: TurnTakingSettings;
  /** What the model may call; undefined for a language stage that gives text alone. */
  readonly tools?: ToolBox | undefined;
  readonly guardrails?: Guardrails | undefined;
  /** What else lives for this call, closed with it. */
  readonly owned?: readonly { close(): void }[];
}
