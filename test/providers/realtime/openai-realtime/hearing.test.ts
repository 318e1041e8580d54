import { expect, it } from 'vitest';
import { OpenAIRealtimeHearing } from '../../../../src/providers/realtime/openai-realtime/hearing.js';

it('nothing that one connection has heard of the caller is left on the next', () => {
  const hearing = new OpenAIRealtimeHearing();
  hearing.started();
  hearing.stopped(500);
  expect(hearing.grew('item', 'Three ')).toBe('Three ');
  hearing.reset();
  expect([hearing.isSpeaking, hearing.endMs]).toEqual([false, undefined]);
  expect(hearing.grew('item', 'loaves.')).toBe('loaves.');
});
