// What several servers measure, as one text: each sample with the server that it is of. Source: Prometheus text exposition format 0.0.4.
import { Gauge, pairs } from './metric.js';

export interface MeasuredServer {
  /** By which it is told from the others. */
  readonly server: string;
  /** In the text exposition format; undefined where it has not answered. */
  readonly text: string | undefined;
}

/** Servers of different versions may tell a metric in different words: those of the first one stand. */
export function byServer(measured: readonly MeasuredServer[]): string {
  const families = new Map<string, { head: string; samples: string }>();
  for (const { server, text } of measured) {
    const label = pairs(['server'], [server]);
    let name = '';
    for (const line of (upText(text !== undefined) + (text ?? '')).split('\n')) {
      const [, kind, named = ''] = /^# (HELP|TYPE) (\S+) /.exec(line) ?? [];
      if (kind === 'HELP') name = named;
      const family = families.get(name) ?? { head: '', samples: '' };
      if (kind !== undefined && family.samples === '') family.head += `${line}\n`;
      else if (kind === undefined && line !== '') family.samples += `${labelled(line, label)}\n`;
      families.set(name, family);
    }
  }
  return [...families.values()].map(({ head, samples }) => head + samples).join('');
}

function upText(isUp: boolean): string {
  return new Gauge({
    name: 'offhook_server_up',
    help: 'In a cluster, by server: 1 if it has told what it measures, else 0.',
    read: () => Number(isUp),
  }).text();
}

function labelled(sample: string, label: string): string {
  return sample.replace(/^([\w:]+)(\{?)/, (_, name: string, brace: string) =>
    brace === '' ? `${name}{${label}}` : `${name}{${label},`,
  );
}
