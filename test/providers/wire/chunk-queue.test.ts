import { describe, expect, it } from 'vitest';
import { ChunkQueue } from '../../../src/providers/wire/chunk-queue.js';

const SECOND = new Int16Array(16_000);

describe('ChunkQueue', () => {
  it('takes five minutes of audio that nobody reads, and then no more', async () => {
    const queue = new ChunkQueue<Int16Array>();
    for (let count = 0; count < 400; count += 1) queue.push(SECOND);
    let seconds = 0;
    const reading = async () => {
      for await (const chunk of queue) seconds += chunk.length / 16_000;
    };
    await expect(reading()).rejects.toMatchObject({ code: 'PROVIDER_FAILED', retryable: false });
    expect(seconds).toBe(300);
  });

  it('goes on for as long as somebody reads', async () => {
    const queue = new ChunkQueue<Int16Array>();
    let seconds = 0;
    queue.push(SECOND);
    for await (const chunk of queue) {
      seconds += chunk.length / 16_000;
      if (seconds < 400) queue.push(SECOND);
      else queue.end();
    }
    expect(seconds).toBe(400);
  });
});
