// Models of OpenAI that write down what they hear, and stop, whichever way they are asked. Source: OpenAI, deprecations.
import type { RetiringModels } from '../model-retirements.js';

export const OPENAI_TRANSCRIPTION_RETIREMENTS: readonly RetiringModels[] = [
  {
    models: /^(whisper-1|gpt-4o(-mini)?-transcribe(-diarize)?(-\d{4}-\d{2}-\d{2})?)$/,
    lastDay: '2027-02-26',
    instead: 'gpt-transcribe',
  },
];
