// Tells a person who looks elsewhere that a call has failed or a caller waits: in the ways that they have asked this browser for.
import type { CallSummary } from '../../../contract/dashboard-api.js';
import { formatNumber, formatWord } from '../format.js';
import { ALERT_WAYS, type AlertWay, readState, update } from './app-store.js';
import { serverNow } from './clock.js';
import { LONG_WAIT_MS, longWaits } from './live.js';
import { isTrouble } from './trouble.js';

const KEY = 'offhook.alerts';
/** Many at a time are heard once. */
const QUIET_MS = 3000;
const LOOK_MS = 1000;

/** Callers whose wait was told of, by call: since when they have waited. */
let told = new Map<string, number>();
let lastSoundAt = 0;
let audio: AudioContext | undefined;
/** A sound waits for the browser to let the page make one. */
let isSoundHeld = false;

/** The ways that were chosen stay in this browser. */
export function startAlerts(): void {
  update(() => ({ alertWays: readWays() }));
  // What was missed has been seen.
  for (const type of ['focus', 'visibilitychange', 'pointerdown'])
    window.addEventListener(type, () => {
      if (!isAway() && readState().missedAlerts > 0) update(() => ({ missedAlerts: 0 }));
    });
  // Some browsers let a page make a sound only where it asks while somebody presses something.
  for (const type of ['click', 'keydown'])
    window.addEventListener(type, () => {
      if (isSoundHeld) resume();
    });
  setInterval(lookForWaits, LOOK_MS);
}

/** False where the browser cannot: notifications need its consent, and a page that came over https or from this machine. */
export async function chooseWay(way: AlertWay, isOn: boolean): Promise<boolean> {
  if (isOn && way === 'notification' && !(await mayNotify())) return false;
  // A browser lets a page make a sound once somebody has pressed something on it.
  if (isOn && way === 'sound') beep();
  update(({ alertWays }) => {
    const others = [...alertWays].filter((each) => each !== way);
    const ways = new Set(isOn ? [...others, way] : others);
    keepWays(ways);
    isSoundHeld &&= ways.has('sound');
    return { alertWays: ways, ...(ways.has('title') ? {} : { missedAlerts: 0 }) };
  });
  return true;
}

/** A call that was up, and is over. */
export function hearEnd(ended: string): void {
  const call = readState().page.history.find(({ callId }) => callId === ended);
  if (call !== undefined && isTrouble(call))
    alert(`Call ${whoseCall(call)} failed: ${formatWord(call.endReason)}`);
}

function lookForWaits(): void {
  const { page, connection, alertWays } = readState();
  if (connection.phase !== 'live' || alertWays.size === 0) return;
  const waits = longWaits(page.active.values(), serverNow);
  for (const { call, since } of waits) {
    if (told.get(call.callId) !== since)
      alert(`Call ${whoseCall(call)}: the caller has been waiting for ${LONG_WAIT_MS / 1000} s`);
  }
  told = new Map(waits.map(({ call, since }) => [call.callId, since]));
}

/** A notification may stand on a locked screen: it never has a whole number. */
function whoseCall({ direction, caller, callee }: Pick<CallSummary, 'direction' | 'caller' | 'callee'>) {
  const number = formatNumber(direction === 'inbound' ? caller : callee, { masked: true });
  return direction === 'inbound' ? `from ${number}` : `to ${number}`;
}

function alert(text: string): void {
  const { alertWays } = readState();
  update(({ missedAlerts }) => ({
    announcement: text,
    ...(alertWays.has('title') && isAway() ? { missedAlerts: missedAlerts + 1 } : {}),
  }));
  if (alertWays.has('notification') && 'Notification' in window && Notification.permission === 'granted')
    notify(text);
  if (!alertWays.has('sound') || Date.now() - lastSoundAt < QUIET_MS) return;
  lastSoundAt = Date.now();
  beep();
}

/** One takes the place of the other. */
function notify(text: string): void {
  try {
    const notification = new Notification('offhook', { body: text, tag: 'offhook' });
    notification.addEventListener('click', () => window.focus());
  } catch {
    // Some browsers on phones let no page show one by itself.
  }
}

/** Sounds once the browser lets it, however often it was asked for until then: the time of an audio context stands still meanwhile. */
function beep(): void {
  if (audio === undefined) {
    audio = new AudioContext();
    audio.addEventListener('statechange', soundHeld);
  }
  isSoundHeld = true;
  soundHeld();
  if (isSoundHeld) resume();
}

/** Its refusal is no matter: the next gesture asks again. */
function resume(): void {
  audio?.resume().catch(() => {});
}

function soundHeld(): void {
  if (!isSoundHeld || audio?.state !== 'running') return;
  isSoundHeld = false;
  sound(audio);
}

/** Two short tones. */
function sound(audio: AudioContext): void {
  for (const [place, hertz] of [880, 660].entries()) {
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    const from = audio.currentTime + place * 0.18;
    tone.frequency.value = hertz;
    volume.gain.setValueAtTime(0.15, from);
    volume.gain.exponentialRampToValueAtTime(0.001, from + 0.16);
    tone.connect(volume).connect(audio.destination);
    tone.start(from);
    tone.stop(from + 0.17);
  }
}

async function mayNotify(): Promise<boolean> {
  if (!('Notification' in window) || !window.isSecureContext) return false;
  return (await Notification.requestPermission()) === 'granted';
}

function isAway(): boolean {
  return document.hidden || !document.hasFocus();
}

function readWays(): ReadonlySet<AlertWay> {
  try {
    const kept = (localStorage.getItem(KEY) ?? '').split(' ');
    return new Set(ALERT_WAYS.filter((way) => kept.includes(way)));
  } catch {
    // A browser may forbid pages to keep anything.
    return new Set();
  }
}

function keepWays(ways: ReadonlySet<AlertWay>): void {
  try {
    localStorage.setItem(KEY, [...ways].join(' '));
  } catch {
    // Then they are for this visit alone.
  }
}
