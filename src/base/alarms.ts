// Timers for what comes fifty times a second for each call: set again and again, without allocating anything, and all that are due in the same
// millisecond ring for one timer of the clock.

/** A timer that its owner sets again and again. */
export interface Alarm {
  /** Rings once, when `delayMs` have passed, and never before. Takes the place of what was set. */
  set(delayMs: number): void;
  /** Idempotent. */
  cancel(): void;
}

/** The part of a clock that alarms are made of. */
interface Source {
  now(): number;
  after(delayMs: number, task: () => void): Timer;
  alarm?(task: () => void): Alarm;
}

interface Timer {
  cancel(): void;
}

/** An alarm that runs `task`: one of the clock's own, or else made of its timers. */
export function alarmOf(clock: Source, task: () => void): Alarm {
  return clock.alarm?.(task) ?? new TimerAlarm(clock, task);
}

class TimerAlarm implements Alarm {
  readonly #clock: Source;
  readonly #task: () => void;
  #timer: Timer | undefined;

  constructor(clock: Source, task: () => void) {
    this.#clock = clock;
    this.#task = task;
  }

  set(delayMs: number): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.after(delayMs, this.#task);
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}

/** Milliseconds that the wheel knows apart, a power of two. Whoever waits longer is looked at once in so many. */
const SLOTS = 64;
/** No tick: the alarm is not set, or nowhere in the wheel. */
const NONE = -1;

/** A tick is a whole millisecond of the clock. What is cancelled, or set anew for later, stays where it is until its tick comes. */
export class AlarmWheel {
  readonly #clock: Source;
  readonly #slots: WheelAlarm[][] = Array.from({ length: SLOTS }, () => []);
  /** Takes the place of the slot that is being rung. */
  #spare: WheelAlarm[] = [];
  /** Everything up to here has rung. */
  #turnedTo: number;
  #timer: Timer | undefined;
  #timerTick = NONE;
  readonly #turn = () => this.#turnTo(Math.floor(this.#clock.now()));

  constructor(clock: Source) {
    this.#clock = clock;
    this.#turnedTo = Math.floor(clock.now());
  }

  /** What `task` throws is an uncaught exception, as in any timer, and disturbs no other alarm. */
  alarm(task: () => void): Alarm {
    return new WheelAlarm(this, task);
  }

  /** For its alarms. */
  tickAfter(delayMs: number): number {
    return Math.ceil(this.#clock.now() + Math.max(0, delayMs || 0));
  }

  /** For its alarms: has it looked at when its tick comes. */
  put(alarm: WheelAlarm): void {
    const isEmpty = this.#timerTick === NONE;
    // Nobody has turned an empty wheel.
    if (isEmpty) this.#turnedTo = Math.floor(this.#clock.now());
    const tick = Math.min(Math.max(alarm.dueTick, this.#turnedTo + 1), this.#turnedTo + SLOTS);
    alarm.slotTick = tick;
    this.#slots[tick % SLOTS]?.push(alarm);
    if (isEmpty || tick < this.#timerTick) this.#wakeAt(tick);
  }

  #turnTo(now: number): void {
    this.#timer = undefined;
    const from = this.#turnedTo;
    // What is set meanwhile is set from here on.
    this.#turnedTo = now;
    for (let tick = from + 1; tick <= Math.min(now, from + SLOTS); tick += 1) this.#ring(tick % SLOTS, now);
    this.#timerTick = NONE;
    for (let tick = now + 1; tick <= now + SLOTS && this.#timerTick === NONE; tick += 1)
      if (this.#slots[tick % SLOTS]?.length !== 0) this.#wakeAt(tick);
  }

  #ring(slot: number, now: number): void {
    const ringing = this.#slots[slot];
    if (ringing === undefined || ringing.length === 0) return;
    const later = this.#spare;
    this.#slots[slot] = later;
    for (const alarm of ringing) {
      if (alarm.slotTick > now) {
        // Set while this slot waited for its turn; or it is here for the second time, and elsewhere by now.
        if (alarm.slotTick % SLOTS === slot) later.push(alarm);
      } else if (alarm.slotTick !== NONE) {
        alarm.slotTick = NONE;
        if (alarm.dueTick > now) this.put(alarm);
        else if (alarm.dueTick !== NONE) alarm.ring();
      }
    }
    ringing.length = 0;
    this.#spare = ringing;
  }

  #wakeAt(tick: number): void {
    this.#timer?.cancel();
    this.#timerTick = tick;
    this.#timer = this.#clock.after(tick - this.#clock.now(), this.#turn);
  }
}

class WheelAlarm implements Alarm {
  readonly #wheel: AlarmWheel;
  readonly #task: () => void;
  /** When it is to ring. */
  dueTick = NONE;
  /** When the wheel looks at it: not later. */
  slotTick = NONE;

  constructor(wheel: AlarmWheel, task: () => void) {
    this.#wheel = wheel;
    this.#task = task;
  }

  set(delayMs: number): void {
    this.dueTick = this.#wheel.tickAfter(delayMs);
    if (this.slotTick === NONE || this.slotTick > this.dueTick) this.#wheel.put(this);
  }

  cancel(): void {
    this.dueTick = NONE;
  }

  ring(): void {
    this.dueTick = NONE;
    try {
      this.#task();
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
