// Entry point offhook/realtime.
export { OpenAIRealtime, type OpenAIRealtimeOptions } from './openai-realtime.js';
