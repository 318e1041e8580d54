import { describe, expect, it } from 'vitest';
import { type Floor, NOBODY_SPEAKS, type Utterance, type View } from '../../src/conversation/floor.js';
import { phaseOf, type VoiceView } from '../../src/conversation/phase.js';

const UTTERANCE: Utterance = { id: 1, manner: {}, text: null, isPaused: false, isWhole: false };
const PAUSED: Utterance = { ...UTTERANCE, isPaused: true };
const LISTENING = NOBODY_SPEAKS.floor;
const thinking = (utterance = UTTERANCE): Floor => ({ phase: 'thinking', utterance });
const speaking = (utterance = UTTERANCE): Floor => ({ phase: 'speaking', utterance, audibleAt: 0 });
const stopping: Floor = { phase: 'stopping', utterance: UTTERANCE, rest: null, next: { kind: 'nothing' } };
const held: Floor = { phase: 'held', rest: null, owes: { answer: true, results: false } };
const ending: Floor = { phase: 'ending', utterance: UTTERANCE, rest: null };

interface Beside extends Partial<VoiceView>, Partial<Pick<View, 'isAwaited'>> {
  readonly isSounding?: boolean;
  readonly isActive?: boolean;
}

function phaseBeside(floor: Floor, beside: Beside) {
  const { isSounding = false, isActive = isSounding, isAwaited = false, ...voice } = beside;
  const caller = { hasText: false, hasKeys: false, isPressing: false, isSounding, isActive };
  return phaseOf({ floor }, { caller, isAwaited }, { isDry: false, isFilling: false, ...voice });
}

describe('the phase that the caller experiences', () => {
  it.each<[string, Floor, Beside, string | undefined]>([
    ['nobody speaks', LISTENING, {}, 'listening'],
    ['the caller makes a sound', LISTENING, { isSounding: true }, 'hearing'],
    ['words of a sound are awaited', LISTENING, { isActive: true }, 'hearing'],
    ['an answer is to come by itself', LISTENING, { isAwaited: true, isActive: true }, 'thinking'],
    ['the caller goes on all the same', LISTENING, { isAwaited: true, isSounding: true }, 'hearing'],
    ['nothing is heard of an answer', thinking(), {}, 'thinking'],
    ['the caller goes on while it is thought of', thinking(), { isSounding: true }, 'thinking'],
    ['a filler is heard', thinking(), { isFilling: true }, 'speaking'],
    ['the answer is heard', speaking(), {}, 'speaking'],
    ['the caller talks over it', speaking(), { isSounding: true }, 'speaking'],
    ['it has run dry', speaking(), { isDry: true }, 'thinking'],
    ['it is silenced for a sound', speaking(PAUSED), { isActive: true }, 'hearing'],
    ['nobody listens', held, { isAwaited: true }, 'held'],
    ['what is said is being cut off', stopping, {}, undefined],
    ['this engine ends', ending, {}, undefined],
    ['nothing is left of it', { phase: 'over' }, {}, undefined],
  ])('while %s', (_, floor, beside, phase) => expect(phaseBeside(floor, beside)).toBe(phase));
});
