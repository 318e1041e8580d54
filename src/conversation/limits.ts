// Every limit on what a caller may wait for, or hear nothing of, in milliseconds. Settings, such as when a filler is said, are documented at
// their options; what only bounds memory or a vendor's protocol stands where it is used.

/** Callers ask whether anybody is there after some five seconds without a sound. */
const CALLER_ASKS_MS = 5000;

/** A carrier needs a moment to begin an apology. */
const CARRIER_BEGINS_MS = 400;

/** So early that whoever takes over has what an answer has in any case, and a moment to be begun, before the caller asks. */
const REPLACEABLE_MS = 2950;

/** How long ago the caller's last sound mostly is when a model notices by itself that they have finished. */
const NOTICED_MS = 500;

export const LIMITS = {
  /** The one silence in which a caller waits, whoever takes the time. */
  silence: {
    lastMs: CALLER_ASKS_MS - CARRIER_BEGINS_MS,
    /** The same where somebody else can answer in the place of who does not. */
    replaceableMs: REPLACEABLE_MS,
    /** Left to the voice, to apologize for a model that hangs, or for words that came at the last moment. */
    voiceMs: 400,
    /** With less left of it a third engine is not begun: the carrier apologizes. More than `lastMs - replaceableMs`, when a second one mostly begins, would leave no third one any time. */
    minThirdMs: 1200,
    /** A provider that has used it up is found by then: what is longer was for nothing, or for the application. */
    lateMs: 1000,
  },

  /** What an answer has in any case until its first words, however long the caller has waited for their own to be recognized. */
  answer: {
    /**
     * A model that works mostly begins within 1.5 s. Where the words came after three seconds, this is all that is left of the silence: the
     * voice is then not asked to apologize any more, the carrier is.
     */
    minMs: 1600,
    /** The same where somebody else can answer, who needs some of the time. */
    minReplaceableMs: 800,
    /** The same behind an engine that hung, and was given up late. What hangs next takes no more. */
    minTakenOverMs: 1250,
    /** Of one that another engine owed, and that a sound cut off before it was heard: so long it waits for words. */
    takenOverWordsMs: 300,
  },

  /** What a language model has. Its silence mostly ends before that. */
  model: {
    /** Until its first token, and between two. */
    firstMs: 6000,
    nextMs: 4000,
    /** The same where another voice mode can answer in its place. */
    replaceableMs: 3000,
    /** One that works mostly gives something within this time: less than that says nothing about it. */
    fairMs: 1500,
  },

  /** What the application has that answers in the place of a model, until its answer and between two pieces of one: its own affair. */
  application: {
    answerMs: 30_000,
    /** It keeps that deadline itself; this one lies behind it. */
    graceMs: 1000,
    /** Its look at a sentence, for which the caller waits. */
    guardrailMs: 1000,
  },

  /** When the text of an answer goes to the voice, so that the caller hears something. */
  text: {
    /** When no sentence has ended by then, the first piece may end at any clause. */
    hurryMs: 250,
    /** By then the first piece is words, where they come hardly faster than they are spoken, and a while later in any case. */
    wordsMs: 700,
    longestMs: 1500,
    /** Words are given to the voice so long before it has nothing more to say. */
    leadMs: 300,
  },

  /** What the voice has between two pieces of audio. What the caller still hears is no time for it. */
  voice: { nextMs: 4000 },

  /** What the recognizer has for the words of a caller who has finished. */
  words: {
    /** With an open piece of text, and with none at all. */
    openMs: 1000,
    noneMs: 2000,
    /** One that is behind and still writes is waited for up to this. */
    longestMs: 3000,
    /** It writes so soon what it hears: words that have not grown for this long, and the wait that they need, are all there are. */
    stillMs: 1500,
    /** A turn that is over waits so long for the text of what it answers, which a model of sound writes late. Nobody waits for it. */
    textMs: 3000,
  },

  /**
   * A caller who speaks without end: their turn ends at its next short pause after a minute, and in any case after one and a half. For `cutInMs`
   * they cannot interrupt who interrupts them: they have stopped by then, if they will.
   */
  monologue: { longMs: 60_000, pauseMs: 200, longestMs: 90_000, cutInMs: 2000 },

  /**
   * What a model has that hears the caller by itself and speaks: to show a sign of life. It has to be given up before the caller asks, who
   * is known to have finished only when it has noticed that: `noticedMs` after their last sound.
   */
  session: {
    noticedMs: NOTICED_MS,
    /** Until the first connection; between two signs of life; until a lost connection is back, and for that in any case. */
    last: {
      openingMs: CALLER_ASKS_MS - NOTICED_MS,
      silentMs: CALLER_ASKS_MS - 2 * NOTICED_MS,
      lostMs: CALLER_ASKS_MS - CARRIER_BEGINS_MS - 2 * NOTICED_MS,
      minLostMs: 400,
    },
    /** So early that whoever takes its place is heard before the caller asks, or fails by then. */
    replaceable: {
      openingMs: 2000,
      silentMs: REPLACEABLE_MS - NOTICED_MS,
      lostMs: 2500,
      minLostMs: 0,
    },
    /** Of what it had said when it was given up so much is played to its end. Nobody hears the caller meanwhile: more is cut off. */
    inHandMs: 20_000,
    /** What one has in any case that takes over from an engine that kept the caller waiting. */
    minTakenOverMs: 1500,
    /** What a new connection has for an answer, however long the caller has waited for the connection. */
    minAnswerMs: 1200,
  },

  /** A mark so long overdue is lost: the playback clock then says what the caller has heard. */
  playout: { markGraceMs: 1500 },

  /** The agent's own apology, behind which the carrier's stand. */
  apology: {
    /** By then it sounds, where the caller's silence leaves it so long. */
    soundMs: 1500,
    /** Behind what the agent is saying it has so long to begin, and as long again to come to its end. */
    longestMs: 8000,
  },

  /**
   * Silence before every further phrase while a tool runs: a model needs a moment to begin, and callers ask after some five seconds. `voiceMs`: what
   * the voice has for a phrase, and between two pieces of one; nobody waits for it, and a late one is not said.
   */
  filler: { againMs: 3500, voiceMs: 5000 },
} as const;
