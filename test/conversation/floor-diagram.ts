// Draws the machine: every change of phase that any input brings about, found by trying all of them in every state that can be reached.
import {
  type Account,
  type FloorInput,
  type FloorPolicy,
  type FloorState,
  NOBODY_SPEAKS,
  type View,
} from '../../src/conversation/floor.js';
import { stepFloor } from '../../src/conversation/floor-step.js';

const END = { endedAt: 0, isCutShort: false };
const TIMES = { speechEndedAt: 0, turnEndedAt: 0, isCutShort: false, isInSound: false };
const CUT: Account = {
  heard: 'An',
  unheard: 'answer.',
  rest: 'An answer.',
  isOwed: false,
  goodbye: undefined,
};
const UNHEARD: Account = { ...CUT, heard: '' };

const INPUTS: readonly FloorInput[] = [
  { type: 'say', text: 'Hello.', manner: {} },
  { type: 'say', text: 'Goodbye.', manner: { ends: 'idle' } },
  { type: 'request', text: 'Hello.', manner: { request: 'one' }, interrupts: false },
  { type: 'request', text: 'Hello.', manner: { request: 'one' }, interrupts: true },
  { type: 'quiet', end: END, means: 'interrupted' },
  { type: 'quiet', end: END, means: 'signed' },
  { type: 'quiet', end: END, means: 'unknown' },
  { type: 'caller.complete', times: TIMES },
  { type: 'caller.finished', agoMs: 0 },
  { type: 'results', isCurrent: true },
  { type: 'stopped', account: null },
  { type: 'stopped', account: CUT },
  { type: 'stopped', account: UNHEARD },
  { type: 'resume', how: 'continue' },
  { type: 'resume', how: 'listen' },
  { type: 'resume', how: { news: 'The line is busy.' } },
  ...(
    [
      'interrupted',
      'doubted',
      'signed',
      'caller.active',
      'key',
      'keys.complete',
      'cut-off',
      'began',
      'audible',
      'whole',
      'ends',
      'finished',
      'over',
      'news',
      'goes-on',
      'hold',
      'due',
      'failing',
      'ending',
      'end',
    ] as const
  ).map((type) => ({ type })),
];

const POLICIES: readonly FloorPolicy[] = [false, true].map((endsTurns) => ({
  interruptible: true,
  keysInterrupt: true,
  idle: { afterMs: 0, prompts: ['Are you there?'], goodbye: 'Goodbye.' },
  endsTurns,
}));

function views(isHeld: boolean): View[] {
  const booleans = [false, true];
  return booleans.flatMap((hasText) =>
    booleans.flatMap((isOwed) =>
      booleans.map((isAwaited) => ({
        isListening: !isHeld,
        maySpeak: true,
        caller: { hasText, hasKeys: false, isSounding: false, isActive: false },
        turn: { userText: hasText ? '' : 'Yes.', isOwed, hasNews: false },
        isTakenOver: false,
        isAwaited,
        isCaughtUp: !isAwaited,
        awaitsTools: false,
      })),
    ),
  );
}

/**
 * How often a caller was asked beyond the last prompt makes no difference, nor which requests wait, unless one is what
 * the agent is stopped for: each is said as the agent's own words are.
 */
function small({ idle, requests, ...state }: FloorState): FloorState {
  const isStopping = state.floor.phase === 'stopping';
  return {
    ...state,
    idle: { ...idle, asked: Math.min(idle.asked, 1) },
    requests: isStopping ? requests.slice(0, 1) : [],
  };
}

/** Which utterance it is makes no other state of it, nor whether somebody has asked for it. */
const NAMES = /"(?:id|nextId)":\d+|"request":"one"/g;

/** Mermaid's `stateDiagram-v2`, each edge with the inputs that take it. What a stop brings about is an edge of what asked for it. */
export function diagramOf(): string {
  const edges = new Map<string, Set<string>>();
  const seen = new Set<string>();
  const note = (from: string, to: string, by: string) => {
    if (from === to) return;
    const key = `${from} --> ${to}`;
    edges.set(key, (edges.get(key) ?? new Set()).add(by));
  };
  const open: { state: FloorState; policy: FloorPolicy; asked: string; origin: string }[] = POLICIES.map(
    (policy) => ({ state: NOBODY_SPEAKS, policy, asked: '', origin: '' }),
  );
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { state, policy, asked, origin } = next;
    const key = JSON.stringify([state, policy.endsTurns, asked, origin]).replace(NAMES, '');
    if (seen.has(key)) continue;
    seen.add(key);
    const { phase } = state.floor;
    for (const view of views(phase === 'held'))
      for (const input of INPUTS) {
        const isAnswer = input.type === 'stopped';
        if (isAnswer !== (phase === 'stopping')) continue;
        const stepped = stepFloor(state, { ...input, at: 0 }, view, policy).state;
        if (stepped === state) continue;
        const after = small(stepped);
        const isStopping = after.floor.phase === 'stopping';
        const [from, by] = isAnswer ? [origin, asked] : [phase, input.type];
        if (!isStopping) note(from, after.floor.phase, by);
        open.push({ state: after, policy, asked: isStopping ? by : '', origin: isStopping ? from : '' });
      }
  }
  const lines = [...edges].map(([edge, by]) => `  ${edge}: ${[...by].sort().join(', ')}`).sort();
  return ['```mermaid', 'stateDiagram-v2', '  [*] --> listening', ...lines, '  over --> [*]', '```'].join(
    '\n',
  );
}
