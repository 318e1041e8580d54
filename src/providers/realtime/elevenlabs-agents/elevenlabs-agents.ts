// An agent that is configured at ElevenLabs, in the place of a realtime model: the service hears, thinks and speaks, and this end of
// its socket replaces what the agent's settings let it replace. Source: ElevenLabs, Agents WebSocket and overrides.
import type { AudioFormat } from '../../../audio/format.js';
import { ConfigError } from '../../../base/errors.js';
import {
  checkBoolean,
  checkNumber,
  checkOptions,
  checkText,
  requireObject,
  requireText,
} from '../../../base/option-checks.js';
import type { ModelPrice } from '../../../contract/price.js';
import type { RealtimeContext, RealtimeModel, RealtimeSession } from '../../realtime-model.js';
import { type AccessNames, endpoint, resolveBaseUrl, resolveKey } from '../../wire/access.js';
import { HttpChannel } from '../../wire/http-channel.js';
import { signedOpening } from './access.js';
import { AGENT_FORMATS } from './formats.js';
import { ElevenLabsAgentsSession } from './session.js';
import type { AgentSettings } from './settings.js';

/** Each of them has to be allowed in the agent's security settings: the service ends a conversation that begins with another one. */
export interface ElevenLabsAgentsOverrides {
  /** Send the `systemPrompt`, where there is one. @default true */
  readonly prompt?: boolean | undefined;
  /** Send the `firstMessage`, where there is one. False: the agent greets with its own. @default true */
  readonly firstMessage?: boolean | undefined;
  /** Send the `language`, where there is one. @default true */
  readonly language?: boolean | undefined;
  /** Voice id to speak with. @default the agent's */
  readonly voice?: string | undefined;
}

export interface ElevenLabsAgentsOptions {
  /** The agent, as the service calls it. */
  readonly agentId: string;
  /** Signs each conversation. An agent that everybody may speak with needs none. @default ELEVENLABS_API_KEY */
  readonly apiKey?: string | undefined;
  /** @default ELEVENLABS_BASE_URL, then https://api.elevenlabs.io */
  readonly baseUrl?: string | undefined;
  /** Which settings of the agent are replaced. */
  readonly overrides?: ElevenLabsAgentsOverrides | undefined;
  /** Values of the variables that the agent's texts have. */
  readonly dynamicVariables?: Readonly<Record<string, string | number | boolean>> | undefined;
  /** What a minute of conversation costs on your plan, in US dollars, 0 or more. @default not known */
  readonly pricePerMinute?: number | undefined;
}

const WHERE = 'new ElevenLabsAgents()';

const NAMES: Readonly<Record<keyof ElevenLabsAgentsOptions, true>> = {
  agentId: true,
  apiKey: true,
  baseUrl: true,
  overrides: true,
  dynamicVariables: true,
  pricePerMinute: true,
};

const OVERRIDE_NAMES: Readonly<Record<keyof ElevenLabsAgentsOverrides, true>> = {
  prompt: true,
  firstMessage: true,
  language: true,
  voice: true,
};

const ACCESS: AccessNames = {
  vendor: 'ElevenLabs Agents',
  keyVariables: ['ELEVENLABS_API_KEY'],
  baseUrlVariable: 'ELEVENLABS_BASE_URL',
  defaultBaseUrl: 'https://api.elevenlabs.io',
};

const CONVERSATION = '/v1/convai/conversation';
const SIGNED_URL = `${CONVERSATION}/get-signed-url`;

export class ElevenLabsAgents implements RealtimeModel {
  readonly kind = 'realtime';
  readonly name = 'elevenlabs/agents';
  readonly inputFormats: readonly AudioFormat[] = AGENT_FORMATS;
  readonly outputFormats: readonly AudioFormat[] = AGENT_FORMATS;
  readonly transcribesCaller = true;
  readonly price: ModelPrice | undefined;
  readonly #agentId: string;
  readonly #key: string | undefined;
  readonly #base: URL;
  readonly #settings: AgentSettings;
  readonly #channel = new HttpChannel();

  /** @throws ConfigError */
  constructor(options: ElevenLabsAgentsOptions) {
    checkOptions(options, { known: Object.keys(NAMES), needed: ['agentId'] }, WHERE);
    this.#agentId = requireText(WHERE, 'agentId', options.agentId);
    this.#key = resolveKey(options.apiKey, ACCESS);
    this.#base = resolveBaseUrl(options.baseUrl, ACCESS);
    this.#settings = {
      overrides: toOverrides(options.overrides ?? {}),
      dynamicVariables: checkVariables(options.dynamicVariables ?? {}),
    };
    const cost = { min: 0, max: Number.MAX_SAFE_INTEGER, fallback: undefined };
    const perAudioMinute = checkNumber('pricePerMinute', options.pricePerMinute, cost);
    if (perAudioMinute !== undefined) this.price = { perAudioMinute };
  }

  open(context: RealtimeContext): RealtimeSession {
    const query = { agent_id: this.#agentId };
    const url = endpoint(this.#base, CONVERSATION, { kind: 'ws', query });
    const key = this.#key;
    return new ElevenLabsAgentsSession(context, {
      target: { url, headers: {}, names: ACCESS },
      settings: this.#settings,
      open:
        key === undefined
          ? undefined
          : signedOpening({
              channel: this.#channel,
              url: endpoint(this.#base, SIGNED_URL, { kind: 'http', query }),
              key,
            }),
    });
  }
}

function toOverrides(value: ElevenLabsAgentsOverrides): AgentSettings['overrides'] {
  const known = Object.keys(OVERRIDE_NAMES);
  checkOptions(value, { known }, 'overrides');
  return {
    prompt: checkBoolean('overrides.prompt', value.prompt, true),
    firstMessage: checkBoolean('overrides.firstMessage', value.firstMessage, true),
    language: checkBoolean('overrides.language', value.language, true),
    voice: checkText('overrides.voice', value.voice),
  };
}

function checkVariables(value: Readonly<Record<string, unknown>>): AgentSettings['dynamicVariables'] {
  const entries = Object.entries(requireObject(value, 'dynamicVariables')).map(([name, each]) => {
    if (typeof each === 'string' || typeof each === 'boolean') return [name, each] as const;
    if (typeof each === 'number' && Number.isFinite(each)) return [name, each] as const;
    throw new ConfigError(
      'CONFIG_INVALID',
      `dynamicVariables.${name} must be a string, a number, true or false.`,
    );
  });
  return Object.fromEntries(entries);
}
