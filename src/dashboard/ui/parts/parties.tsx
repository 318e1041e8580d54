// Who talks to whom, in the direction of the call.
import type { CallSummary } from '../../../contract/dashboard-api.js';
import { formatNumber } from '../format.js';

const ARROWS = { inbound: 'M11.5 4.5l-7 7M4.5 6v5.5H10', outbound: 'M4.5 11.5l7-7M6 4.5h5.5V10' };

export function Direction({ direction }: { direction: CallSummary['direction'] }) {
  return (
    <svg class={`direction ${direction}`} viewBox="0 0 16 16" role="img" aria-label={direction}>
      <title>{direction}</title>
      <path d={ARROWS[direction]} />
    </svg>
  );
}

export function Parties({ call, masked }: { call: CallSummary; masked: boolean }) {
  const isOutbound = call.direction === 'outbound';
  return (
    <span class="parties">
      <bdi class={isOutbound ? 'ours' : ''}>{formatNumber(call.caller, { masked })}</bdi>
      <span class="to" aria-hidden="true">
        →
      </span>
      <span class="unseen"> to </span>
      <bdi class={isOutbound ? '' : 'ours'}>{formatNumber(call.callee, { masked })}</bdi>
    </span>
  );
}

/** The AI providers of a call: one engine, or the parts of a pipeline. */
export function providersOf(call: CallSummary): string {
  const { engine, stt, llm, tts } = call.provider;
  return [engine, stt, llm, tts].filter((part) => part !== null).join(' · ') || '–';
}
