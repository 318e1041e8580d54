// Tools of the kill trial: what they do outside the call is seen by a server that no kill reaches.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { TOOL_MS } from './judge.mjs';

/**
 * @typedef {{ tool: string, marker: string, key: string, at: number }} SeenEffect `at` is by `Date.now()`.
 */

/** What a tool that has come to its end says. */
const RESULT = 'It is all done.';

/** Tools of an agent, one of which may be run again. @param {string} effects @returns {import('../../../src/index.js').Tool[]} */
export function toolsOf(effects) {
  return ['book', 'check'].map((name) => ({
    name,
    description: `Does what is called ${name}.`,
    parameters: { type: 'object', properties: { marker: { type: 'string' } }, required: ['marker'] },
    idempotent: name === 'check',
    async execute(/** @type {any} */ { marker }, { idempotencyKey: key, signal }) {
      const body = JSON.stringify({ tool: name, marker, key });
      return (await fetch(effects, { method: 'POST', body, signal })).text();
    },
  }));
}

/** Sees every run of a tool as it begins, and takes its time to answer. */
export async function openEffects() {
  /** @type {SeenEffect[]} */
  const seen = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    seen.push({ ...JSON.parse(text), at: Date.now() });
    setTimeout(() => response.end(RESULT), TOOL_MS);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    seen,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
