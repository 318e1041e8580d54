// What a realtime model has used: its tokens of text and audio count as language model, and its transcription of the caller
// as speech-to-text. Time that a session is paid for is audio that the model listens to.
import type { RealtimeUsage } from '../../providers/realtime-model.js';
import type { UsageMeter } from '../usage-meter.js';

export function countRealtime(meter: UsageMeter, usage: RealtimeUsage): void {
  if (usage.kind === 'transcription') meter.heard(usage);
  if (usage.kind === 'session') meter.attended(usage);
  if (usage.kind !== 'response') return;
  meter.thought({
    inputTokens: usage.inputTextTokens + usage.inputAudioTokens,
    cachedTokens: usage.cachedTextTokens + usage.cachedAudioTokens,
    outputTokens: usage.outputTextTokens + usage.outputAudioTokens,
    audioInputTokens: usage.inputAudioTokens,
    cachedAudioTokens: usage.cachedAudioTokens,
    audioOutputTokens: usage.outputAudioTokens,
    ...(usage.isGuess === true ? { estimated: true } : {}),
  });
}
