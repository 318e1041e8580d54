// `npm start`: sets the clone up, then runs the demo: a server, a dashboard and a simulated caller. Arguments go to the demo.
import { setUp } from './setup.mjs';

await setUp();
process.argv.splice(2, 0, 'demo');
const cli = new URL('../dist/cli.js', import.meta.url);
await import(cli.href);
