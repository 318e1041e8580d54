import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

it('the doctor finds a transcoder that cannot be loaded', async () => {
  vi.stubEnv('TRANSCODER_BACKEND', 'fortran');
  // The backend is chosen by the first module that needs it.
  vi.resetModules();
  const { runCommand } = await import('../run-command.js');
  const { code, out, errors } = await runCommand(['doctor']);
  expect([code, errors, ...out.split('\n')]).toEqual([
    1,
    '',
    expect.stringMatching(/^ok +Node/),
    expect.stringMatching(/^FAILED +there is no transcoder backend "fortran"/),
  ]);
});
