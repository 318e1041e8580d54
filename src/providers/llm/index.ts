// Entry point offhook/llm.
export { ScriptedLanguageModel, type ScriptedLanguageModelOptions } from './scripted.js';
