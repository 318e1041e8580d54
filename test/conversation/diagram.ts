// Draws the machine: every change of the floor's phase that any input brings about, found by trying all of them in every state that can be
// reached. States that differ in nothing that an input looks at are one.
import type { Account, FloorState } from '../../src/conversation/floor.js';
import type { TranscriptEntry } from '../../src/contract/call-record.js';
import { begun, type ConversationState } from '../../src/conversation/state.js';
import { type Input, type Live, type Policy, step } from '../../src/conversation/step.js';
import {
  type AnswerAccount,
  answerTo,
  called,
  goOnWithout,
  nextToolIds,
  toolSettled,
  type Turns,
} from '../../src/conversation/turns.js';
import { NOTHING_UNTAKEN } from '../../src/conversation/untaken.js';
import { owes, ready, type Watch, watching } from '../../src/conversation/watch.js';

const AT = { now: 0, wall: 0 };
/** Whatever waits is over. */
const LATE = { now: 1_000_000, wall: 1_000_000 };
const END = { endedAt: 0, isCutShort: false };
const TIMES = { speechEndedAt: 0, turnEndedAt: 0, isCutShort: false, isInSound: false };
const CUT: Account = {
  heard: 'An',
  unheard: 'answer.',
  rest: 'An answer.',
  isOwed: false,
  goodbye: undefined,
};
const answerOf = ({ heard, unheard }: Account): AnswerAccount => {
  return { heard, unheard, rounds: [], heardAfter: heard, isOwed: false };
};
const stopped = (account: Account): Input => ({ type: 'stopped', account, answer: answerOf(account) });
const failed = (stage: 'stt' | 'llm' | 'tts', { isPassing = false, hasFallback = false } = {}): Input => {
  return { type: 'failed', stage, isPassing, hasFallback, isAwaited: true, awaitedSince: null };
};

/** The first of them only where the floor is `stopping`, and the others only where it is not. */
const ANSWERS: readonly Input[] = [
  { type: 'stopped', account: null, answer: null },
  stopped(CUT),
  stopped({ ...CUT, heard: '' }),
];

const INPUTS: readonly Input[] = [
  { type: 'say', text: 'Hello.', manner: {} },
  { type: 'say', text: 'Goodbye.', manner: { ends: 'idle' } },
  { type: 'request', text: 'Hello.', manner: { request: 'one' }, interrupts: false },
  { type: 'request', text: 'Hello.', manner: { request: 'one' }, interrupts: true },
  { type: 'quiet', end: END, means: 'interrupted' },
  { type: 'quiet', end: END, means: 'signed' },
  { type: 'quiet', end: END, means: 'unknown' },
  { type: 'caller.complete' },
  { type: 'caller.finished', itemId: 'one', agoMs: 0 },
  { type: 'began', isMore: false },
  { type: 'results', isCurrent: true },
  { type: 'finished', answer: answerOf(CUT) },
  { type: 'response.ended', answer: 'given', hasTools: false },
  { type: 'response.ended', answer: 'empty', hasTools: false },
  { type: 'connection.lost', agoMs: 0, unansweredMs: null, isAnswered: false },
  { type: 'connection.back', isResponding: false, hearsAgain: false, gapMs: 0 },
  failed('stt'),
  failed('llm'),
  failed('llm', { isPassing: true }),
  failed('llm', { hasFallback: true }),
  failed('tts'),
  { type: 'resume', how: 'continue' },
  { type: 'resume', how: 'listen' },
  { type: 'resume', how: { news: 'The line is busy.' } },
  { type: 'keys.complete', keys: '1' },
  ...(
    [
      'interrupted',
      'doubted',
      'signed',
      'caller.active',
      'caller.speaks',
      'key',
      'cut-off',
      'audible',
      'whole',
      'ends',
      'over',
      'news',
      'goes-on',
      'apologizes',
      'hold',
      'due',
      'asked',
      'missed',
      'apology.begun',
      'failing',
      'gives-up',
      'ending',
      'end',
    ] as const
  ).map((type) => ({ type })),
];

const POLICIES: readonly Policy[] = [false, true].map((endsTurns) => ({
  interruptible: true,
  keysInterrupt: true,
  idle: { afterMs: 0, prompts: ['Are you there?'], goodbye: 'Goodbye.' },
  endsTurns,
  transcribesCaller: false,
}));

/** A turn that answers something or nothing (null: none is open), and a tool that has given what the caller is not told yet. */
function turnsOf({ said, hasNews }: { said: string | null; hasNews: boolean }, policy: Policy): Turns {
  const { turns } = begun({ hasGreeting: false });
  const asked = { text: said ?? '', startedAt: 0, at: AT };
  const open = said === null ? turns : answerTo(turns, asked, policy).turns;
  if (!hasNews) return open;
  const call = { id: 'one', name: 'look_up', arguments: {}, argumentsText: '{}' };
  const tool = { call, endsCall: false, joins: undefined, settlement: undefined };
  const [id = ''] = nextToolIds(open, 1);
  const running = goOnWithout(called(open, [tool], AT).turns, [id]);
  const told = { ...running, history: [{ role: 'tools' as const, text: '', tools: [id] }] };
  return toolSettled(told, { id, settlement: { text: '', error: null }, at: AT }).turns;
}

function watchOf({ isOwed, isCallerSpeaking }: { isOwed: boolean; isCallerSpeaking: boolean }): Watch {
  const fresh = { ...ready(watching({ isReplaceable: false }), 0), isCallerSpeaking };
  return isOwed ? owes(fresh, { isAsked: true, waitedMs: 0, at: 0 }) : fresh;
}

/**
 * How often a caller was asked beyond the last prompt makes no difference, nor which requests wait, unless one is what
 * the agent is stopped for: each is said as the agent's own words are.
 */
function floorOf({ idle, requests, ...state }: FloorState): FloorState {
  const isStopping = state.floor.phase === 'stopping';
  const { asked, dueAt } = idle;
  const floor = state.floor.phase === 'speaking' ? { ...state.floor, audibleAt: 0 } : state.floor;
  return {
    ...state,
    floor,
    idle: { asked: Math.min(asked, 1), dueAt: dueAt === null ? null : 0, latestAt: null },
    requests: isStopping ? requests.slice(0, 1) : [],
  };
}

function small({ floor }: ConversationState): ConversationState {
  return { ...begun({ hasGreeting: false }), floor: floorOf(floor) };
}

type Beside = Pick<ConversationState, 'turns' | 'watch' | 'untaken'> & { readonly live: Live };

const WORDS: TranscriptEntry = { id: 'one', turnIndex: 0, role: 'user', text: 'Yes.', at: 0, final: true };

/** What stands beside a floor: each is tried, as one may come of the other in a way that is not tried here. */
function besides(policy: Policy): Beside[] {
  const booleans = [false, true];
  const live = { hasVoice: true, awaitsTools: false };
  if (policy.endsTurns)
    return booleans.flatMap((isOwed) =>
      booleans.map((isCallerSpeaking): Beside => {
        const turns = turnsOf({ said: '', hasNews: false }, policy);
        const watch = watchOf({ isOwed, isCallerSpeaking });
        return { turns, watch, untaken: NOTHING_UNTAKEN, live: { ...live, isCaughtUp: !isOwed } };
      }),
    );
  const words = [
    { entries: [WORDS], said: '' },
    { entries: [], said: 'Yes.' },
    { entries: [], said: null },
  ];
  return words.flatMap(({ entries, said }) =>
    booleans.flatMap((hasNews) =>
      booleans.map((isEnded): Beside => {
        const turns = turnsOf({ said, hasNews }, policy);
        const watch = watchOf({ isOwed: false, isCallerSpeaking: false });
        const untaken = { ...NOTHING_UNTAKEN, entries, ended: isEnded ? TIMES : null };
        return { turns, watch, untaken, live: { ...live, isCaughtUp: true } };
      }),
    ),
  );
}

/** Which utterance it is makes no other state of it, nor whether somebody has asked for it. */
const NAMES = /"(?:id|nextId)":\d+|"request":"one"/g;

interface Reached {
  readonly state: ConversationState;
  readonly policy: Policy;
  /** What asked for the stop that is under way, and in which phase. */
  readonly asked: string;
  readonly origin: string;
}

function keyOf({ state: { floor }, policy, asked, origin }: Reached): string {
  return JSON.stringify([floor, policy.endsTurns, asked, origin]).replace(NAMES, '');
}

/** Mermaid's `stateDiagram-v2`, each edge with the inputs that take it. What a stop brings about is an edge of what asked for it. */
export function diagramOf(): string {
  const edges = new Map<string, Set<string>>();
  const seen = new Set<string>();
  const note = (from: string, to: string, by: string) => {
    if (from === to) return;
    const key = `${from} --> ${to}`;
    edges.set(key, (edges.get(key) ?? new Set()).add(by));
  };
  const first = begun({ hasGreeting: false });
  const beside = new Map(POLICIES.map((policy) => [policy, besides(policy)]));
  const open: Reached[] = POLICIES.map((policy) => ({
    state: small(first),
    policy,
    asked: '',
    origin: '',
  }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { state, policy, asked, origin } = next;
    const { phase } = state.floor.floor;
    for (const { live, ...rest } of beside.get(policy) ?? [])
      for (const input of phase === 'stopping' ? ANSWERS : INPUTS) {
        const at = input.type === 'due' ? LATE : AT;
        const after = small(step({ ...state, ...rest }, input, { at, live, policy }).state);
        const to = after.floor.floor.phase;
        const [from, by] = phase === 'stopping' ? [origin, asked] : [phase, input.type];
        const isStopping = to === 'stopping';
        if (!isStopping) note(from, to, by);
        const reached = { state: after, policy, asked: isStopping ? by : '', origin: isStopping ? from : '' };
        const key = keyOf(reached);
        if (seen.has(key)) continue;
        seen.add(key);
        open.push(reached);
      }
  }
  const lines = [...edges].map(([edge, by]) => `  ${edge}: ${[...by].sort().join(', ')}`).sort();
  return ['```mermaid', 'stateDiagram-v2', '  [*] --> listening', ...lines, '  over --> [*]', '```'].join(
    '\n',
  );
}
