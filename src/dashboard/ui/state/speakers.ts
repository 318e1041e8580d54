// Who speaks in a call, by name where several agents do. Pure.
import type { CallRecord, TranscriptEntry, TranscriptRole } from '../../../contract/call-record.js';
import { UNKNOWN } from '../format.js';

/** A record may be older than its hand-offs. */
type Talk = Pick<CallRecord, 'agent' | 'turns'> & Partial<Pick<CallRecord, 'handoffs'>>;

const SPEAKERS: Readonly<Record<TranscriptRole, string>> = {
  user: 'Caller',
  agent: 'Agent',
  system: 'System',
  tool: 'Tool',
};

/** Whose turn is not complete is whoever talks now. One agent alone has no need of a name. */
export function speakerOf(
  { role, turnIndex }: Pick<TranscriptEntry, 'role' | 'turnIndex'>,
  { agent, handoffs = [], turns }: Talk,
): string {
  if (role !== 'agent' || handoffs.length === 0) return SPEAKERS[role];
  const turn = turns.find(({ index }) => index === turnIndex);
  return (turn === undefined ? agent : turn.agent) ?? SPEAKERS.agent;
}

/** All agents of a call, one after the other. */
export function agentsOf({ agent, handoffs: [first, ...others] = [] }: Omit<Talk, 'turns'>): string {
  if (first === undefined) return agent ?? UNKNOWN;
  return [first.from ?? SPEAKERS.agent, first.to, ...others.map(({ to }) => to)].join(' → ');
}
