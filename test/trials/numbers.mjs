// What the simulated carriers and the servers under trial agree on.
export const OWN_NUMBER = '+15005550010';
export const GREETING = 'Hello, this is the bakery.';
export const PUBLIC_HOST = 'voice.example.com';
export const CREDENTIALS = {
  accountSid: `AC${'0a'.repeat(16)}`,
  authToken: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
  apiKey: 'KEY0123456789',
  connectionId: '1700000000000000001',
};
/** What a server of the next version states, and the others do not know. */
export const UNKNOWN_FACT = 'mood.changed';
