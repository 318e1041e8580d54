// One HTTP exchange with the REST API: sent once, read up to a limit, and sorted by what is known afterwards.
import { exchange as exchangeText } from '../exchange.js';
import { wasNeverSent, whereAndWhy } from '../unsent.js';

/** An object of a JSON body. */
export type Fields = Readonly<Record<string, unknown>>;

/** Name and value of a form; arrays are repeated names. */
export type FormField = readonly [name: string, value: string];

/** How an exchange went. */
export type Outcome =
  | {
      readonly type: 'answer';
      readonly status: number;
      /** Undefined for what is not a JSON object, was cut off or is too long. */
      readonly body: Fields | undefined;
      /** What the carrier asks to wait before the next try; 0 when it does not say. */
      readonly retryAfterMs: number;
    }
  /** `unsent`: the request has not left. `lost` and `timeout`: it may have been carried out. */
  | {
      readonly type: 'failure';
      readonly reason: 'unsent' | 'lost' | 'timeout';
      /** Host and code, as the end of a sentence. */
      readonly detail: string;
      readonly cause: unknown;
    };

/** A POST with `form`; without, `method`, or a GET. Never throws. */
export async function exchange(
  url: string,
  request: {
    authorization: string;
    form: readonly FormField[] | undefined;
    method?: 'DELETE' | undefined;
    signal: AbortSignal;
  },
): Promise<Outcome> {
  const { authorization, form, method = 'GET', signal } = request;
  const headers = { authorization, accept: 'application/json' };
  try {
    const {
      status,
      headers: answered,
      text,
    } = await exchangeText(
      url,
      form === undefined
        ? { method, headers, signal }
        : {
            method: 'POST',
            headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' },
            body: new URLSearchParams(form.map(([...field]) => field)).toString(),
            signal,
          },
    );
    return {
      type: 'answer',
      status,
      body: toFields(text),
      retryAfterMs: retryAfterMs(answered['retry-after']),
    };
  } catch (cause) {
    return { type: 'failure', reason: reasonOf(cause), detail: whereAndWhy(url, cause), cause };
  }
}

/** An empty body is an object without fields. */
function toFields(text: string | undefined): Fields | undefined {
  if (text === undefined) return undefined;
  if (text === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}

function retryAfterMs(seconds = ''): number {
  return /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1000 : 0;
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError';
}

function reasonOf(error: unknown): 'unsent' | 'lost' | 'timeout' {
  if (isTimeout(error)) return 'timeout';
  return wasNeverSent(error) ? 'unsent' : 'lost';
}
