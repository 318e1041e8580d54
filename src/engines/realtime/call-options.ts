// What one call with a realtime model is made of: the recipe, everything that was left open in it filled in.
import type { CallContext } from '../../contract/call-context.js';
import type { CallProviders } from '../../contract/call-record.js';
import type { RealtimeModel } from '../../providers/realtime-model.js';
import type { ToolBox } from '../tools/tool-box.js';
import type { IdleSettings, TurnTakingSettings } from '../turn-taking.js';

export interface RealtimeCallOptions {
  readonly call: CallContext;
  readonly model: RealtimeModel;
  readonly systemPrompt: string;
  readonly firstMessage: string;
  readonly language: string | undefined;
  /** Those of the agent, the first one first. */
  readonly tags: readonly string[];
  /** As the recipe names them. */
  readonly providers: CallProviders;
  readonly interruptible: boolean;
  /** What a caller is asked whose words were lost. */
  readonly repeat: string;
  readonly turnTaking: TurnTakingSettings;
  readonly idle: IdleSettings | undefined;
  readonly tools: ToolBox;
}

/** Whether the caller can interrupt what is said first. */
export function isOpeningInterruptible(
  { interruptible, turnTaking }: Pick<RealtimeCallOptions, 'interruptible' | 'turnTaking'>,
  { isGreeting }: { readonly isGreeting: boolean },
): boolean {
  return interruptible && (turnTaking.interruptibleGreeting || !isGreeting);
}
