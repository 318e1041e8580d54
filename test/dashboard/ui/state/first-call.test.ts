import { expect, it } from 'vitest';
import { simulateCommand } from '../../../../src/dashboard/ui/state/first-call.js';

const LOCAL = 'http://127.0.0.1:8080';

it('is simulated with what the server knows of itself', () => {
  const entry = { carrier: 'carrier-a', voiceUrl: null, isSigned: true } as const;
  expect(simulateCommand(entry, LOCAL)).toBe(`npx offhook simulate --url ${LOCAL} --text "Hello?"`);
  const voiceUrl = 'https://voice.example/webhooks/carrier-b/voice';
  expect(simulateCommand({ carrier: 'carrier-b', voiceUrl, isSigned: true }, LOCAL)).toBe(
    `npx offhook simulate --url ${LOCAL} --carrier carrier-b --webhook-host voice.example --text "Hello?"`,
  );
  expect(simulateCommand({ ...entry, voiceUrl }, 'https://voice.example')).toBe(
    'npx offhook simulate --url https://voice.example --text "Hello?"',
  );
});
