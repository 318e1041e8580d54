import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/conversation/limits.js';
import { begun } from '../../src/conversation/state.js';
import {
  isTooLate,
  type LeftCall,
  stillOwed,
  unheardMs,
  waitedMs,
} from '../../src/conversation/succession.js';
import { beginWait, NOBODY_WAITS } from '../../src/conversation/wait.js';

const owing = { ...begun({ hasGreeting: false }), owed: { kind: 'answer' } as const };
const LEFT: LeftCall = { state: owing, resumption: null, hasTools: false, missedMs: 0, at: 10_000 };
const nothing: LeftCall = { ...LEFT, state: begun({ hasGreeting: false }) };

describe('what is owed to a caller whose engine is gone', () => {
  it('stays so', () => {
    expect(stillOwed(LEFT).owed.kind).toBe('answer');
    expect(stillOwed({ ...LEFT, resumption: 'continue' }).owed.kind).toBe('answer');
  });

  it('is nothing but the news for one who comes back from elsewhere, unless tools still run for them', () => {
    expect(stillOwed({ ...LEFT, resumption: 'listen' }).owed.kind).toBe('nothing');
    const news = 'Nobody is there.';
    expect(stillOwed({ ...LEFT, resumption: { news } }).owed).toEqual({
      kind: 'rest',
      text: news,
      manner: { isNews: true },
    });
    expect(stillOwed({ ...LEFT, resumption: 'listen', hasTools: true }).owed.kind).toBe('answer');
  });
});

describe('how long they have waited', () => {
  it('is since they spoke, or since the agent was heard where they did not', () => {
    expect(waitedMs(LEFT, { callerMs: 800, agentMs: 3000 })).toBe(800);
    expect(waitedMs(LEFT, { callerMs: undefined, agentMs: 3000 })).toBe(3000);
  });

  it('is nothing where nothing is owed and all they said was heard', () => {
    expect(waitedMs(nothing, { callerMs: 800, agentMs: 3000 })).toBeUndefined();
    expect(waitedMs({ ...nothing, missedMs: 1000 }, { callerMs: 800, agentMs: 3000 })).toBe(800);
    expect(waitedMs({ ...nothing, missedMs: 500 }, { callerMs: 800, agentMs: 3000 })).toBeUndefined();
  });

  it('begins anew behind a hold', () => {
    const back = { ...LEFT, resumption: 'continue' as const };
    expect(waitedMs(back, { callerMs: undefined, agentMs: 60_000 })).toBe(0);
    expect(waitedMs({ ...nothing, resumption: 'listen' }, { callerMs: 5, agentMs: 5 })).toBeUndefined();
  });
});

it('what nobody has heard is since the last who listened, and what came while there was no engine', () => {
  expect(unheardMs(LEFT)).toBe(0);
  const deaf = { ...owing, unheardSince: 8000 };
  expect(unheardMs({ ...LEFT, state: deaf })).toBe(2000);
  expect(unheardMs({ ...LEFT, state: deaf, missedMs: 2500 })).toBe(2500);
});

it('a third engine is not begun when the carrier could hardly apologize in time', () => {
  const { lastMs, minThirdMs } = LIMITS.silence;
  const wait = beginWait(NOBODY_WAITS, { since: 0, at: 0 });
  expect(isTooLate(wait, lastMs - minThirdMs)).toBe(false);
  expect(isTooLate(wait, lastMs - minThirdMs + 1)).toBe(true);
  expect(isTooLate(NOBODY_WAITS, 60_000)).toBe(false);
});

it('a third engine has a chance where the second is given up as soon as it begins', () => {
  const { lastMs, minThirdMs, replaceableMs } = LIMITS.silence;
  expect(lastMs - minThirdMs).toBeGreaterThan(replaceableMs);
});
