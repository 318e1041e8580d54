// Who was loud when: both sides of a call over its length, with turns, cuts and what the carrier acknowledged.
import { useMemo } from 'preact/hooks';
import type { AudioEnvelope, Turn } from '../../../contract/call-record.js';
import { formatCount, formatDuration } from '../format.js';
import { condense, outlinePath, shapeOf } from '../state/envelope.js';

const WIDTH = 600;
const HALF = 24;
const HEIGHT = 4 * HALF + 12;

export function EnvelopeView({ envelope, turns }: { envelope: AudioEnvelope; turns: readonly Turn[] }) {
  const shape = useMemo(() => shapeOf(envelope), [envelope]);
  if (shape === null || shape.lengthMs === 0) return null;
  const { caller, agent, lengthMs } = shape;
  const x = (atMs: number) => Math.min(WIDTH, (atMs / lengthMs) * WIDTH);
  const path = (side: typeof caller, middle: number) => {
    const columns = condense(side, WIDTH);
    const width = (side.length * envelope.bucketMs * WIDTH) / lengthMs;
    return outlinePath(columns, { middle, half: HALF, width });
  };
  const turnsMs = turns.map((turn) => turn.startedAt - envelope.startedAt).filter((at) => at >= 0);
  const ticks = (list: readonly number[], kind: string, place: { from: number; to: number }) =>
    list.map((at) => (
      <path key={`${kind} ${at}`} class={kind} d={`M${x(at).toFixed(1)} ${place.from}V${place.to}`} />
    ));
  return (
    <section aria-labelledby="audio-title">
      <h3 id="audio-title">
        Audio
        <small>
          {formatDuration(lengthMs)} · {formatCount(envelope.clearsMs.length, 'interruption')}
        </small>
      </h3>
      <svg
        class="envelope"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Loudness of caller and agent over ${formatDuration(lengthMs)}, with ${formatCount(turnsMs.length, 'turn')} and ${formatCount(envelope.clearsMs.length, 'interruption')}`}
      >
        <path class="caller" d={path(caller, HALF + 2)} />
        <path class="agent" d={path(agent, 3 * HALF + 6)} />
        {ticks(turnsMs, 'tick-turn', { from: 0, to: HEIGHT })}
        {ticks(envelope.marksMs, 'tick-mark', { from: HEIGHT - 5, to: HEIGHT })}
        {ticks(envelope.clearsMs, 'tick-clear', { from: 0, to: HEIGHT })}
      </svg>
      <ul class="legend" aria-hidden="true">
        <li>
          <i class="caller" />
          Caller
        </li>
        <li>
          <i class="agent" />
          Agent, as heard
        </li>
        <li>
          <i class="tick-turn" />
          Turn
        </li>
        <li>
          <i class="tick-clear" />
          Interrupted
        </li>
        <li>
          <i class="tick-mark" />
          Playback confirmed
        </li>
      </ul>
    </section>
  );
}
