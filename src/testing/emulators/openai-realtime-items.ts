// The conversation as the emulated server has it: what may be added, cut and taken away.
import { type Complaint, invalid } from './openai-realtime-checks.js';
import { type Fields, isFields, toFields } from './message-fields.js';
import type { EmulatedItem } from './realtime-script.js';

export class RealtimeItems {
  #items: EmulatedItem[] = [];
  readonly #openCalls = new Set<string>();
  readonly #prefix: string;
  #count = 0;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  get all(): readonly EmulatedItem[] {
    return this.#items;
  }

  /** Calls that have no result. */
  get openCalls(): readonly string[] {
    return [...this.#openCalls];
  }

  add(
    item: Omit<EmulatedItem, 'id' | 'isTruncated' | 'audioMs'> & { id?: string; audioMs?: number },
  ): string {
    this.#count += 1;
    const id = item.id ?? `${this.#prefix}${this.#count}`;
    this.#items = this.#items.filter((other) => other.id !== id);
    this.#items.push({ audioMs: 0, isTruncated: false, ...item, id });
    return id;
  }

  /** The model calls a tool. */
  called(callId: string, name: string): void {
    this.#openCalls.add(callId);
    this.add({ id: `item_${callId}`, kind: 'function_call', role: 'assistant', text: name });
  }

  /** The client adds an item. */
  create(item: unknown): Complaint | undefined {
    if (!isFields(item)) return invalid("Missing required parameter: 'item'.", 'missing_required_parameter');
    if (item.type === 'function_call') {
      this.called(String(item.call_id), String(item.name));
      return undefined;
    }
    if (item.type === 'function_call_output') return this.#result(item);
    const { role } = item;
    const wanted = role === 'assistant' ? 'output_text' : 'input_text';
    const parts = Array.isArray(item.content) ? item.content.map(toFields) : [];
    const fits =
      parts.length > 0 && parts.every(({ type, text }) => type === wanted && typeof text === 'string');
    if (item.type !== 'message' || !['user', 'assistant', 'system'].includes(String(role)) || !fits)
      return invalid('Invalid item.', 'invalid_value');
    this.add({ kind: 'message', role: String(role), text: parts.map(({ text }) => text).join(' ') });
    return undefined;
  }

  truncate(event: Fields): Complaint | undefined {
    const { item_id: id, audio_end_ms: endMs, content_index: index } = event;
    const item = this.#items.find((other) => other.id === id);
    if (item === undefined)
      return invalid(`Item '${String(id)}' not found.`, 'item_truncate_invalid_item_id');
    if (item.audioMs === 0 || item.role !== 'assistant')
      return invalid('Only model output audio messages can be truncated.', 'invalid_value');
    if (index !== 0 || typeof endMs !== 'number' || !Number.isInteger(endMs) || endMs < 0)
      return invalid("Invalid 'audio_end_ms'.", 'invalid_value');
    if (endMs > item.audioMs)
      return invalid(
        `Audio content of ${item.audioMs}ms is already shorter than ${endMs}ms.`,
        'invalid_value',
      );
    this.#replace({ ...item, text: '', audioMs: endMs, isTruncated: true });
    return undefined;
  }

  delete(id: unknown): Complaint | undefined {
    const before = this.#items.length;
    this.#items = this.#items.filter((item) => item.id !== id);
    if (this.#items.length < before) return undefined;
    return invalid(`Item '${String(id)}' not found.`, 'item_delete_invalid_item_id');
  }

  #result({ call_id: callId, output }: Fields): Complaint | undefined {
    if (typeof output !== 'string' || !this.#openCalls.delete(String(callId)))
      return invalid(`Tool call ID '${String(callId)}' not found in conversation.`, 'invalid_tool_call_id');
    this.add({ kind: 'function_call_output', role: 'tool', text: output });
    return undefined;
  }

  #replace(item: EmulatedItem): void {
    this.#items = this.#items.map((other) => (other.id === item.id ? item : other));
  }
}
