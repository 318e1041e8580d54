// The suite of the example, as its own vitest would run it, on a port that is free here.
import { freePort } from '../support/free-port.js';

process.env.TEST_PORT = String(await freePort());
await import('../../examples/agent-tests/agent.test.js');
delete process.env.TEST_PORT;
