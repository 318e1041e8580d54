// The files of the page on going live: as systemd reads its unit, and as far as container and manifest can be held against the server.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ClientBench } from '../support/client-bench.js';
import { describeNeeding } from '../support/needing.js';
import { docBlocks } from './blocks.js';

const blocks = docBlocks().filter(({ page }) => page === 'docs/going-live.md');
/** The one that is not a file of an example. */
const block = (language: string) =>
  blocks.find((each) => each.language === language && each.marks.includes('untried'))?.code ?? '';
/** A drain with its default, then a disconnect that waits twice for its own: the page names both. */
const LONGEST_STOP_SECONDS = 30 + 2 * 10;

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: number };
}

interface Container {
  readonly ports: { readonly containerPort: number }[];
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly volumeMounts: { readonly name: string; readonly mountPath: string }[];
}

interface Deployment {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas: number;
    readonly strategy: { readonly type: string };
    readonly selector: { readonly matchLabels: object };
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly containers: Container[];
        readonly volumes: { readonly name: string }[];
      };
    };
  };
}

describe('the Kubernetes manifest', () => {
  const { apiVersion, kind, spec }: Deployment = parse(block('yaml'));
  const { containers, volumes, terminationGracePeriodSeconds } = spec.template.spec;
  const [container] = containers;

  it('is a deployment whose parts name each other', () => {
    expect([apiVersion, kind]).toEqual(['apps/v1', 'Deployment']);
    expect(spec.selector.matchLabels).toEqual(spec.template.metadata.labels);
    expect(container?.volumeMounts.map(({ name }) => name)).toEqual(volumes.map(({ name }) => name));
  });

  it('never has two processes with one data folder, and waits for a drain', () => {
    expect([spec.replicas, spec.strategy.type]).toEqual([1, 'Recreate']);
    expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(LONGEST_STOP_SECONDS);
  });

  it('asks the server what it answers, on the port of the image', async () => {
    await using bench = await ClientBench.open();
    const { url } = await bench.serve();
    const ports = container?.ports.map(({ containerPort }) => containerPort);
    expect(block('dockerfile')).toContain(`EXPOSE ${ports?.join()}\n`);
    for (const name of ['livenessProbe', 'readinessProbe'] as const) {
      const { path, port } = container?.[name].httpGet ?? { path: '', port: 0 };
      expect(ports).toContain(port);
      expect((await fetch(url + path)).status).toBe(200);
    }
  });

  it('mounts the folder that the image keeps its data in', () => {
    const [mount] = container?.volumeMounts ?? [];
    expect(mount?.mountPath).toBe('/app/.offhook');
    expect(block('dockerfile')).toContain(`VOLUME ${mount?.mountPath}\n`);
    expect(block('dockerfile')).toContain('WORKDIR /app\n');
  });
});

describeNeeding('systemd-analyze', 'systemd', (analyze = '') => {
  /** What systemd has to say of a unit, but for programs that are not on this machine. */
  function complaints(code: string, name = 'offhook.service'): string {
    const folder = mkdtempSync(join(tmpdir(), 'offhook-unit-'));
    try {
      const file = join(folder, name);
      writeFileSync(file, code.replace('/usr/bin/node', process.execPath));
      const { stdout, stderr } = spawnSync(analyze, ['verify', '--man=no', file], { encoding: 'utf8' });
      return (stdout + stderr)
        .split('\n')
        .filter((line) => line.includes('offhook'))
        .join('\n');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  it.each([
    { name: 'offhook.service', unit: block('ini') },
    {
      name: 'offhook@.service',
      unit: readFileSync(new URL('../../examples/deploy/offhook@.service', import.meta.url), 'utf8'),
    },
  ])('takes the unit $name', ({ name, unit }) => {
    expect(unit).toContain('ExecStart=/usr/bin/node ');
    expect(complaints(unit, name)).toBe('');
    expect(complaints(`${unit}\nNoSuchSetting=1\n`, name)).not.toBe('');
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThanOrEqual(LONGEST_STOP_SECONDS);
  });
});
