// The readers of `facts-http.mjs`, in a process of their own: what they cost must not be felt by the calls that are measured.
import { Agent, get } from 'node:http';

/** @typedef {{ url: string, kind: 'list' | 'active' | 'export' | 'streams' | 'reopen', clients: number }} Job */

const agent = new Agent({ keepAlive: true, maxSockets: 4 });
let answers = 0;
let bytes = 0;

/** @param {string} url @param {{ firstChunkOnly?: boolean }} [options] @returns {Promise<void>} */
function read(url, { firstChunkOnly = false } = {}) {
  return new Promise((resolve, reject) => {
    const request = get(url, firstChunkOnly ? { agent: false } : { agent }, (response) => {
      response.on('data', (/** @type {Buffer} */ chunk) => {
        bytes += chunk.length;
        // A snapshot is the second event; what follows it is small.
        if (!firstChunkOnly || !chunk.includes('\n\n') || chunk.length < 100) return;
        request.destroy();
        resolve();
      });
      response.on('end', resolve);
      response.on('error', () => resolve());
    });
    request.on('error', (error) => (firstChunkOnly ? resolve() : reject(error)));
  });
}

/** @param {string} url @param {{ firstChunkOnly?: boolean }} [options] */
async function readForEver(url, options) {
  for (;;) {
    await read(url, options);
    answers += 1;
  }
}

/** @param {Job} job */
function start({ url, kind, clients }) {
  const paths = {
    list: '/api/dashboard/calls?limit=500',
    active: '/api/dashboard/active',
    export: '/api/dashboard/export/calls',
    streams: '/api/dashboard/events',
    reopen: '/api/dashboard/events',
  };
  for (let client = 0; client < clients; client += 1)
    void readForEver(url + paths[kind], kind === 'reopen' ? { firstChunkOnly: true } : {});
}

process.on('message', (message) => {
  if (message === 'count') process.send?.({ answers, bytes });
  else start(/** @type {Job} */ (message));
});
