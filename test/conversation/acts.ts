// What schedules of a call are made of: everything that may happen in one, how often, and what follows where all do what they should.

/** Something that happens. What makes no sense as things stand does not: nobody interrupts an agent who is silent. */
export type Act =
  | { readonly act: 'wait'; readonly ms: number }
  | { readonly act: 'words'; readonly text: string }
  | { readonly act: 'ask'; readonly interrupts: boolean }
  | { readonly act: 'resume'; readonly how: 'continue' | 'listen' | 'news' }
  | { readonly act: 'fail'; readonly stage: 'stt' | 'llm' | 'tts'; readonly isPassing: boolean }
  | { readonly act: 'answer comes to nothing' | 'connection lost' | 'connection back' }
  | { readonly act: 'speak' | 'fall silent' | 'say nothing' | 'press' | 'finish pressing' }
  | { readonly act: 'interrupt' | 'doubt' | 'sign' | 'vendor interrupts' }
  | { readonly act: 'answer begins' | 'audible' | 'heard on' | 'heard out' }
  | { readonly act: 'call tool' | 'tool gives' | 'ends call' }
  | { readonly act: 'hold' | 'hand off' | 'process dies' };

/** What happens all the time: the simplest first. */
const USUAL: readonly Act[] = [
  { act: 'audible' },
  { act: 'audible' },
  { act: 'heard out' },
  { act: 'heard out' },
  { act: 'heard on' },
  { act: 'wait', ms: 20 },
  { act: 'wait', ms: 300 },
  { act: 'wait', ms: 1000 },
  { act: 'words', text: 'yes' },
  { act: 'words', text: 'no, Friday' },
  { act: 'speak' },
  { act: 'fall silent' },
  { act: 'fall silent' },
  { act: 'say nothing' },
  { act: 'press' },
  { act: 'finish pressing' },
  { act: 'interrupt' },
  { act: 'doubt' },
  { act: 'sign' },
  { act: 'vendor interrupts' },
  { act: 'answer begins' },
  { act: 'call tool' },
  { act: 'tool gives' },
  { act: 'ask', interrupts: false },
  { act: 'ask', interrupts: true },
  { act: 'hold' },
  { act: 'resume', how: 'continue' },
  { act: 'resume', how: 'listen' },
  { act: 'resume', how: 'news' },
];

/** What happens now and then, and mostly changes or ends everything. */
const UNUSUAL: readonly Act[] = [
  { act: 'wait', ms: 8000 },
  { act: 'ends call' },
  { act: 'answer comes to nothing' },
  { act: 'connection lost' },
  { act: 'connection back' },
  { act: 'hand off' },
  { act: 'process dies' },
  { act: 'fail', stage: 'llm', isPassing: true },
  { act: 'fail', stage: 'llm', isPassing: false },
  { act: 'fail', stage: 'tts', isPassing: false },
  { act: 'fail', stage: 'stt', isPassing: false },
];

/** A schedule is a series of these. */
export const ACTS: readonly Act[] = [...USUAL, ...USUAL, ...USUAL, ...UNUSUAL];

/** Everybody does what they should. */
export const AT_BEST: readonly Act[] = [
  { act: 'resume', how: 'continue' },
  { act: 'connection back' },
  { act: 'fall silent' },
  { act: 'say nothing' },
  { act: 'finish pressing' },
  { act: 'tool gives' },
  { act: 'audible' },
  { act: 'heard out' },
  { act: 'wait', ms: 20 },
];

/** The caller says something. */
export const TURN: readonly Act[] = [
  { act: 'speak' },
  { act: 'words', text: 'yes' },
  { act: 'fall silent' },
  { act: 'say nothing' },
];

/** Acts of the caller that interrupt nothing which may not be interrupted. */
export const CALLERS: readonly Act['act'][] = [
  'press',
  'finish pressing',
  'interrupt',
  'doubt',
  'sign',
  'fall silent',
  'say nothing',
];
