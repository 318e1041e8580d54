// Server-sent events, read from bytes that are cut anywhere: in the middle of a character, a line end or an event.

export interface SseEvent {
  /** `message` when the server gives no name. */
  readonly event: string;
  readonly data: string;
}

/** An event longer than this is no event of ours, in characters. */
const MAX_EVENT_LENGTH = 4 * 1024 * 1024;

/** Source: WHATWG HTML, server-sent events. An event that the end of the stream cuts off before its empty line counts. */
export class SseReader {
  readonly #decoder = new TextDecoder();
  #line = '';
  #afterCarriageReturn = false;
  #event = '';
  #data: string[] = [];
  #length = 0;
  #overflowed = false;

  /** True once an event was too long. Nothing is read after it. */
  get overflowed(): boolean {
    return this.#overflowed;
  }

  push(bytes: Uint8Array): SseEvent[] {
    return this.#read(this.#decoder.decode(bytes, { stream: true }));
  }

  /** The stream has ended. */
  end(): SseEvent[] {
    return this.#read(`${this.#decoder.decode()}\n\n`);
  }

  #read(text: string): SseEvent[] {
    const events: SseEvent[] = [];
    let from = 0;
    for (let at = 0; at < text.length && !this.#overflowed; at += 1) {
      const char = text[at];
      if (char !== '\n' && char !== '\r') {
        this.#afterCarriageReturn = false;
        continue;
      }
      const second = char === '\n' && this.#afterCarriageReturn;
      this.#afterCarriageReturn = char === '\r';
      if (!second) this.#take(text.slice(from, at), events);
      from = at + 1;
    }
    this.#line += text.slice(from);
    this.#overflowed ||= this.#length + this.#line.length > MAX_EVENT_LENGTH;
    if (this.#overflowed) this.#line = '';
    return events;
  }

  #take(end: string, events: SseEvent[]): void {
    const line = this.#line + end;
    this.#line = '';
    if (line !== '') {
      this.#field(line);
      return;
    }
    if (this.#data.length > 0) events.push({ event: this.#event || 'message', data: this.#data.join('\n') });
    this.#event = '';
    this.#data = [];
    this.#length = 0;
  }

  #field(line: string): void {
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    this.#length += line.length;
    this.#overflowed ||= this.#length > MAX_EVENT_LENGTH;
    if (name === 'data') this.#data.push(value);
    else if (name === 'event') this.#event = value;
  }
}
