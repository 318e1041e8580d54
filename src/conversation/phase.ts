// What the caller experiences of the floor: the machine's phases in the words that records, events and the page have.
import type { CallPhase } from '../contract/call-record.js';
import type { FloorState, View } from './floor.js';

/** What the floor does not tell of the agent's voice. */
export interface VoiceView {
  /** The caller has heard all that there is of what is being said, and more is to come. */
  readonly isDry: boolean;
  /** They hear a filler, which is no part of what is about to be said. */
  readonly isFilling: boolean;
}

/** Neither side says anything, or is about to. */
export function isQuiet(phase: CallPhase | undefined): boolean {
  switch (phase) {
    case 'listening':
      return true;
    case 'hearing':
    case 'thinking':
    case 'speaking':
    case 'held':
    case 'ending':
    case undefined:
      return false;
  }
}

/**
 * Undefined where the floor does not say. `stopping` is half a step within one tick: it counts as the phase before it, until the driver has
 * told what was heard. `ending` and `over` are about one engine: whether the call ends with it only the owner of the call knows, for
 * another engine may take its place.
 */
export function phaseOf(
  { floor }: Pick<FloorState, 'floor'>,
  { caller, isAwaited }: Pick<View, 'caller' | 'isAwaited'>,
  { isDry, isFilling }: VoiceView,
): CallPhase | undefined {
  switch (floor.phase) {
    case 'listening':
      if (caller.isSounding) return 'hearing';
      if (isAwaited) return 'thinking';
      // What was said is not all there: it may have been no words.
      return caller.isActive ? 'hearing' : 'listening';
    case 'thinking':
    case 'speaking': {
      if (floor.utterance.isPaused && caller.isActive) return 'hearing';
      const isHeard = floor.phase === 'speaking' ? !isDry : isFilling;
      return isHeard ? 'speaking' : 'thinking';
    }
    case 'held':
      return 'held';
    case 'stopping':
    case 'ending':
    case 'over':
      return undefined;
  }
}
