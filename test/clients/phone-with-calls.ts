// What a client of the HTTP API meets: a phone behind a token, with calls that are over and one that is up.
import type { CallsPage } from '../../src/contract/dashboard-api.js';
import type { ServeOptions } from '../../src/options/serve.js';
import { ClientBench, until } from '../support/client-bench.js';

export const TOKEN = 'token-of-the-operator';

const CALLERS = ['+15550100', '+15550101', '+15550102', '+15550103', '+15550104'];

export interface PhoneWithCalls extends AsyncDisposable {
  readonly url: string;
  /** Who called, the last of whom is on the line. */
  readonly callers: readonly string[];
  /** What the server itself answers, without a generated client. */
  read<T>(path: string): Promise<T>;
}

/** With `localRecording` in `options`, calls that are over have a recording. */
export async function startPhoneWithCalls(options: Partial<ServeOptions> = {}): Promise<PhoneWithCalls> {
  const bench = await ClientBench.open();
  const { url } = await bench.serve({ dashboardToken: TOKEN, ...options });
  const read = async <T>(path: string): Promise<T> => {
    const answer = await fetch(url + path, { headers: { Authorization: `Bearer ${TOKEN}` } });
    return (await answer.json()) as T;
  };
  for (const caller of CALLERS) {
    const call = await bench.dial(caller);
    await call.speak(new Int16Array(1600));
    if (caller !== CALLERS.at(-1)) call.hangUp();
  }
  await until(async () => {
    const { calls } = await read<CallsPage>('/api/dashboard/calls');
    const finished = calls.filter(
      ({ status, localRecording }) =>
        status === 'completed' && (localRecording === null || localRecording.status === 'completed'),
    );
    return calls.length === CALLERS.length && finished.length === CALLERS.length - 1;
  });
  return { url, callers: CALLERS, read, [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose]() };
}
