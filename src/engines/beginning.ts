// What an engine begins with: a call in which nothing has happened, what another engine has left, or what another process has stored.
import { type Goodbye, isWanted, type Manner, type Unsaid } from '../conversation/floor.js';
import { begun, type ConversationState, type Owed, type Restored, restored } from '../conversation/state.js';
import type { CallFact } from '../contract/call-event.js';
import type { CallProviders, TranscriptEntry } from '../contract/call-record.js';
import { hasSaid } from '../conversation/handoffs.js';
import { languageAmong } from '../conversation/language.js';
import type { SessionHandle } from '../contract/session-handle.js';
import type { TurnFact } from '../conversation/turns.js';
import type { EngineContext, Resumed } from './engine.js';

type LanguageFact = Extract<CallFact, { type: 'language.changed' }>;

export interface Beginning {
  readonly state: ConversationState;
  /** Of what was cut off with another process, and of a language that the agent does not have: to be stated before anything else. */
  readonly facts: readonly (TurnFact | LanguageFact)[];
  /** What is said before what is owed; '' for nothing. */
  readonly bridge: string;
  /** What a realtime model can go on with in the place of the history. */
  readonly session?: SessionHandle | undefined;
}

export interface BeginningOptions {
  readonly hasGreeting: boolean;
  readonly transcribesCaller: boolean;
  /** What a caller is asked who was cut off. */
  readonly repeat: string;
  /** Those of the agent, the first one first: the call goes on in its own, or else in that. */
  readonly languages: readonly string[];
  readonly providers: CallProviders;
  /** Names of the voices that languages have of their own. @default none has */
  readonly voices?: Readonly<Record<string, string>> | undefined;
}

export function beginningOf(
  context: Pick<EngineContext, 'clock' | 'takeover' | 'resumed'>,
  options: BeginningOptions,
): Beginning {
  const beginning = stateOf(context, options);
  const { language } = beginning.state;
  const { languages, providers, voices = {} } = options;
  const tag = languageAmong(languages, language) ?? languages[0];
  if (tag === undefined || tag === language.tag) return beginning;
  const changed: LanguageFact[] =
    language.tag === null
      ? []
      : [
          {
            type: 'language.changed',
            language: tag,
            previous: language.tag,
            provider: { ...providers, tts: voices[tag] ?? providers.tts },
          },
        ];
  return {
    ...beginning,
    // The caller has not left it: who talks to them does not speak it.
    state: { ...beginning.state, language: { ...language, tag, heard: null } },
    facts: [...beginning.facts, ...changed],
  };
}

/** Whoever waited through the gap between two processes waits anew: the engine is not to blame for it. */
function stateOf(
  { clock, takeover, resumed }: Pick<EngineContext, 'clock' | 'takeover' | 'resumed'>,
  { hasGreeting, transcribesCaller, repeat }: BeginningOptions,
): Beginning {
  if (resumed === undefined) {
    const state = takeover?.state ?? begun({ hasGreeting });
    return { state, facts: [], bridge: state.handoffs?.say ?? '' };
  }
  const at = { now: clock.now(), wall: clock.wallNow() };
  const { state, facts, isCallerCutOff, session } = restored(resumed.state, { at, transcribesCaller });
  const untold = untoldOf(resumed, { state, facts });
  const isCutOff = isCallerCutOff || untold.some(({ role }) => role === 'user');
  const asksAgain = isCutOff && state.owed.kind !== 'goodbye' && state.owed.kind !== 'greeting';
  const owed = asksAgain ? askedAgain(state.owed, repeat) : owedOf(state, { hasGreeting });
  const isOver = owed.kind === 'goodbye' && owed.text === '';
  return {
    state: {
      ...state,
      // It is part of the bridge now.
      ...(state.handoffs && { handoffs: hasSaid(state.handoffs) }),
      owed,
      turns: { ...state.turns, suffix: suffixOf(resumed) },
      unheardSince: null,
      troubledSince: null,
    },
    facts: [...facts, ...untold.map(closed)],
    bridge: owed.kind === 'greeting' || isOver ? '' : bridgeOf(resumed),
    session: untold.length === 0 ? session : undefined,
  };
}

/** What somebody outside wants is said in any case, and the caller is asked behind it: two words at once leave them no time to answer. */
function askedAgain(owed: Owed, repeat: string): Owed {
  if (owed.kind !== 'rest' || !isWanted(owed)) return { kind: 'rest', text: repeat, manner: {} };
  // They may be cut off once more.
  return owed.text.endsWith(repeat) ? owed : { ...owed, text: `${owed.text} ${repeat}`.trim() };
}

/** Whoever has the caller since a hand-off may not have said so. */
function bridgeOf({ message, state: { handoffs } }: Resumed): string {
  return [message, handoffs?.say ?? ''].filter((each) => each !== '').join(' ');
}

/** Entries that are open, and of which the stored state knows nothing. */
function untoldOf(
  { open = [] }: Resumed,
  { state, facts }: Pick<Restored, 'state' | 'facts'>,
): readonly TranscriptEntry[] {
  const told = facts.flatMap((fact) => (fact.type === 'transcript.segment' ? [fact.entry.id] : []));
  // Those that are left are run again.
  const running = Object.keys(state.turns.tools);
  return open.filter(({ id }) => !told.includes(id) && !running.includes(id));
}

/** What the agent said then may not have been heard. */
function closed(entry: TranscriptEntry): TurnFact {
  const text = entry.role === 'agent' ? '' : entry.text;
  return { type: 'transcript.segment', entry: { ...entry, text, final: true } };
}

/** The agent may have no greeting any more. */
function owedOf({ owed }: ConversationState, { hasGreeting }: { hasGreeting: boolean }): Owed {
  return owed.kind === 'greeting' && !hasGreeting ? { kind: 'nothing' } : owed;
}

/** What entries of the transcript are named with, behind what they are named anyway. */
export function suffixOf(resumed: EngineContext['resumed']): string {
  return resumed === undefined ? '' : `.t${resumed.term}`;
}

/** The language that a call is in which another engine, or another process, has begun. */
export function languageLeft({
  takeover,
  resumed,
}: Pick<EngineContext, 'takeover' | 'resumed'>): string | null {
  return (takeover ?? resumed)?.state.language.tag ?? null;
}

/**
 * What is said first of all, word for word, as if nobody had been asked: the bridge, the greeting, the rest of other words or a goodbye. Undefined
 * where the caller is owed an answer, or nothing. `isAwaited`: the answer comes by itself.
 */
export function firstWordsOf(
  { bridge, state: { owed } }: Beginning,
  { greeting, isAwaited = false }: { readonly greeting: Unsaid; readonly isAwaited?: boolean },
): Unsaid | undefined {
  if (bridge !== '') return { text: bridge, manner: leadingTo(isAwaited ? { kind: 'nothing' } : owed) };
  switch (owed.kind) {
    case 'greeting':
      return greeting;
    case 'rest':
      return { text: owed.text, manner: owed.manner };
    case 'goodbye':
      return goodbye(owed);
    case 'answer':
    case 'nothing':
      return undefined;
  }
}

export function toGreeting(
  text: string,
  { interruptibleGreeting }: { readonly interruptibleGreeting: boolean },
): Unsaid {
  return { text, manner: interruptibleGreeting ? {} : { interruptible: false } };
}

/** How the bridge is said. */
function leadingTo(owed: Owed): Manner {
  switch (owed.kind) {
    case 'rest':
      return { leadsTo: { text: owed.text, manner: owed.manner } };
    case 'goodbye':
      return { leadsTo: goodbye(owed) };
    case 'answer':
      return { leadsTo: 'answer' };
    case 'greeting':
    case 'nothing':
      return { leadsTo: 'nothing' };
  }
}

function goodbye({ text, reason }: Goodbye): Unsaid {
  return { text, manner: { ends: reason } };
}
