// A server with `handleSignals`, as an application writes it; its data folder is the third argument, if there is one. Says when it listens.
import { serve } from './child-phone.mjs';

await serve({
  handleSignals: true,
  dataDir: process.argv[4] ?? false,
  onCallEnd: ({ endReason }) => console.log(`ended: ${endReason}`),
});
