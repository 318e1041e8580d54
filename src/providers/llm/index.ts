// Entry point offhook/llm.
export { AnthropicMessages, type AnthropicMessagesOptions } from './anthropic.js';
export { ChatCompletions, type ChatCompletionsOptions } from './chat-completions.js';
export type { ChatService } from './chat-services.js';
export { ScriptedLanguageModel, type ScriptedLanguageModelOptions } from './scripted.js';
