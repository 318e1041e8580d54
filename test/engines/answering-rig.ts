// A rig whose agent is in the middle of an answer of three sentences.
import { CallRig, type RigOptions } from './call-rig.js';

export const GREETING = 'Hello, this is the front desk.';
export const ANSWER = 'We are open from eight to six. On Saturday we close at noon. Come whenever you like.';
export const REST_OF_ANSWER = 'On Saturday we close at noon. Come whenever you like.';

/** A rig whose agent has been answering for `ms`. */
export async function answering(ms: number, options: RigOptions = {}): Promise<CallRig> {
  const rig = await new CallRig(options).start();
  rig.model.answer(ANSWER);
  await rig.says('When?');
  await rig.quiet(ms - 300);
  return rig;
}
