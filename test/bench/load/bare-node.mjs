// Node that listens and does nothing else: what a process takes that nobody has written a server into. Argument: port.
import { createServer } from 'node:net';
import { boundLifetime } from './lifetime.mjs';

boundLifetime();
createServer((socket) => socket.destroy()).listen(Number(process.argv[2]), '127.0.0.1');
