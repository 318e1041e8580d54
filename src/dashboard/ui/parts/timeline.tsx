// What happened in a call beside its words.
import type { CallRecord } from '../../../contract/call-record.js';
import type { Playhead } from '../state/playhead.js';
import { timelineOf } from '../state/timeline.js';
import { Jump } from './jump.js';

export interface TimelineProps {
  record: CallRecord;
  masked: boolean;
  /** Second 0 of the call, epoch milliseconds. */
  zero: number;
  head: Playhead;
}

export function Timeline({ record, masked, zero, head }: TimelineProps) {
  return (
    <section aria-labelledby="timeline-title">
      <h3 id="timeline-title">Timeline</h3>
      <ol class="timeline">
        {timelineOf(record, { masked }).map(({ at, what, detail, isTrouble }, index) => (
          <li key={`${index} ${at} ${what}`} class={isTrouble ? 'trouble' : ''}>
            <Jump at={at} zero={zero} head={head} />
            <span dir="auto">
              <b>{what}</b> {detail}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
