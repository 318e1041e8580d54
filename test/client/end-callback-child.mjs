// A server that an application leaves running. Says when it listens and when `onCallEnd` begins, which returns, or never does.
import { serve } from './child-phone.mjs';

const [, , , , dataDir = '', mode = ''] = process.argv;
await serve({
  dataDir,
  onCallEnd: async ({ endReason, redelivered }) => {
    console.log(`ended: ${endReason} ${redelivered ?? 'first'}`);
    if (mode === 'exits') process.exit(0);
    if (mode === 'hangs') await new Promise(() => {});
  },
});
