// What is true of every language model that is asked over HTTP: its vendor's emulator streams, stumbles, refuses and hangs.
import { describe, expect, it } from 'vitest';
import type { LanguageModel } from '../../../src/providers/language-model.js';
import type { Emulator } from '../../../src/testing/index.js';
import type { FakeClock } from '../../support/fake-clock.js';
import { passUntil } from '../../support/pass-until.js';
import { finished, type ReplyReading, readReply, textOf } from '../../support/reply-reading.js';
import { soon } from '../../support/soon.js';
import { untilQuiet } from '../../support/virtual/quiet.js';

interface Asked {
  readonly clock: FakeClock;
  readonly model: LanguageModel;
  readonly emulator: Emulator & { readonly exchanges: readonly unknown[] };
}

/** A vendor, and replies of its emulator by what is wrong with them. */
export interface HttpModel<Reply extends { readonly text?: string }> {
  start(options?: { readonly replies?: readonly Reply[] }): Promise<Asked>;
  /** Ways to write a stream that is read all the same. */
  readonly styles: readonly (readonly [name: string, style: Reply])[];
  /** They end behind the word "a", and errors say why. */
  readonly brokenOff: readonly (readonly [name: string, reply: Reply, message: RegExp])[];
  /** They end before the first word. */
  readonly wordless: readonly (readonly [name: string, reply: Reply])[];
  /** Statuses of an answer that may be another one a moment later. */
  readonly passing: readonly number[];
  /** Answers that would be the same again. */
  readonly lasting: readonly (readonly [status: number, body: string])[];
  /** They hang, and had said so much. */
  readonly hanging: readonly (readonly [name: string, reply: Reply, waitMs: number, text: string])[];
}

export function describeHttpModel<Reply extends { readonly text?: string }>(
  name: string,
  vendor: HttpModel<Reply>,
): void {
  const { start } = vendor;
  const over = (clock: FakeClock, reading: ReplyReading, stepMs = 20) =>
    passUntil(clock, stepMs, () => {
      expect(reading.over).toBe(true);
      return reading;
    });

  describe(`${name} over HTTP`, () => {
    it.each(vendor.styles)('reads a stream with %s', async (_, style) => {
      const text = 'Grüße aus Köln 👋 — und zurück.';
      const { model } = await start({ replies: [{ ...style, text }] });
      const reading = await finished(readReply(model));
      expect(textOf(reading)).toBe(text);
      expect(reading.events.at(-1)).toEqual({ type: 'end', reason: 'complete' });
    });

    it.each(vendor.brokenOff)(
      'fails after %s in the middle, and does not say anything twice',
      async (_, reply, message) => {
        const { clock, model, emulator } = await start({ replies: [reply] });
        const reading = await over(clock, readReply(model), 1);
        expect(textOf(reading)).toBe('a');
        expect(reading.error).toMatchObject({ message: expect.stringMatching(message), retryable: true });
        expect(emulator.requests).toHaveLength(1);
      },
    );

    it.each(vendor.wordless)('tries once more after %s before the first word', async (_, reply) => {
      const here = { text: 'Here.' } as Reply;
      const { clock, model } = await start({ replies: [reply, here] });
      const reading = await over(clock, readReply(model));
      expect([textOf(reading), reading.error]).toEqual(['Here.', undefined]);
    });

    it.each(vendor.passing)('tries once more after %i, and not twice', async (status) => {
      const { clock, model, emulator } = await start();
      emulator.refuseNext({ status });
      const reading = await over(clock, readReply(model));
      expect(textOf(reading)).toBe('You said: Hello');
      expect(reading.events[0]).toMatchObject({ type: 'recovered', gapMs: expect.any(Number) });
      expect(emulator.requests).toHaveLength(2);
      emulator.refuseNext({ status, times: 5 });
      expect((await over(clock, readReply(model))).error).toMatchObject({ status, retryable: true });
      expect(emulator.requests).toHaveLength(4);
    });

    it('waits as long as the server wants, unless that is too long for a caller', async () => {
      const { clock, model, emulator } = await start();
      emulator.refuseNext({ status: 429, headers: { 'retry-after': '1.5' } });
      const patient = readReply(model);
      await passUntil(clock, 20, () => {
        expect(emulator.requests).toHaveLength(2);
      });
      expect(clock.now()).toBeGreaterThanOrEqual(1500);
      expect(textOf(await finished(patient))).toBe('You said: Hello');
      emulator.refuseNext({ status: 429, headers: { 'retry-after': '2' } });
      expect((await finished(readReply(model))).error).toMatchObject({ status: 429, retryable: true });
      expect(emulator.requests).toHaveLength(3);
    });

    it.each(vendor.lasting)('does not try again after %i %s', async (status, body) => {
      const { model, emulator } = await start();
      emulator.refuseNext({ status, body, times: 2 });
      const { error } = await finished(readReply(model));
      expect(error).toMatchObject({ code: 'PROVIDER_FAILED', status, retryable: false });
      expect(String(error)).not.toContain('test-key');
      expect(emulator.requests).toHaveLength(1);
    });

    it.each(vendor.hanging)('does not wait for ever for %s', async (_, reply, waitMs, text) => {
      const { clock, model, emulator } = await start({ replies: [reply, reply] });
      const reading = readReply(model);
      await soon(() => expect(emulator.exchanges).toHaveLength(1));
      await soon(() => expect(textOf(reading)).toBe(text));
      expect((await over(clock, reading)).error).toMatchObject({
        message: expect.stringMatching(/did not (answer|go on) in time/),
      });
      expect(clock.now()).toBeGreaterThanOrEqual(waitMs);
      expect(textOf(reading)).toBe(text);
      expect(emulator.requests).toHaveLength(1);
    });

    it('uses one connection for all turns, warmed up before the first', async () => {
      const { model, emulator } = await start();
      model.warmUp?.();
      await soon(() => expect(emulator.requests).toHaveLength(1));
      await untilQuiet();
      for (let turn = 0; turn < 3; turn += 1) await finished(readReply(model));
      expect(emulator.connectionCount).toBe(1);
      model.warmUp?.();
      expect(emulator.requests).toHaveLength(4);
    });
  });
}
