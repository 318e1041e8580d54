// The phases of whole calls on both carriers, as a reader of the event stream is told them.
import { describe, expect, it } from 'vitest';
import type { CallEvent, CallEventType } from '../../src/contract/call-event.js';
import type { CallPhase } from '../../src/contract/call-record.js';
import type { LanguageModel } from '../../src/index.js';
import type { CallerStep } from '../../src/testing/index.js';
import { eventually, OWN_NUMBER, startCarrierPhone } from '../support/carrier-phone.js';
import { playedOn } from '../support/rotated.js';

const CALLER = '+15005550020';
const OTHER = '+15005550030';
const QUIET: readonly CallerStep[] = [{ type: 'pause', durationMs: 30_000 }];
const TALKS: readonly CallerStep[] = [
  { type: 'wait-for-agent' },
  { type: 'say', text: 'What time is it?' },
  { type: 'wait-for-agent' },
  { type: 'pause', durationMs: 500 },
  { type: 'hang-up' },
];

/** Every fact that the event stream of a server tells from now on. */
async function listen(url: string): Promise<CallEvent[]> {
  const heard: CallEvent[] = [];
  const { body } = await fetch(`${url}/api/dashboard/events`);
  if (body === null) throw new Error('no stream');
  const read = async () => {
    let text = '';
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const messages = text.split('\n\n');
      text = messages.pop() ?? '';
      for (const message of messages) {
        const data = /^data: (.*)$/m.exec(message)?.[1];
        const event = JSON.parse(data ?? '{}') as Partial<CallEvent>;
        if (event.type !== undefined) heard.push(event as CallEvent);
      }
    }
  };
  read().catch(() => {
    // The server has gone.
  });
  return heard;
}

const phasesOf = (events: readonly CallEvent[]): CallPhase[] =>
  events.flatMap((event) => (event.type === 'phase.changed' ? [event.phase] : []));

const told = (events: readonly CallEvent[], type: CallEventType) =>
  eventually(type, () => events.find((event) => event.type === type));

describe.concurrent.each(playedOn('carrier-a'))('the phases of a call over %s', (id) => {
  it('are what the caller experiences, from greeting to hang-up', { timeout: 40_000 }, async () => {
    await using running = await startCarrierPhone(id);
    const events = await listen(running.server.url);
    await running.simulator.call({ from: CALLER, to: OWN_NUMBER, script: TALKS });
    await told(events, 'call.ended');
    expect(phasesOf(events)).toEqual([
      'thinking',
      'speaking',
      'listening',
      'hearing',
      'thinking',
      'speaking',
      'listening',
    ]);
    const changes = events.flatMap((event) => (event.type === 'phase.changed' ? [event.previous] : []));
    expect(changes).toEqual([undefined, ...phasesOf(events).slice(0, -1)]);
    const [record] = await running.history();
    expect(record?.phase).toBeNull();
  });

  it('are held while the caller is handed over, and go on when they come back', {
    timeout: 40_000,
  }, async () => {
    await using running = await startCarrierPhone(id);
    const events = await listen(running.server.url);
    const calling = running.simulator.call({
      script: QUIET,
      maxDurationMs: 30_000,
      transferTo: { type: 'busy' },
    });
    const [live] = await running.active(1, ({ phase }) => phase?.name === 'listening');
    const callId = live?.callId ?? '';
    await running.phone.transfer(callId, OTHER);
    await running.active(1, ({ phase }) => phase?.name === 'held');
    const [back] = await running.active(1, ({ phase }) => phase?.name === 'speaking');
    expect(back?.transfer?.result).toBe('busy');
    await running.phone.hangUp(callId);
    await calling;
    await told(events, 'call.ended');
    expect(phasesOf(events)).toEqual(['thinking', 'speaking', 'listening', 'held', 'thinking', 'speaking']);
  });

  it('end with the goodbye of the agent', { timeout: 40_000 }, async () => {
    const llm: LanguageModel = {
      name: 'leaving',
      async *respond() {
        yield { type: 'text', delta: 'Goodbye.' };
        yield { type: 'end-call' };
      },
    };
    await using running = await startCarrierPhone(id, { llm });
    const events = await listen(running.server.url);
    await running.simulator.call({ script: [...TALKS.slice(0, 2), ...QUIET], maxDurationMs: 30_000 });
    await told(events, 'call.ended');
    expect(phasesOf(events).slice(-3)).toEqual(['thinking', 'speaking', 'ending']);
  });
});
