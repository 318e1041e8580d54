// What happened in a call beside its words.
import type { CallRecord } from '../../../contract/call-record.js';
import { formatDuration } from '../format.js';
import { timelineOf } from '../state/timeline.js';

export function Timeline({ record, masked }: { record: CallRecord; masked: boolean }) {
  return (
    <section aria-labelledby="timeline-title">
      <h3 id="timeline-title">Timeline</h3>
      <ol class="timeline">
        {timelineOf(record, { masked }).map(({ at, what, detail, isTrouble }, index) => (
          <li key={`${index} ${at} ${what}`} class={isTrouble ? 'trouble' : ''}>
            <time>{formatDuration(at - record.startedAt)}</time>
            <span dir="auto">
              <b>{what}</b> {detail}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
