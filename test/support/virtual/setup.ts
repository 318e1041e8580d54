// Set up for tests that nobody has to wait for: a network without a kernel, and threads, modules and databases that the clock waits for.
import { countCompiled } from './modules.js';
import { installNetwork } from './network.js';
import { countStored } from './storage.js';
import { countWorkers } from './workers.js';

installNetwork();
countWorkers();
countCompiled();
countStored();
