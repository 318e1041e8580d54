// The carrier's id of one call leg: opaque, and part of the path of every command.

/** Ids have up to some hundred characters. Dots alone would climb out of the path, whichever way they are written. */
const CALL_CONTROL_ID = /^(?!\.{1,2}$)[\x21-\x7e]{1,512}$/;

/** The id, when it is one that a command can be addressed to. */
export function toCallControlId(value: unknown): string | undefined {
  return typeof value === 'string' && CALL_CONTROL_ID.test(value) ? value : undefined;
}
