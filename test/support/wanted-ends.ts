// How a call is to end in which one vendor is in trouble: by the stage of the vendor, what is wrong, and when it begins.
import type { TroubledStage } from './emulated-vendors.js';
import { mannerOf, type TroubledCall } from './provider-trouble.js';
import { isRefusingClose, OUTAGES } from './vendor-troubles.js';

/** `goes on`: to its goodbye. `apology`: it ends, and the caller is told. `hangs up`: the agent itself has ended it. */
export type WantedEnd = 'goes on' | 'apology' | 'hangs up';

/** Nothing more is to be had of the vendor. */
function isOut(call: TroubledCall): boolean {
  return OUTAGES.includes(call.trouble) || isRefusingClose(call.trouble, mannerOf(call));
}

const isAbout = ({ trouble }: TroubledCall, ...names: readonly string[]) => names.includes(trouble.name);

function ofRecognizer(call: TroubledCall): WantedEnd {
  // In the goodbye nobody has to be heard any more.
  return isOut(call) && call.phase !== 'goodbye' ? 'apology' : 'goes on';
}

function ofVoice(call: TroubledCall): WantedEnd {
  if (OUTAGES.includes(call.trouble)) return 'apology';
  // Speech under the id of another call is heard by nobody: the agent has no voice then.
  if (isAbout(call, 'ids of another call')) return 'apology';
  // It is about the sentence that is being said, which from the start on is the greeting. A refusing close is not: settings that were
  // taken before are taken again.
  const isSpeaking = call.phase !== 'listening' && call.phase !== 'thinking';
  return isAbout(call, 'an error event of refusing') && isSpeaking ? 'apology' : 'goes on';
}

/** Nothing is wrong with an answer in which these stand. */
const READABLE = ['garbage', 'binary garbage', 'ids of another call', 'no usage', 'slow', 'dripping'];

/** An answer that has not begun is asked for once more, if it breaks off so early that there is time; one that has begun never is. */
function ofModel(call: TroubledCall): WantedEnd {
  const { phase } = call;
  // All of the goodbye is there before half of it is heard.
  if (phase === 'goodbye') return 'goes on';
  if (isOut(call)) return 'apology';
  if (isAbout(call, ...READABLE)) return 'goes on';
  // An answer that is owed is waited for as long as the caller can be kept. What only warms up is let through by the emulators: a trouble with
  // new connections that begins at the start meets the first question.
  const isHanging = isAbout(call, 'no handshake, once');
  if (phase === 'start' || phase === 'greeting' || phase === 'listening')
    return isHanging ? 'apology' : 'goes on';
  if (phase === 'speaking') return 'apology';
  const isAskedAgain = ['cut', 'an answer that ends early', 'an error event', 'an error event of being busy'];
  return isAbout(call, ...isAskedAgain) ? 'goes on' : 'apology';
}

function ofRealtime(call: TroubledCall): WantedEnd {
  const { vendor, phase } = call;
  // The agent's own word for a call that it has ended.
  if (vendor === 'agents' && phase !== 'start' && isAbout(call, 'closed with 1000')) return 'hangs up';
  // All of the goodbye is there before half of it is heard.
  if (phase === 'goodbye') return 'goes on';
  if (isAbout(call, 'an error event of refusing')) return 'apology';
  // An answer that had begun under an id of ours goes on under one that is not. What begins with another id may be ours.
  if (vendor === 'openai' && isAbout(call, 'ids of another call'))
    return phase === 'thinking' || phase === 'speaking' ? 'apology' : 'goes on';
  return isOut(call) ? 'apology' : 'goes on';
}

const ENDS: Readonly<Record<TroubledStage, (call: TroubledCall) => WantedEnd>> = {
  stt: ofRecognizer,
  llm: ofModel,
  tts: ofVoice,
  engine: ofRealtime,
};

export function wantedEnd(call: TroubledCall): WantedEnd {
  return ENDS[call.stage](call);
}
