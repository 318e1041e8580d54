// Projects in which every carrier meets every voice mode, and every vendor is chosen at least once.
import { CARRIERS } from '../../../src/carriers/index.js';
import type { Project, Voice } from '../../../src/cli/init/project.js';
import { CARRIER_SERVICES, SERVICES } from '../../../src/cli/init/services.js';

const { stt, llm, tts, realtime } = SERVICES;

function pick<T>(list: readonly [T, ...T[]], index: number): T {
  return list[index % list.length] ?? list[0];
}

function madeOf(carrierId: 'carrier-a' | 'carrier-b', voice: Voice): [title: string, project: Project] {
  const services = voice.mode === 'realtime' ? [voice.realtime] : [voice.stt, voice.llm, voice.tts];
  const title = [carrierId, voice.mode, ...services.map(({ id }) => id)].join(' ');
  const project = {
    name: 'made',
    carrier: CARRIER_SERVICES[carrierId],
    carrierVendor: CARRIERS.get(carrierId)?.vendor ?? '',
    voice,
    dependencies: { offhook: 'file:../offhook' },
    optionalDependencies: {},
  };
  return [title, project];
}

export const PROJECTS: readonly [title: string, project: Project][] = [
  ...llm.map((each, index) =>
    madeOf(index % 2 === 0 ? 'carrier-a' : 'carrier-b', {
      mode: 'pipeline',
      stt: pick(stt, index),
      llm: each,
      tts: pick(tts, index),
    }),
  ),
  ...[...realtime, realtime[0]].map((each, index) =>
    madeOf(index % 2 === 0 ? 'carrier-a' : 'carrier-b', { mode: 'realtime', realtime: each }),
  ),
];
