// A reader of the event stream that keeps what it is sent.
import type { Snapshot } from '../../src/contract/dashboard-api.js';
import type { EventSink } from '../../src/dashboard/sse.js';

/** One message of an event stream. */
export interface Message {
  id: string;
  event: string;
  data: unknown;
}

/** A reader that keeps what it is sent. `stuck`: its network takes nothing. */
export class FakeSink implements EventSink {
  text = '';
  state: 'open' | 'ended' | 'destroyed' = 'open';
  stuck = false;
  writableLength = 0;

  #onDrain: (() => void)[] = [];

  write(chunk: string | Uint8Array): boolean {
    this.text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
    if (this.stuck) this.writableLength += chunk.length;
    return !this.stuck;
  }
  once(_event: 'drain', listener: () => void): void {
    this.#onDrain.push(listener);
  }
  /** The network takes again what it is given. */
  drain(): void {
    this.stuck = false;
    this.writableLength = 0;
    for (const listener of this.#onDrain.splice(0)) listener();
  }
  end(): void {
    this.state = 'ended';
  }
  destroy(): void {
    this.state = 'destroyed';
  }

  get messages(): Message[] {
    return this.text.split('\n\n').flatMap((block) => {
      const lines = block.split('\n');
      const field = (name: string) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = field('data');
      return data === undefined
        ? []
        : [{ id: field('id') ?? '', event: field('event') ?? '', data: JSON.parse(data) as unknown }];
    });
  }
  /** The data of the first message, which is to be a snapshot. */
  get snapshot(): Snapshot {
    const [first] = this.messages;
    if (first?.event !== 'snapshot') throw new Error('no snapshot');
    return first.data as Snapshot;
  }
  get names(): string[] {
    return this.messages.map((message) => message.event);
  }
  get lastId(): string {
    return this.messages.at(-1)?.id ?? '';
  }
}
