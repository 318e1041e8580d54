// One call on a clock that goes as fast as the processor: the real engine and pacer, a caller who speaks over a noise, and stand-ins for
// recognizer, model and voice with the timing of real ones.
import { RATE_HZ, randomOf } from './sounds.mjs';

const FRAME_MS = 20;
const FRAME = (RATE_HZ * FRAME_MS) / 1000;
const FULL_SCALE = 32_768;

/** A word stands in the recognizer's text so long after it was said; a question for the rest is answered, and an utterance ends, so late. */
const INTERIM_MS = 250;
const FINISH_MS = 150;
const SILENCE_MS = 900;
/** The model's first token, and the voice's first audio. */
const TOKEN_MS = 250;
const AUDIO_MS = 120;
/** Callers ask whether anybody is there. */
const UNANSWERED_MS = 7000;
const BETWEEN_MS = 900;
const ECHO_DELAY_MS = 160;
const AGENT_DBFS = -20;

const UTTERANCES = [
  ['I would like to book a table for two people.', 'en-us+m3'],
  ['Are you open on Friday evening?', 'en-us+f2'],
  ['My name is Miller, and I have an appointment with the doctor tomorrow.', 'en-gb+m1'],
  ['Yes, please.', 'en-us+f4'],
  ['How long does it take from the station, and is there a place to park?', 'en-us+m7'],
];
const ANSWER = 'Let me have a look at that for you. There is something free at half past seven.';
/** What callers talk over, and after so much of it. */
const LONG_ANSWER = `${ANSWER} The kitchen closes at ten, and the bar at midnight. Parking is behind the house, and it is free for our guests.`;
const INTO_MS = 2500;
const INTO_GREETING_MS = 1500;

class Clock {
  #now = 0;
  #order = 0;
  /** @type {Set<{ at: number, order: number, task: () => void }>} */
  #timers = new Set();
  now() {
    return this.#now;
  }
  wallNow() {
    return Date.UTC(2026, 0, 1) + this.#now;
  }
  /** @param {number} delayMs @param {() => void} task */
  after(delayMs, task) {
    this.#order += 1;
    const due = { at: this.#now + Math.max(0, delayMs), order: this.#order, task };
    this.#timers.add(due);
    return { cancel: () => void this.#timers.delete(due) };
  }
  /** @param {number} ms */
  async advance(ms) {
    const end = this.#now + ms;
    for (;;) {
      let next;
      for (const due of this.#timers)
        if (
          due.at <= end &&
          (next === undefined || due.at < next.at || (due.at === next.at && due.order < next.order))
        )
          next = due;
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.task();
      await settled();
    }
    this.#now = end;
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Writes the words of the utterance that is on as they are said. Noise it does not write. */
class Recognizer {
  name = 'stand-in';
  ownsTurnTaking = false;
  #clock;
  /** @type {any} */
  #events;
  /** @type {string[]} */
  #words = [];
  #open = 0;
  /** @type {{ cancel(): void }[]} */
  #timers = [];
  /** @param {Clock} clock */
  constructor(clock) {
    this.#clock = clock;
  }
  /** @param {{ events: any }} options */
  open({ events }) {
    this.#events = events;
    return {
      pushAudio() {},
      finishUtterance: () => void this.#clock.after(FINISH_MS, () => this.#final()),
      close() {},
    };
  }
  /** @param {string} text @param {number} durationMs */
  hears(text, durationMs) {
    this.#final();
    for (const timer of this.#timers) timer.cancel();
    this.#words = text.split(' ');
    this.#open = 0;
    let letters = 0;
    this.#timers = this.#words.map((word, index) => {
      letters += word.length + 1;
      const endMs = (durationMs * letters) / (text.length + 1);
      return this.#clock.after(endMs + INTERIM_MS, () => {
        this.#open = index + 1;
        this.#events.partial(this.#words.slice(0, this.#open).join(' '));
      });
    });
    this.#timers.push(this.#clock.after(durationMs + SILENCE_MS, () => this.#final()));
  }
  #final() {
    const text = this.#words.slice(0, this.#open).join(' ');
    this.#words = this.#words.slice(this.#open);
    this.#open = 0;
    this.#events.final(text);
  }
}

/**
 * What became of the turns of one call. `stopsMs`: from the first sound of a caller who talks over the agent to its silence; not a
 * number where it went on.
 * @typedef {{ turns: number, cutIns: number, unanswered: number, falseInterruptions: number, agentMs: number, waitsMs: number[], stopsMs: number[] }} Outcome
 */

/**
 * `talksOver`: the caller does not let the agent finish.
 * @param {{ modules: any, speak: import('./sounds.mjs').Speak, noise: string, sound: Float64Array | undefined, levelDbfs: number, snrDb: number, talksOver?: boolean }} options
 * @returns {Promise<Outcome>}
 */
export async function playCall({ modules, speak, noise, sound, levelDbfs, snrDb, talksOver = false }) {
  const {
    createPipelineRecipe,
    Pacer,
    createOutboundConverter,
    backend,
    PCM_16K,
    silentLogger,
    silentMeters,
  } = modules;
  const clock = new Clock();
  const recognizer = new Recognizer(clock);
  const random = randomOf(7);
  const speech = FULL_SCALE * 10 ** (levelDbfs / 20);
  const behind = FULL_SCALE * 10 ** ((levelDbfs - snrDb) / 20);
  /** The agent's last sound, for the echo. @type {Map<number, Float64Array>} */
  const played = new Map();
  /** @type {Outcome} */
  const outcome = {
    turns: 0,
    cutIns: 0,
    unanswered: 0,
    falseInterruptions: 0,
    agentMs: 0,
    waitsMs: [],
    stopsMs: [],
  };
  /** Words of the caller may come until then. */
  let speaksUntil = 0;
  let soundsUntil = 0;
  /** @type {number | undefined} */
  let clearedAt;
  /** @type {number | undefined} */
  let answeredAt;
  const sink = {
    bufferedBytes: 0,
    /** @param {Uint8Array} bytes */
    sendAudio(bytes) {
      const startsAt = Math.max(clock.now(), soundsUntil);
      soundsUntil = startsAt + bytes.length / 32;
      const copy = bytes.slice();
      const samples = new Int16Array(copy.buffer);
      played.set(
        Math.round(startsAt / FRAME_MS),
        Float64Array.from(samples, (x) => x / FULL_SCALE / 10 ** (AGENT_DBFS / 20)),
      );
      answeredAt ??= startsAt;
      outcome.agentMs += bytes.length / 32;
      const endMs = soundsUntil;
      for (const name of marks.splice(0)) mark(name, endMs);
    },
    /** @param {string} name */
    sendMark(name) {
      mark(name, soundsUntil);
    },
    sendClear() {
      outcome.agentMs -= Math.max(0, soundsUntil - clock.now());
      for (const at of played.keys()) if (at * FRAME_MS > clock.now()) played.delete(at);
      soundsUntil = clock.now();
      clearedAt ??= clock.now();
      if (clock.now() > speaksUntil) outcome.falseInterruptions += 1;
    },
  };
  /** @type {string[]} */
  const marks = [];
  const mark = (/** @type {string} */ name, /** @type {number} */ atMs) =>
    void clock.after(atMs - clock.now() + 60, () => {
      if (pacer.markEchoed(name)) engine.markPlayed(name);
    });
  const pacer = new Pacer({ converter: createOutboundConverter(PCM_16K, backend), sink, clock });
  const pause = (/** @type {number} */ ms) =>
    new Promise((resolve) => clock.after(ms, () => resolve(undefined)));
  const model = {
    name: 'stand-in',
    async *respond() {
      await pause(TOKEN_MS);
      yield { type: 'text', delta: talksOver ? LONG_ANSWER : ANSWER };
    },
  };
  const voice = {
    name: 'stand-in',
    open: () => ({
      /** @param {string} text */
      async *synthesize(text) {
        await pause(AUDIO_MS);
        const level = FULL_SCALE * 10 ** (AGENT_DBFS / 20);
        yield Int16Array.from(speak(text, 'en-us+f3'), (x) => clipped(x * level));
      },
      close() {},
    }),
  };
  const engine = createPipelineRecipe({
    stt: recognizer,
    llm: model,
    tts: voice,
    firstMessage: 'Hello, this is the front desk. What can I do for you?',
  }).create({
    callId: 'bench',
    caller: '+15550100',
    callee: '+15550111',
    direction: 'inbound',
    clock,
    logger: silentLogger,
    meters: silentMeters,
    playout: pacer,
    controls: { transfer: async () => undefined, sendDigits: async () => undefined },
    fact() {},
    endCall() {},
  });
  /** @type {Float64Array | undefined} */
  let utterance;
  let said = 0;
  let at = 0;
  const lossShare = { 5: 0.2, 10: 0.1, 15: 0.05, 25: 0.02 }[snrDb] ?? 0;
  let isLost = false;
  const frame = new Int16Array(FRAME);
  /** The next 20 ms of the call. */
  const step = async () => {
    await clock.advance(FRAME_MS);
    const echo =
      noise === 'echo' ? played.get(Math.round((clock.now() - ECHO_DELAY_MS) / FRAME_MS)) : undefined;
    for (let index = 0; index < FRAME; index += 1) {
      const own = utterance?.[said + index] ?? 0;
      const other = sound?.[(at + index) % sound.length] ?? echo?.[index] ?? 0;
      // What every line has.
      const hiss = random() * 20;
      frame[index] = clipped(own * speech + other * behind + hiss);
    }
    at += FRAME;
    if (utterance !== undefined) said += FRAME;
    // Losses come in pairs.
    if (noise === 'loss') isLost = Math.abs(random()) < (isLost ? 0.5 : lossShare / 2);
    if (isLost) frame.fill(0);
    played.delete(Math.round((clock.now() - 1000) / FRAME_MS));
    engine.pushAudio(frame);
    await settled();
  };
  const steps = async (/** @type {number} */ ms) => {
    for (let passed = 0; passed < ms; passed += FRAME_MS) await step();
  };
  /** Until the agent has said all it has, but not for ever. */
  const untilQuiet = async () => {
    for (let quietMs = 0, passed = 0; quietMs < BETWEEN_MS && passed < 20_000; passed += FRAME_MS) {
      await step();
      quietMs = soundsUntil > clock.now() ? 0 : quietMs + FRAME_MS;
    }
  };
  /** The caller says this. @param {string} text @param {string} name */
  const says = async (text, name) => {
    utterance = speak(text, name);
    const durationMs = (utterance.length / RATE_HZ) * 1000;
    recognizer.hears(text, durationMs);
    said = 0;
    answeredAt = undefined;
    // Those that come late are no false interruption.
    speaksUntil = clock.now() + durationMs + INTERIM_MS + FINISH_MS;
    await steps(durationMs);
    utterance = undefined;
  };
  let isGreeting = true;
  /** Until the agent is heard. */
  const untilAnswered = async () => {
    const since = clock.now();
    while (answeredAt === undefined && clock.now() - since < UNANSWERED_MS) await step();
  };
  /** @param {string} text @param {string} name */
  const turn = async (text, name) => {
    await says(text, name);
    outcome.turns += 1;
    if (answeredAt !== undefined) outcome.cutIns += 1;
    answeredAt = undefined;
    const endedAt = clock.now();
    await untilAnswered();
    if (answeredAt === undefined) outcome.unanswered += 1;
    else outcome.waitsMs.push(answeredAt - endedAt);
    await untilQuiet();
  };
  /** @param {string} text @param {string} name */
  const interruption = async (text, name) => {
    await steps(isGreeting ? INTO_GREETING_MS : INTO_MS);
    const beganAt = clock.now();
    // A noise may have silenced it before.
    const isSounding = soundsUntil > beganAt;
    clearedAt = undefined;
    await says(text, name);
    await steps(INTERIM_MS + FINISH_MS);
    if (isSounding) outcome.stopsMs.push((clearedAt ?? Number.NaN) - beganAt);
    isGreeting = false;
    answeredAt = undefined;
    await untilAnswered();
  };
  engine.start();
  if (!talksOver) await untilQuiet();
  for (const [text = '', name = ''] of UTTERANCES) await (talksOver ? interruption : turn)(text, name);
  engine.close();
  pacer.close();
  return outcome;
}

/** @param {number} sample */
function clipped(sample) {
  return Math.max(-FULL_SCALE, Math.min(FULL_SCALE - 1, Math.round(sample)));
}
