// Set up for tests that nobody has to wait for: a network without a kernel, and threads that the clock waits for.
import { installNetwork } from './network.js';
import { countWorkers } from './workers.js';

installNetwork();
countWorkers();
