// `offhook status`: the servers of a data folder, as they say themselves.
import { join, resolve } from 'node:path';
import { counted } from '../base/counted.js';
import { findProcesses } from '../client/handover/processes.js';
import type { ProcessStatus } from '../client/handover/processes.js';
import type { CliContext } from './context.js';

export interface StatusFlags {
  dataDir: string;
  json?: boolean;
}

const HEADINGS = ['pid', 'version', 'port', 'state', 'calls', 'up since'];
const GAP = '  ';

/** Resolves with 0 when one runs, 1 when none does. */
export async function runStatus({ dataDir, json }: StatusFlags, context: CliContext): Promise<number> {
  const { found, silent } = await findProcesses(dataDir);
  for (const { peer } of found) peer.close();
  const servers = found.map(({ status }) => status);
  if (json === true) context.out(JSON.stringify({ dataDir: resolve(dataDir), servers, silent }));
  else if (servers.length > 0) context.out(toTable(servers));
  if (json !== true && silent > 0) context.error(silentOn(dataDir, silent));
  if (servers.length > 0) return 0;
  if (json !== true && silent === 0) context.error(await noServerOn(dataDir));
  return 1;
}

export function silentOn(dataDir: string, silent: number): string {
  const [servers, does] = [counted(silent, 'server'), silent === 1 ? 'does' : 'do'];
  return `${servers} on ${resolve(dataDir)} ${does} not answer: stopped, or too busy.`;
}

export async function noServerOn(dataDir: string): Promise<string> {
  const demo = join(dataDir, 'demo');
  const { found } = await findProcesses(demo);
  for (const { peer } of found) peer.close();
  const hint = found.length === 0 ? 'Another folder: --data-dir.' : `A demo does: --data-dir ${demo}`;
  return `No server of yours runs on ${resolve(dataDir)}. ${hint}`;
}

function toTable(servers: readonly ProcessStatus[]): string {
  const rows = [HEADINGS, ...servers.map(toRow)];
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
}

function toRow({ pid, version, port, state, calls, startedAt }: ProcessStatus): string[] {
  const since = new Date(startedAt).toISOString().replace(/\.\d+/, '');
  return [String(pid), version, port === null ? '-' : String(port), state, String(calls), since];
}
