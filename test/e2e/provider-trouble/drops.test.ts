// A vendor drops its connection, at every moment of a call: another one is made, and the call goes on.
import { cells, type TroubledCall } from '../../support/provider-trouble.js';
import { VENDORS } from '../../support/vendor-line-up.js';
import {
  checkReconnected,
  checkToolResult,
  describeTrouble,
  type WantedEnd,
  wantedOfLostAnswer,
} from '../../support/trouble-checks.js';
import { DROPS, OWN_CLOSES, REFUSING_CLOSES } from '../../support/vendor-troubles.js';

/** A model's answer that has begun is not asked for again, and one that has not is asked for once more. */
function wantedOfModel(call: TroubledCall): WantedEnd {
  return wantedOfLostAnswer(call) ?? (call.phase === 'start' ? 'goes on' : 'either');
}

/** Of the goodbye all may be there already. */
function wantedOfRefused({ phase }: TroubledCall): WantedEnd {
  return phase === 'goodbye' ? 'either' : 'sorry';
}

/** Both are words of the agent itself: it closes with 1000 when it has hung up, with 1002 when something of its own has failed. */
function wantedOfAgent(call: TroubledCall): WantedEnd {
  const { trouble, phase } = call;
  if (trouble.name === 'closed with 1002') return 'goes on';
  if (trouble.name === 'closed with 1000') return phase === 'start' ? 'goes on' : 'hangs up';
  return REFUSING_CLOSES.includes(trouble) ? wantedOfRefused(call) : 'goes on';
}

const EVERY_DROP = [...DROPS, ...OWN_CLOSES];
const SENTENCE_DROPS = [...EVERY_DROP, ...REFUSING_CLOSES];

/** Those whose connection is broken while a tool runs. That its caller is gone no agent waits for. */
const WITH_TOOL = cells('engine', VENDORS.engine, EVERY_DROP)
  .filter(({ phase }) => phase === 'thinking')
  .filter(({ vendor, trouble }) => vendor !== 'agents' || trouble.name !== 'closed with 1000')
  .map((call) => ({ ...call, withTool: true }));

const AGENT_DROPS = cells('engine', ['agents'], [...EVERY_DROP, ...REFUSING_CLOSES]);
const REALTIME_DROPS = cells('engine', ['openai', 'gemini'], EVERY_DROP);
const REALTIME_REFUSES = cells('engine', ['openai', 'gemini'], REFUSING_CLOSES);

describeTrouble(
  'a recogniser drops',
  cells('stt', ['deepgram'], EVERY_DROP),
  () => 'goes on',
  checkReconnected,
);
describeTrouble(
  'a recogniser refuses to go on',
  cells('stt', ['deepgram'], REFUSING_CLOSES),
  wantedOfRefused,
);
describeTrouble(
  'a recogniser of recordings drops',
  cells('stt', ['transcription'], DROPS),
  () => 'goes on',
  checkReconnected,
);
// A voice that was lost for good gets one more chance when there is something to say: with settings that it took before it is no trouble of ours.
describeTrouble(
  'a voice drops',
  cells('tts', ['elevenlabs'], SENTENCE_DROPS),
  () => 'goes on',
  checkReconnected,
);
describeTrouble('a realtime model drops', REALTIME_DROPS, () => 'goes on', checkReconnected);
describeTrouble('a realtime model refuses to go on', REALTIME_REFUSES, wantedOfRefused);
describeTrouble('an agent drops', AGENT_DROPS, wantedOfAgent, checkReconnected);
describeTrouble('a realtime model drops while a tool runs', WITH_TOOL, () => 'goes on', checkToolResult);
describeTrouble('a language model drops', cells('llm', ['chat'], DROPS), wantedOfModel, checkReconnected);
