// Models of the services of the Chat Completions dialect that stop. Source: OpenAI, deprecations.
import type { RetiringModels } from '../../wire/model-retirements.js';
import type { ChatService } from './services.js';

const [SMALL, LARGE] = ['gpt-6-luna', 'gpt-6-sol'];

/** By service: what stops at one may live on at another, under the same name. */
export const CHAT_RETIREMENTS: Readonly<Partial<Record<ChatService, readonly RetiringModels[]>>> = {
  openai: [
    { models: /^gpt-5-(mini|nano)(-\d{4}-\d{2}-\d{2})?$/, lastDay: '2026-12-11', instead: SMALL },
    { models: /^(gpt-5|o3)(-\d{4}-\d{2}-\d{2})?$/, lastDay: '2026-12-11', instead: LARGE },
    { models: /^gpt-(4o|4\.1)-mini(-\d{4}-\d{2}-\d{2})?$/, lastDay: '2027-01-14', instead: SMALL },
    { models: /^gpt-(4o|4\.1)(-\d{4}-\d{2}-\d{2})?$/, lastDay: '2027-01-14', instead: LARGE },
  ],
};
