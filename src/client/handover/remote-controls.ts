// Commands on calls that may be at another process: the one before this one or after it, or a node of the cluster.
import { NotFoundError, RequestError } from '../../base/errors.js';
import { fromTold, type ToldError } from '../../base/told-error.js';
import type { CallControls, SayOptions, SayOutcome } from '../../contract/call-command.js';
import type { HangUpState } from '../../contract/call-record.js';

/** What the agent is to say is answered once it was heard. Anything else the carrier decides. */
const SAY_MS = 15 * 60_000;

/** A command as it goes to another process. */
export type RemoteCommand =
  | { readonly type: 'hang-up' }
  | { readonly type: 'transfer'; readonly to: string }
  | { readonly type: 'send-digits'; readonly digits: string }
  | { readonly type: 'say'; readonly text: string; readonly options: SayOptions }
  | { readonly type: 'inform'; readonly text: string }
  | { readonly type: 'pause-recording' }
  | { readonly type: 'resume-recording' };

export interface OtherProcess {
  /** Has it carry out a command on a call of its: 404 where the call is not there. Rejects when it does not answer. */
  command(
    callId: string,
    command: RemoteCommand,
    options?: { readonly timeoutMs?: number },
  ): Promise<{ readonly status: number; readonly body: string }>;
}

/** What comes of a command. */
export interface Carried {
  readonly state?: HangUpState;
  readonly outcome?: SayOutcome;
}

export async function carryOut(
  controls: CallControls,
  callId: string,
  command: RemoteCommand,
): Promise<Carried> {
  switch (command.type) {
    case 'hang-up':
      return { state: await controls.hangUp(callId) };
    case 'say':
      return { outcome: await controls.say(callId, command.text, command.options) };
    case 'transfer':
      await controls.transfer(callId, command.to);
      return {};
    case 'send-digits':
      await controls.sendDigits(callId, command.digits);
      return {};
    case 'inform':
      await controls.inform(callId, command.text);
      return {};
    case 'pause-recording':
      await controls.pauseRecording(callId);
      return {};
    case 'resume-recording':
      await controls.resumeRecording(callId);
      return {};
    default:
      throw new RequestError('REQUEST_INVALID', 'This version of the server knows no such command.');
  }
}

/** `own`: the calls of this process; undefined for one that has none. `isOwn`: true for one that is here, or has ended here. */
export function controlsOver(
  own: CallControls | undefined,
  { isOwn, other }: { isOwn(callId: string): boolean; other(): OtherProcess | undefined },
): CallControls {
  const run = async (callId: string, command: RemoteCommand) => {
    const options = command.type === 'say' ? { timeoutMs: SAY_MS } : {};
    const asked = isOwn(callId) ? undefined : other()?.command(callId, command, options);
    const answer = await asked?.catch((cause: unknown) => {
      const sentence = 'The call is at another process, which did not answer.';
      throw new RequestError('REQUEST_CONFLICT', sentence, { cause });
    });
    // What it does not have has come here meanwhile, or is nowhere.
    if (answer === undefined || answer.status === 404) {
      if (own === undefined) throw new NotFoundError('No such call.');
      return carryOut(own, callId, command);
    }
    const body = JSON.parse(answer.body) as Carried & { error?: ToldError };
    if (body.error !== undefined) throw fromTold(body.error);
    return body;
  };
  return {
    hangUp: async (callId) => (await run(callId, { type: 'hang-up' })).state ?? 'done',
    transfer: async (callId, to) => void (await run(callId, { type: 'transfer', to })),
    sendDigits: async (callId, digits) => void (await run(callId, { type: 'send-digits', digits })),
    say: async (callId, text, options) =>
      (await run(callId, { type: 'say', text, options })).outcome ?? 'call-ended',
    inform: async (callId, text) => void (await run(callId, { type: 'inform', text })),
    pauseRecording: async (callId) => void (await run(callId, { type: 'pause-recording' })),
    resumeRecording: async (callId) => void (await run(callId, { type: 'resume-recording' })),
  };
}
