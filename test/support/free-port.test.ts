import { expect, it } from 'vitest';

/** The module as other processes have it. */
const PROCESSES = [
  () => import('./free-port.js'),
  // @ts-expect-error Vite loads it again for a query.
  () => import('./free-port.js?other'),
  // @ts-expect-error The same.
  () => import('./free-port.js?third'),
] as const;

it('gives no port twice in a row, and none of another process', async () => {
  const processes = await Promise.all(
    PROCESSES.map((load): Promise<typeof import('./free-port.js')> => load()),
  );
  const ports = await Promise.all(
    processes.flatMap(({ freePort }) => Array.from({ length: 40 }, () => freePort())),
  );
  expect(new Set(ports).size).toBe(120);
});
