// What stands at the side, in the order in which a newcomer reads. Paths are those of the files below docs/; titles are the pages' own.
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const docs = fileURLToPath(new URL('..', import.meta.url));

/** The vendors' pages, in the order of the alphabet. */
function vendors() {
  if (!existsSync(`${docs}providers`)) return [];
  const known = new Set(['index.md', 'own.md']);
  return readdirSync(`${docs}providers`)
    .filter((name) => name.endsWith('.md') && !known.has(name))
    .sort()
    .map((name) => `providers/${name}`);
}

/** @type {readonly { title: string, pages: readonly string[] }[]} */
export const SECTIONS = [
  { title: 'Start here', pages: ['index.md', 'quick-start.md', 'concepts.md', 'comparison.md'] },
  {
    title: 'Build an agent',
    pages: [
      'agents.md',
      'tools.md',
      'mcp.md',
      'languages.md',
      'turn-taking.md',
      'on-message.md',
      'realtime.md',
      'fallback.md',
    ],
  },
  { title: 'Calls', pages: ['choosing-agents.md', 'handoff.md', 'outbound.md', 'transfer.md', 'say.md'] },
  { title: 'Test', pages: ['testing.md', 'simulated-callers.md', 'emulators.md'] },
  { title: 'Carriers', pages: ['carriers/carrier-a.md', 'carriers/carrier-b.md', 'carriers/own.md'] },
  { title: 'Providers', pages: ['providers/index.md', ...vendors(), 'providers/own.md'] },
  {
    title: 'Run it',
    pages: [
      ...[
        'going-live.md',
        'cluster.md',
        'dashboard.md',
        'standalone-dashboard.md',
        'observability.md',
        'money.md',
      ],
      ...[
        'storage.md',
        'recordings.md',
        'listening-in.md',
        'privacy.md',
        'embedding.md',
        'troubleshooting.md',
        'performance.md',
        'release.md',
      ],
    ],
  },
  {
    title: 'Reference',
    pages: [
      ...['options', 'errors', 'events', 'http-api', 'cli', 'prices', 'metrics', 'transcoder'].map(
        (name) => `reference/${name}.md`,
      ),
    ],
  },
  {
    title: 'Measurements',
    pages: [
      'audio/README.md',
      ...[
        'conversation',
        'turn-taking',
        'transcoder',
        'facts',
        'load',
        'overload',
        'handover',
        'cluster',
        'dashboard',
      ].map((name) => `bench/${name}.md`),
    ],
  },
];
