// Entry point offhook/stt.
export { AssemblyAISpeechToText, type AssemblyAISpeechToTextOptions } from './assemblyai.js';
export { DeepgramSpeechToText, type DeepgramSpeechToTextOptions } from './deepgram.js';
export { OpenAITranscription, type OpenAITranscriptionOptions } from './openai-transcription.js';
export { SimulatedSpeechToText, type SimulatedSpeechToTextOptions } from './simulated.js';
