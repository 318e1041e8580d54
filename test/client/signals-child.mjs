// A server with `handleSignals`, as an application writes it. Says when it listens.
import { serve } from './child-phone.mjs';

await serve({
  handleSignals: true,
  dataDir: false,
  onCallEnd: ({ endReason }) => console.log(`ended: ${endReason}`),
});
