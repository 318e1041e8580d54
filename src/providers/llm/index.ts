// Entry point offhook/llm.
export { AiSdkLanguageModel, type AiSdkLanguageModelOptions } from './ai-sdk/ai-sdk.js';
export type { AiSdkCall, AiSdkModel } from './ai-sdk/model.js';
export { AnthropicMessages, type AnthropicMessagesOptions } from './anthropic/anthropic.js';
export { ChatCompletions, type ChatCompletionsOptions } from './chat-completions/chat-completions.js';
export type { ChatService } from './chat-completions/services.js';
export { ScriptedLanguageModel, type ScriptedLanguageModelOptions } from './scripted/scripted.js';
