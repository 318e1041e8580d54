// The event stream of a dashboard, as a page has it.
import type { CallEvent } from '../../src/contract/call-event.js';

export interface EventStream {
  readonly facts: CallEvent[];
  /** All events, by type and data. */
  readonly events: (readonly [type: string, data: unknown])[];
  /** Of the last fact. */
  readonly lastEventId: string;
  close(): void;
}

/** `url`: of the dashboard. */
export async function listenTo(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<EventStream> {
  const closing = new AbortController();
  const { signal } = closing;
  const response = await fetch(`${url}/api/dashboard/events`, { signal, headers });
  const facts: CallEvent[] = [];
  const events: (readonly [string, unknown])[] = [];
  let lastEventId = '';
  const read = async () => {
    let text = '';
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString('utf8');
      const whole = text.split('\n\n');
      text = whole.pop() ?? '';
      for (const message of whole) {
        const [, type = ''] = /^event: (.*)$/m.exec(message) ?? [];
        const [, data = 'null'] = /^data: (.*)$/m.exec(message) ?? [];
        [, lastEventId = lastEventId] = /^id: (.*)$/m.exec(message) ?? [];
        if (type === '') continue;
        events.push([type, JSON.parse(data)]);
        if (type.includes('.')) facts.push(JSON.parse(data) as CallEvent);
      }
    }
  };
  void read().catch(() => {});
  return {
    facts,
    events,
    get lastEventId() {
      return lastEventId;
    },
    close: () => closing.abort(),
  };
}
