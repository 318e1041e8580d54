import { describe, expect, it } from 'vitest';
import { begun, restored } from '../../src/conversation/state.js';
import {
  NOTHING_UNTAKEN,
  pressed,
  sounds,
  unheard,
  type Untaken,
  worded,
} from '../../src/conversation/untaken.js';

const WORDS = { id: 'u1', turnIndex: 0, role: 'user', text: 'A table.', at: 0, final: true } as const;
const quiet = (untaken: Untaken): Untaken => ({ ...untaken, isSounding: false, ended: null });

describe('when the caller began to speak', () => {
  const once = quiet(sounds(NOTHING_UNTAKEN, 1000));

  it('is when they made the first sound, though its words come behind the next', () => {
    expect(sounds(once, 4000).startedAt).toBe(1000);
  });

  it('is not when they made a sound without words long before', () => {
    expect(sounds(once, 9000).startedAt).toBe(9000);
    expect(unheard(once).startedAt).toBeNull();
  });

  it('is when they made the sound of the words, or the keys, that nobody has answered', () => {
    for (const said of [worded(once, WORDS), pressed(once, 'The caller pressed 1')]) {
      expect(sounds(said, 60_000).startedAt).toBe(1000);
      expect(unheard(said).startedAt).toBe(1000);
    }
  });

  it('is when the sound began that goes on', () => {
    const on = sounds(NOTHING_UNTAKEN, 1000);
    expect(sounds(on, 20_000).startedAt).toBe(1000);
  });
});

describe('who was in the middle of something as their process died is asked for it', () => {
  const at = { now: 10_000, wall: 10_000 };
  const ended = { speechEndedAt: 9000, turnEndedAt: 9300, isCutShort: false, isInSound: false };

  it.each<[string, Partial<Untaken>, boolean]>([
    ['has said nothing', {}, false],
    ['has finished, and words are still to come', { ended }, true],
    ['presses keys', { isPressing: true }, true],
    ['is being written down', { entries: [{ ...WORDS, final: false }] }, true],
  ])('%s', (_, untaken, isCallerCutOff) => {
    const state = { ...begun({ hasGreeting: false }), untaken: { ...NOTHING_UNTAKEN, ...untaken } };
    expect(restored(state, { at, transcribesCaller: false }).isCallerCutOff).toBe(isCallerCutOff);
  });

  it('nobody takes leave of them', () => {
    const state = begun({ hasGreeting: false });
    const manner = { ends: 'idle' } as const;
    const utterance = { id: 1, text: 'Are you there? Goodbye.', manner, isPaused: false, isWhole: true };
    const floor = { ...state.floor, nextId: 2, manner, floor: { phase: 'thinking', utterance } } as const;
    const owed = (untaken: Untaken) =>
      restored({ ...state, floor, untaken }, { at, transcribesCaller: false }).state.owed.kind;
    expect(owed(NOTHING_UNTAKEN)).toBe('goodbye');
    expect(owed({ ...NOTHING_UNTAKEN, isPressing: true })).not.toBe('goodbye');
    expect(owed({ ...NOTHING_UNTAKEN, ended })).not.toBe('goodbye');
  });
});
