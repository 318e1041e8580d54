// Models of the vendor that hear and speak, and stop. Source: OpenAI, deprecations.
import type { RetiringModels } from '../../wire/model-retirements.js';

export const OPENAI_REALTIME_RETIREMENTS: readonly RetiringModels[] = [
  {
    models: /^gpt-realtime-mini(-\d{4}-\d{2}-\d{2})?$/,
    lastDay: '2027-01-20',
    instead: 'gpt-realtime-2.1-mini',
    isRefusedNow: true,
  },
  {
    models: /^gpt-realtime(-\d{4}-\d{2}-\d{2})?$/,
    lastDay: '2027-01-20',
    instead: 'gpt-realtime-2.1',
    isRefusedNow: true,
  },
  {
    models: /^gpt-4o(-mini)?-realtime-preview/,
    lastDay: '2026-05-07',
    instead: 'gpt-realtime-2.1-mini',
  },
];
