// What one call with a realtime model is made of: the recipe, everything that was left open in it filled in.
import type { RealtimeModel } from '../../providers/realtime-model.js';
import type { ToolBox } from '../tools/tool-box.js';
import type { IdleSettings, TurnTakingSettings } from '../turn-taking.js';

export interface RealtimeCallOptions {
  readonly model: RealtimeModel;
  readonly systemPrompt: string;
  readonly firstMessage: string;
  readonly language: string | undefined;
  readonly interruptible: boolean;
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
