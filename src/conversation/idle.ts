// A caller who says nothing: asked whether they are there, asked again, and then let go. Pure.

/** When and with what to ask. */
export interface IdlePolicy {
  readonly afterMs: number;
  readonly prompts: readonly string[];
  readonly goodbye: string;
}

/** `dueAt`: when to look after the caller next; null while nobody is asked. */
export interface IdleState {
  readonly asked: number;
  readonly dueAt: number | null;
  /** A caller who makes a sound is waited for until then; null before the first look. */
  readonly latestAt: number | null;
}

/** What a look has come to: nothing yet, a prompt, or the goodbye. */
export interface IdleLook {
  readonly state: IdleState;
  readonly say: { readonly text: string; readonly isLast: boolean } | null;
}

const LOOK_AGAIN_MS = 500;

export const NOT_IDLE: IdleState = { asked: 0, dueAt: null, latestAt: null };

/** The agent has fallen silent: it is the caller's turn. */
export function idleWaits(state: IdleState, at: number, policy: IdlePolicy | undefined): IdleState {
  return policy === undefined ? state : { ...state, dueAt: at + policy.afterMs, latestAt: null };
}

/** The agent speaks, or nobody is there to be asked. */
export function idlePaused(state: IdleState): IdleState {
  return { ...state, dueAt: null, latestAt: null };
}

/** The caller has said or pressed something: how often they were asked is forgotten. */
export function callerActive(state: IdleState, at: number, policy: IdlePolicy | undefined): IdleState {
  const active = { ...state, asked: 0 };
  return state.dueAt === null ? active : idleWaits(active, at, policy);
}

/** The time has come. A caller who makes a sound is waited for once more as long, but not for ever: music never ends. */
export function idleDue(
  state: IdleState,
  { at, isSounding }: { at: number; isSounding: boolean },
  policy: IdlePolicy | undefined,
): IdleLook {
  if (policy === undefined || state.dueAt === null || at < state.dueAt) return { state, say: null };
  const latestAt = state.latestAt ?? state.dueAt + policy.afterMs;
  if (isSounding && at < latestAt)
    return { state: { ...state, dueAt: at + LOOK_AGAIN_MS, latestAt }, say: null };
  const prompt = policy.prompts[state.asked];
  const say = { text: prompt ?? policy.goodbye, isLast: prompt === undefined };
  return { state: { asked: state.asked + 1, dueAt: null, latestAt: null }, say };
}
