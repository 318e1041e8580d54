// Who serves a call now, stage by stage, and the facts about providers that were in trouble.
import type { CallFact } from '../contract/call-event.js';
import type { CallProviders, ProviderStage, VoiceMode } from '../contract/call-record.js';
import type { Recovery, Replacement } from '../providers/remedy.js';
import type { EngineContext } from './engine.js';

type Incident = Extract<CallFact, { type: 'incident.noted' }>;
type RemedyFact = Extract<CallFact, { type: 'provider.reconnected' | 'provider.replaced' }>;

export interface ProviderRosterOptions {
  readonly context: Pick<EngineContext, 'meters'>;
  readonly mode: VoiceMode;
  /** Those that the call begins with. */
  readonly providers: CallProviders;
  readonly tell: (fact: RemedyFact) => void;
}

/** What a provider tells of its troubles, of which those that were remedied are facts. */
interface RemedyListener {
  reconnected(recovery: Recovery): void;
  replaced(replacement: Replacement): void;
}

export class ProviderRoster {
  readonly #options: ProviderRosterOptions;
  #providers: CallProviders;

  constructor(options: ProviderRosterOptions) {
    this.#options = options;
    this.#providers = options.providers;
  }

  /** Another voice speaks from now on, and nobody has failed. */
  speaks(tts: string): CallProviders {
    this.#providers = { ...this.#providers, tts };
    return this.#providers;
  }

  listener(stage: ProviderStage): RemedyListener {
    return {
      reconnected: (recovery) => this.remedied(stage, { type: 'recovered', ...recovery }),
      replaced: (replacement) => this.remedied(stage, { type: 'replaced', ...replacement }),
    };
  }

  /** A provider has failed that the call can end without. */
  dispensable(stage: ProviderStage, code: string): Incident {
    const name = this.#providers[stage] ?? stage;
    const message = `${name} failed (${code}) and was not needed any more.`;
    return { type: 'incident.noted', code: 'provider-failed', message };
  }

  /** A provider has failed in one turn, and is asked again in the next. */
  passing(stage: ProviderStage, code: string): Incident {
    const name = this.#providers[stage] ?? stage;
    const message = `${name} failed (${code}). The caller heard an apology, and the call went on.`;
    return { type: 'incident.noted', code: 'turn-failed', message };
  }

  remedied(
    stage: ProviderStage,
    remedy: ({ type: 'recovered' } & Recovery) | ({ type: 'replaced' } & Replacement),
  ): void {
    const { mode, tell } = this.#options;
    if (remedy.type === 'recovered') {
      tell(toReconnected(stage, this.#providers[stage] ?? stage, remedy));
      return;
    }
    const { from, to, code, gapMs } = remedy;
    this.#options.context.meters.providerFailed(stage, code);
    this.#providers = { ...this.#providers, [stage]: to };
    tell({
      type: 'provider.replaced',
      stage,
      from,
      to,
      code,
      gapMs: toGapMs(gapMs),
      mode,
      provider: this.#providers,
    });
  }
}

/** `serving`: the provider that the call is with. */
export function toReconnected(
  stage: ProviderStage,
  serving: string,
  { provider = serving, code = 'PROVIDER_FAILED', gapMs }: Recovery,
): RemedyFact {
  return { type: 'provider.reconnected', stage, provider, code, gapMs: toGapMs(gapMs) };
}

/** A provider of the application may be plain JavaScript, and clocks have fractions. */
function toGapMs(gapMs: unknown): number {
  return typeof gapMs === 'number' && gapMs >= 0 && Number.isFinite(gapMs) ? Math.round(gapMs) : 0;
}
