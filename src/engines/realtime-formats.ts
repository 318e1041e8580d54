// In which formats a realtime model is spoken to.
import type { AudioFormat } from '../audio/format.js';
import type { RealtimeFormats, RealtimeModel } from '../providers/realtime-model.js';
import type { EngineContext } from './engine.js';

/** The line's own format where the model has it, and it is the telephone's; else the best that the model has. */
export function chooseFormats(
  model: Pick<RealtimeModel, 'inputFormats' | 'outputFormats'>,
  line: EngineContext['line'],
): RealtimeFormats {
  return {
    input: chooseFormat(model.inputFormats, line?.inbound),
    output: chooseFormat(model.outputFormats, line?.outbound),
  };
}

export function isSameFormat(one: AudioFormat, other: AudioFormat): boolean {
  return one.encoding === other.encoding && one.sampleRateHz === other.sampleRateHz;
}

function chooseFormat(offered: readonly AudioFormat[], line: AudioFormat | undefined): AudioFormat {
  const isLine = (format: AudioFormat) => line !== undefined && isSameFormat(format, line);
  const same = line?.encoding === 'pcm' ? undefined : offered.find(isLine);
  const best = same ?? offered[0];
  if (best === undefined) throw new TypeError('the realtime model offers no audio format');
  return best;
}
