// The people who call the demo: who they are and what they want.
import type { CallerStep } from '../caller-script.js';
import type { CallerVoice } from '../caller-voice.js';

export interface DemoCaller {
  /** What the call is about, in a few words. */
  topic: string;
  from: string;
  script: readonly CallerStep[];
}

function talk(voice: CallerVoice, texts: readonly string[]): CallerStep[] {
  return texts.flatMap((text): CallerStep[] => [{ type: 'wait-for-agent' }, { type: 'say', text, voice }]);
}

/** The callers, in the order of their calls; after the last one the first calls again. */
export const DEMO_CALLERS: readonly DemoCaller[] = [
  {
    topic: 'opening hours',
    from: '+15005550121',
    script: talk('rms', ['Hello. What are your opening hours?', 'Thank you very much. Goodbye.']),
  },
  {
    topic: 'an appointment',
    from: '+15005550134',
    script: talk('awb', [
      'I would like to book an appointment.',
      'On Tuesday, please.',
      'At ten.',
      'Thank you, goodbye.',
    ]),
  },
  {
    topic: 'a long answer, interrupted',
    from: '+15005550157',
    script: [
      ...talk('kal16', ['Please tell me a story.']),
      { type: 'interrupt', afterMs: 4000 },
      { type: 'say', text: 'Stop, please.', voice: 'kal16' },
      ...talk('kal16', ['When are you open?', 'Thanks, goodbye.']),
    ],
  },
];
