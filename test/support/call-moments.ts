// Where a whole call stands, as its record shows it while it goes on.
import type { CallRecord } from '../../src/contract/call-record.js';

/** Where in a call something happens. */
export const PHASES = ['start', 'greeting', 'listening', 'thinking', 'speaking', 'goodbye'] as const;
export type Phase = (typeof PHASES)[number];

/** A filler says nothing of the turn yet. */
const speaksIn = (index: number) => (record: CallRecord) =>
  record.transcript.some(
    ({ id, role, turnIndex, text }) =>
      role === 'agent' && turnIndex === index && text !== '' && !id.startsWith('filler'),
  );

/** What the record of a call shows when a phase has begun. */
export const MOMENTS: Readonly<Record<Exclude<Phase, 'start'>, (record: CallRecord) => boolean>> = {
  greeting: speaksIn(0),
  listening: ({ turns }) => turns.length === 1,
  thinking: ({ transcript }) => transcript.some(({ role, final }) => role === 'user' && final),
  speaking: speaksIn(1),
  goodbye: speaksIn(2),
};
