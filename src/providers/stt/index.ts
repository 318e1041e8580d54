// Entry point offhook/stt.
export { AssemblyAISpeechToText, type AssemblyAISpeechToTextOptions } from './assemblyai/assemblyai.js';
export { DeepgramSpeechToText, type DeepgramSpeechToTextOptions } from './deepgram/deepgram.js';
export {
  OpenAITranscription,
  type OpenAITranscriptionOptions,
} from './openai-transcription/openai-transcription.js';
export { SimulatedSpeechToText, type SimulatedSpeechToTextOptions } from './simulated.js';
