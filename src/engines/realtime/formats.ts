// In which formats a realtime model is spoken to.
import { type AudioFormat, isSameFormat, isTelephone } from '../../audio/format.js';
import type { RealtimeFormats, RealtimeModel } from '../../providers/realtime-model.js';
import type { EngineContext } from '../engine.js';

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

function chooseFormat(offered: readonly AudioFormat[], line: AudioFormat | undefined): AudioFormat {
  const isOwn = (format: AudioFormat) =>
    line !== undefined && isTelephone(line) && isSameFormat(format, line);
  const best = offered.find(isOwn) ?? offered[0];
  if (best === undefined) throw new TypeError('the realtime model offers no audio format');
  return best;
}
