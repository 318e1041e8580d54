// Formats of audio in the words of the service. Which ones a conversation has is a setting of the agent, and told at its start.
import { type AudioFormat, MULAW_8K, PCM_16K, PCM_24K, PCM_8K } from '../../../audio/format.js';

const FORMATS: ReadonlyMap<string, AudioFormat> = new Map([
  ['pcm_16000', PCM_16K],
  ['ulaw_8000', MULAW_8K],
  ['pcm_24000', PCM_24K],
  ['pcm_8000', PCM_8K],
]);

/** Those that we have, too. */
export const AGENT_FORMATS: readonly AudioFormat[] = [...FORMATS.values()];

export const AGENT_FORMAT_NAMES: readonly string[] = [...FORMATS.keys()];

/** Undefined for one that we do not have. */
export function readFormat(name: string): AudioFormat | undefined {
  return FORMATS.get(name);
}
