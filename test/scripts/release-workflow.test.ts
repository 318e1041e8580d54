import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

interface Job {
  readonly needs?: string | string[];
  readonly permissions?: Record<string, string>;
  readonly strategy?: { matrix: { include: { target: string; runner: string; image?: string }[] } };
  readonly steps: Step[];
}

interface Workflow {
  readonly on: unknown;
  readonly permissions: Record<string, string>;
  readonly jobs: Record<'version' | 'platform' | 'main' | 'publish', Job>;
}

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const text = read('.github/workflows/release.yml');
const workflow: Workflow = parse(text);
const { napi, scripts } = JSON.parse(read('package.json')) as {
  napi: { targets: string[] };
  scripts: Record<string, string>;
};
const { platform, publish } = workflow.jobs;
const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);

describe('the release workflow', () => {
  it('builds exactly the targets of package.json', () => {
    const targets = platform.strategy?.matrix.include.map(({ target }) => target);
    expect(targets).toEqual(napi.targets);
  });

  it('builds each on a machine of its kind', () => {
    for (const { target, runner, image } of platform.strategy?.matrix.include ?? []) {
      const system = target.includes('linux') ? 'ubuntu' : target.includes('apple') ? 'macos' : 'windows';
      expect(runner).toContain(system);
      if (system === 'ubuntu') expect(runner.endsWith('-arm')).toBe(target.startsWith('aarch64'));
      expect(image).toBe(target.endsWith('musl') ? 'node:22-alpine' : undefined);
    }
  });

  it('runs for a tag only, and says that it is untried', () => {
    expect(workflow.on).toEqual({ push: { tags: ['v*'] } });
    expect(text.split('\n', 1)[0]).toContain('UNTRIED');
  });

  it('publishes with provenance, the platform packages first, after everything was built', () => {
    expect(publish.needs).toEqual(['platform', 'main']);
    expect(publish.permissions).toEqual({ contents: 'read', 'id-token': 'write' });
    expect(workflow.permissions).toEqual({ contents: 'read' });
    const [run = ''] = publish.steps.flatMap((step) => step.run ?? []);
    expect(run).toContain('for tarball in ./platforms/*.tgz ./main/*.tgz; do');
    expect(run).toContain('npm publish --provenance --access public');
  });

  it('runs scripts that there are, and actions of a named version', () => {
    const named = steps.flatMap(({ run = '' }) =>
      [...run.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name),
    );
    expect(named).toContain('release:pack');
    for (const name of named) expect(Object.keys(scripts)).toContain(name);
    for (const { uses } of steps) if (uses !== undefined) expect(uses).toMatch(/^actions\/[\w-]+@v\d+$/);
  });
});
