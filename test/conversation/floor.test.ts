import { expect, it } from 'vitest';
import { isLeaving, NOBODY_SPEAKS } from '../../src/conversation/floor.js';

it.each([
  ['nobody has to be heard', false, {}, true],
  ['the caller is owed an answer', true, {}, false],
  ['the caller has said something', false, { hasText: true }, false],
  ['the caller has pressed keys', false, { hasKeys: true }, false],
  ['the caller makes a sound', false, { isSounding: true }, false],
] as const)('takes leave of an idle caller, or not, where %s', (_, isCallerOwed, heard, leaves) => {
  const caller = {
    hasText: false,
    hasKeys: false,
    isPressing: false,
    isSounding: false,
    isActive: false,
    ...heard,
  };
  const manner = { ends: 'idle' } as const;
  const utterance = { id: 1, manner, text: 'Goodbye.', isPaused: false, isWhole: true };
  const floor = { phase: 'speaking', utterance, audibleAt: 0 } as const;
  expect(isLeaving({ ...NOBODY_SPEAKS, floor, manner, isCallerOwed }, { caller })).toBe(leaves);
});
