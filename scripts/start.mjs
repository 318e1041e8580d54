// `npm start`: sets the clone up, then runs the demo: a server, a dashboard and a simulated caller. Arguments go to the demo.
// It does not wait for the native addon, which is built beside it, unless TRANSCODER_BACKEND=native asks for that one.
import { setUp } from './setup.mjs';

await setUp({ nativeBehind: process.env.TRANSCODER_BACKEND !== 'native' });
process.argv.splice(2, 0, 'demo');
const cli = new URL('../dist/cli.js', import.meta.url);
await import(cli.href);
