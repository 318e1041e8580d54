// Entry point offhook/realtime.
export { OpenAIRealtime, type OpenAIRealtimeOptions } from './openai-realtime.js';
export {
  ElevenLabsAgents,
  type ElevenLabsAgentsOptions,
  type ElevenLabsAgentsOverrides,
} from './elevenlabs-agents.js';
