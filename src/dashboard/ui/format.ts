// How values are written on the page. What is not known is a dash.
import type { Cost } from '../../contract/call-record.js';

export const UNKNOWN = '–';

/** `1:05` or `1:02:03`, to the nearest second. */
export function formatDuration(durationMs: number | null): string {
  if (durationMs === null) return UNKNOWN;
  const seconds = Math.max(0, Math.round(durationMs / 1000));
  const clock = [Math.floor(seconds / 60) % 60, seconds % 60].map((part) => String(part).padStart(2, '0'));
  const hours = Math.floor(seconds / 3600);
  return hours > 0 ? `${hours}:${clock.join(':')}` : clock.join(':').replace(/^0/, '');
}

/** A place on the axis of a call: `1:05`, whole seconds, and `−0:03` before its second 0. */
export function formatPlace(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  return `${seconds < 0 ? '−' : ''}${formatDuration(Math.abs(seconds) * 1000)}`;
}

/** `840 ms`, `1.24 s`. */
export function formatLatency(latencyMs: number | null): string {
  if (latencyMs === null) return UNKNOWN;
  return latencyMs < 1000 ? `${Math.round(latencyMs)} ms` : `${(latencyMs / 1000).toFixed(2)} s`;
}

/** US dollars: cents from ten dollars up, hundredths of a cent below. */
export function formatMoney(dollars: number | null): string {
  if (dollars === null) return UNKNOWN;
  if (dollars === 0) return '$0.00';
  if (dollars > 0 && dollars < 0.0001) return '<$0.0001';
  return `$${dollars.toFixed(dollars < 10 ? 4 : 2)}`;
}

/** The sum of a call's cost; a dash while no part of it is known. */
export function formatTotal(cost: Cost): string {
  const parts = [cost.stt, cost.llm, cost.tts, cost.telephony];
  return formatMoney(parts.every((part) => part === null) ? null : cost.total);
}

const digitsOf = (value: string) => value.replace(/\D/g, '');

/** A telephone number with all but its last four digits hidden, or an address; words for a caller without a number pass. */
export function formatNumber(value: string, options: { masked: boolean }): string {
  if (value === '') return 'unknown';
  if (!options.masked) return value;
  const [user = ''] = value.split('@');
  const digits = digitsOf(user);
  if (digits.length >= 5) return `••• ${digits.slice(-4)}`;
  return user !== value || /^(sips?|tel):/i.test(value) ? '•••' : value;
}

/** Local time of day; with the day when it was not today. */
export function formatTime(
  at: number,
  now: number,
  options: { seconds: boolean } = { seconds: true },
): string {
  const date = new Date(at);
  const time = date.toLocaleTimeString(undefined, {
    hour: '2-digit',
    minute: '2-digit',
    ...(options.seconds ? { second: '2-digit' } : {}),
  });
  if (date.toDateString() === new Date(now).toDateString()) return time;
  return `${formatDay(at)}, ${time}`;
}

/** The local day. */
export function formatDay(at: number): string {
  return new Date(at).toLocaleDateString(undefined, { month: 'short', day: 'numeric' });
}

/** `1 turn`, `2 turns`. */
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `no-answer` becomes `no answer`. */
export function formatWord(word: string | null): string {
  return word === null ? UNKNOWN : word.replaceAll('-', ' ');
}

/** `de-CH` becomes `Swiss High German`; a tag that has no name stands as it is. */
export function formatLanguage(tag: string): string {
  try {
    return new Intl.DisplayNames(['en'], { type: 'language' }).of(tag) ?? tag;
  } catch {
    return tag;
  }
}

/** A time as the browser's field for local dates has it, to the minute. */
export function toLocalInput(at: number | null): string {
  if (at === null) return '';
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Epoch milliseconds of what such a field says; null for nothing. */
export function parseLocalInput(value: string): number | null {
  const at = new Date(value).getTime();
  return Number.isNaN(at) || at < 0 ? null : at;
}
