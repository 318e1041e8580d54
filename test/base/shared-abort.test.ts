import { expect, it, vi } from 'vitest';
import { createSharedAbort } from '../../src/base/shared-abort.js';

it('is waited for by as many as there are, without a warning', async () => {
  const warned = vi.fn();
  process.on('warning', warned);
  const { signal } = createSharedAbort();
  for (let index = 0; index < 20; index += 1) signal.addEventListener('abort', () => {});
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', warned);
  expect(warned).not.toHaveBeenCalled();
});
