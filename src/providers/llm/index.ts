// Entry point offhook/llm.
export { ChatCompletions, type ChatCompletionsOptions } from './chat-completions.js';
export type { ChatService } from './chat-services.js';
export { ScriptedLanguageModel, type ScriptedLanguageModelOptions } from './scripted.js';
