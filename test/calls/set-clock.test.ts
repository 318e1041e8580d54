import { describe, expect, it } from 'vitest';
import { unknownLatency } from '../../src/events/summarize.js';
import { KINDS, Scene } from './scene.js';

const HOUR_MS = 3_600_000;

describe.each(KINDS)('a call in which the system clock is set ($steering, $direction)', (kind) => {
  it.each([-HOUR_MS, HOUR_MS, -30 * 24 * HOUR_MS])(
    'by %i ms lasts as long as it does, and its dates keep their order',
    async (byMs) => {
      const scene = new Scene(kind);
      await scene.up();
      const { answeredAt } = scene.record;
      const { clock } = scene.bench;
      const { context } = scene.bench.engine;
      const entry = (id: string) =>
        context.fact({
          type: 'transcript.segment',
          entry: { id, turnIndex: 0, role: 'user', text: id, at: context.clock.wallNow(), final: true },
        });
      entry('before');
      scene.agentSpeaks();
      clock.advance(10_000);
      clock.setWall(byMs);
      entry('after');
      const turn = {
        index: 0,
        startedAt: context.clock.wallNow(),
        userText: '',
        agentText: '',
        agentTextUnheard: '',
      };
      const rest = {
        interrupted: false,
        latency: unknownLatency(),
        agent: null,
        speechEndedAt: null,
        fillerMs: null,
        cost: null,
        tokens: null,
        toolCalls: [],
      };
      context.fact({ type: 'turn.completed', turn: { ...turn, ...rest } });
      scene.report({ type: 'machine-detection', verdict: 'human' });
      scene.report({ type: 'dtmf', digit: '1' });
      await scene.bench.pass(0);
      await scene.bench.desk.transfer(scene.callId, '+15550123').catch(() => {});
      clock.advance(10_000);
      scene.stop();
      await scene.bench.desk.hangUp(scene.callId).catch(() => {});
      const record = await scene.expectEnd();
      const start = answeredAt ?? 0;
      expect(record.durationMs).toBe(20_000);
      expect(record.endedAt).toBe(start + 20_000);
      expect(record.transcript.map(({ at }) => at - start)).toEqual(
        record.transcript.map(({ id }) => (id === 'before' ? 0 : 10_000)),
      );
      expect(record.turns[0]?.startedAt).toBe(start + 10_000);
      expect(record.transfer?.startedAt).toBe(start + 10_000);
      expect((record.envelope?.startedAt ?? 0) - start).toBe(0);
      if (kind.direction === 'outbound') expect(record.amd?.detectedAt).toBe(start + 10_000);
    },
  );
});
