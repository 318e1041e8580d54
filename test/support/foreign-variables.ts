// Variables of whoever runs the tests that must not reach them: a key would make an agent call a vendor, an address would send it elsewhere.

/** Vendors of AI and carriers have more settings than keys; what ends like a key is one, whoever's it is. */
const FOREIGN =
  /^(ANTHROPIC|OPENAI|GEMINI|GOOGLE|DEEPGRAM|ELEVENLABS|CARTESIA|ASSEMBLYAI|CARRIER_[AB]|TWILIO|TELNYX)_|_(API_KEY|BASE_URL)$|^OFFHOOK_(LIVE|WEBHOOK_SECRET|(DASHBOARD|CLUSTER)_\w+)$/;

/** The same variables, empty, of an environment that has them. */
export function emptyForeign(environment: Readonly<Record<string, unknown>>): Record<string, string> {
  const names = Object.keys(environment).filter((name) => FOREIGN.test(name));
  return Object.fromEntries(names.map((name) => [name, '']));
}
