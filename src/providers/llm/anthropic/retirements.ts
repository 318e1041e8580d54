// Models of Anthropic that stop. Source: Anthropic, model deprecations.
import type { RetiringModels } from '../../wire/model-retirements.js';

export const ANTHROPIC_RETIREMENTS: readonly RetiringModels[] = [
  { models: /^claude-sonnet-4-5(-\d{8})?$/, lastDay: '2026-11-30', instead: 'claude-sonnet-5-5' },
];
