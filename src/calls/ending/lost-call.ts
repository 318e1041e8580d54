// Why a call ended with its process: no other one could go on with it. An incident of its record says so.

export const LOST_CODE = 'process-lost';

/** Each is one sentence for whoever reads the record. */
export const LOSSES = {
  'not-kept': 'The server process died, and live calls are not kept here: no other process could go on.',
  unreadable: 'The server process died, and what it had kept of the call was missing or damaged.',
  'other-carrier': 'The server process died, and the next one serves another carrier.',
  unplaced: 'The server process died, and nothing shows that the carrier had taken the call.',
  late: 'The server process died, and the next one started too late to go on with the call.',
  'hung-up': 'The server process died, and the call was over at the carrier before another one could go on.',
  'no-stream': 'The server process died, and no media stream reached the next one in time.',
  failed: 'The server process died, and the next one failed to go on with the call.',
} as const;

export type Loss = keyof typeof LOSSES;
