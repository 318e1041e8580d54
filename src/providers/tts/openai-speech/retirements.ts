// Voices of OpenAI behind the speech dialect, which stop without a successor there. Source: OpenAI, deprecations.
import type { RetiringModels } from '../../wire/model-retirements.js';

export const OPENAI_SPEECH_RETIREMENTS: readonly RetiringModels[] = [
  {
    models: /^(tts-1(-hd)?|gpt-4o-mini-tts)(-\d{4}-\d{2}-\d{2}|-1106)?$/,
    lastDay: '2027-01-06',
    instead: "a server of your own, or another vendor's voice",
  },
];
