// Entry point offhook/realtime.
export { GeminiLive, type GeminiLiveOptions } from './gemini-live/gemini-live.js';
export { OpenAIRealtime, type OpenAIRealtimeOptions } from './openai-realtime/openai-realtime.js';
export {
  ElevenLabsAgents,
  type ElevenLabsAgentsOptions,
  type ElevenLabsAgentsOverrides,
} from './elevenlabs-agents/elevenlabs-agents.js';
