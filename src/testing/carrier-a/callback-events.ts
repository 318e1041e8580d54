// The events that callbacks can be asked for, in the order in which they happen.

export const STATUS_EVENTS = ['initiated', 'ringing', 'answered', 'completed'] as const;
export const RECORDING_EVENTS = ['in-progress', 'completed', 'absent'] as const;

export type StatusEvent = (typeof STATUS_EVENTS)[number];

/** The chosen events; `completed` where none is chosen, undefined where one is unknown. */
export function readCallbackEvents(
  chosen: readonly string[],
  known: readonly string[],
): readonly string[] | undefined {
  const names = chosen.filter((name) => name !== '');
  if (names.some((name) => !known.includes(name))) return undefined;
  return names.length === 0 ? ['completed'] : names;
}
