// What nodes of a cluster ask each other: the types of their messages, and how one is sent and read.
import type { ClusterNode, Coordinator, NodeMessage } from '../../cluster/coordinator.js';
import { NotFoundError, OffhookError } from '../../base/errors.js';
import type { WaitingCall } from '../../calls/call-desk.js';
import type { ChosenAgent } from '../../calls/choice/call-choice.js';
import type { WebhookRequest } from '../../carriers/carrier.js';
import type { ForgetOutcome } from '../../contract/call-command.js';
import type { CallEvent, FactPlace } from '../../contract/call-event.js';
import type { CallRecord, Cost, LocalRecording } from '../../contract/call-record.js';
import type { SoundEnd } from '../../contract/live-sound.js';
import type { Want } from '../../server/capacity.js';
import type { WholeAnswer } from '../../server/routes.js';
import type { GivenCall } from '../handover/predecessor.js';
import type { Carried, RemoteCommand } from '../handover/remote-controls.js';

/** A webhook that was verified where it came. */
export interface PassedOn extends Omit<WebhookRequest, 'rawBody'> {
  /** As base64. */
  readonly rawBody: string;
  /** Public host that it came to. */
  readonly host: string;
}

/** Where a call is, as a node knows it that has it no more. */
interface Elsewhere {
  readonly type: 'elsewhere';
  /** Who has it; undefined where that is not known either. */
  readonly nodeId?: string | undefined;
}

/** What a stream gets that has come to another node. */
export type Claimed =
  /** The call, in the middle. `unheard`: facts that the broker may not have. */
  | ({ readonly type: 'given'; readonly term: number; readonly unheard: readonly CallEvent[] } & GivenCall)
  /** The call was told to open this stream. */
  | {
      readonly type: 'invited';
      readonly term: number;
      readonly call: WaitingCall;
      readonly agent: string | undefined;
      readonly texts: ChosenAgent['texts'];
    }
  | { readonly type: 'over' | 'refused' }
  | Elsewhere;

/** How a node has a call. */
export interface CallPlace {
  readonly callId: string;
  /**
   * `arriving`: its stream has come there, and the rest of it is on its way. `expected`: it rings there, or its stream is to come. `closing`: it has ended there, and
   * that is stated once it is known that no other node has it.
   */
  readonly state: 'live' | 'arriving' | 'expected' | 'closing' | 'ended';
  readonly term: number;
  /** The stream of a call that is up there is there, too. @default false */
  readonly hasStream?: boolean;
}

/** What a node says of itself. */
export interface NodeStanding {
  /** Its own calls go to others. */
  readonly isDraining: boolean;
  /** Why it takes no further call; null while it would. */
  readonly want: Want | null;
  /** Calls that are up there. */
  readonly calls: number;
  /** Public host that leads to it alone; null without one. */
  readonly streamHost: string | null;
}

/** What is known of a call: everything up to this fact; `seq` 0: nothing. */
export interface KnownCall extends FactPlace {
  readonly callId: string;
}

/** A call that is over, as a node knows it. */
export interface EndedCall extends KnownCall, Pick<CallRecord, 'startedAt' | 'endedAt'> {
  /** The node that had it last. */
  readonly nodeId: string;
  readonly cost: Pick<Cost, 'total'>;
}

/** By type of message: what is asked, and what is answered. */
export interface NodeRequests {
  webhook: {
    readonly ask: PassedOn;
    readonly answer: { readonly type: 'answer'; readonly answer: WholeAnswer } | Elsewhere;
  };
  claim: { readonly ask: { readonly number: number | undefined }; readonly answer: Claimed };
  /** A call that was given cannot be taken up. */
  refused: { readonly ask: GivenCall; readonly answer: object };
  'who-has': {
    readonly ask: { readonly callIds: readonly string[] };
    readonly answer: { readonly places: readonly CallPlace[] };
  };
  /** Asks for a place for a call that rings elsewhere. */
  'take-call': { readonly ask: object; readonly answer: { readonly isTaken: boolean } };
  /** How it stands with a node. */
  standing: { readonly ask: object; readonly answer: NodeStanding };
  /** What the one who asks has not heard of these calls. */
  news: {
    readonly ask: { readonly known: readonly KnownCall[] };
    /** By call, in order, each behind what was known of it. */
    readonly answer: { readonly facts: readonly CallEvent[] };
  };
  /** Something has become of these calls that the broker does not tell: who hears this asks for the `news`. */
  changed: { readonly ask: { readonly calls: readonly KnownCall[] }; readonly answer: object };
  /** The last calls that are over. */
  ended: { readonly ask: object; readonly answer: { readonly calls: readonly EndedCall[] } };
  command: { readonly ask: RemoteCommand; readonly answer: Carried };
  /** Has the node ask the one who asks, at the address of that. `because`: why that is not reached; null where it is. */
  reach: { readonly ask: object; readonly answer: { readonly because: string | null } };
  /** Deletes a call that is over, on all nodes. */
  forget: { readonly ask: object; readonly answer: ForgetOutcome };
  /** What a node measures, in the text exposition format. */
  metrics: { readonly ask: object; readonly answer: { readonly text: string } };
  /** A part of a recording, from `start` on, of `end - start` bytes at most. */
  'recording-part': {
    readonly ask: { readonly file: string | null; readonly start: number; readonly end: number };
    /** `size`: of the whole, in bytes. `bytes`: as base64. */
    readonly answer: { readonly size: number; readonly bytes: string };
  };
  /** The recording of a call that was deleted. */
  'forget-recording': { readonly ask: object; readonly answer: { readonly wasThere: boolean } };
  /** Sends the sound of a call to who asks, from now on, as `sound` under this ID. Null for a call that is not there. */
  listen: { readonly ask: { readonly id: string }; readonly answer: { readonly delayMs: number | null } };
  /** The next of it, as base64. `end`: nothing more comes; else null. */
  sound: {
    readonly ask: { readonly id: string; readonly bytes: string; readonly end: SoundEnd | null };
    readonly answer: { readonly isHeard: boolean };
  };
  /** What became of a recording, for the node that has ended its call to state. */
  recorded: { readonly ask: LocalRecording; readonly answer: object };
}

export type RequestType = keyof NodeRequests;

export interface NodeRequest<T extends RequestType> {
  readonly type: T;
  /** Null where it is about none, or several. */
  readonly callId: string | null;
  readonly ask: NodeRequests[T]['ask'];
}

/** Rejects as `Coordinator.send`. */
export async function askNode<T extends RequestType>(
  coordinator: Coordinator,
  nodeId: string,
  { request: { type, callId, ask }, timeoutMs }: { request: NodeRequest<T>; timeoutMs: number },
): Promise<NodeRequests[T]['answer']> {
  const message = { type, callId, body: JSON.stringify(ask) };
  return JSON.parse(await coordinator.send(nodeId, message, timeoutMs)) as NodeRequests[T]['answer'];
}

/** By type of message. `from`: the node that asks. */
export type RequestHandlers = {
  readonly [T in RequestType]: (
    ask: NodeRequests[T]['ask'],
    about: { readonly callId: string; readonly from: string },
  ) => Promise<NodeRequests[T]['answer']>;
};

/** Other nodes that can be asked, also those that are cut off from the broker. */
export function reachableNodes(coordinator: Coordinator): readonly ClusterNode[] {
  const all = [...coordinator.nodes(), ...coordinator.silent()];
  return all.filter(({ nodeId }) => nodeId !== coordinator.nodeId);
}

/** Whether a node answers in time, whatever it says. Never rejects. */
export async function isAnswering(
  coordinator: Coordinator,
  nodeId: string,
  timeoutMs: number,
): Promise<boolean> {
  const request = { type: 'who-has', callId: null, ask: { callIds: [] } } as const;
  return askNode(coordinator, nodeId, { request, timeoutMs }).then(
    () => true,
    (error: unknown) => !isUnreached(error),
  );
}

/** True for a node that is not there, or has not answered. */
export function isUnreached(error: unknown): boolean {
  return OffhookError.isInstance(error) && error.code === 'CLUSTER_FAILED';
}

/** Of the others that answer in time. Never rejects. */
export async function askStandings(
  coordinator: Coordinator,
  timeoutMs: number,
): Promise<({ readonly nodeId: string } & NodeStanding)[]> {
  const others = coordinator.nodes().filter(({ nodeId }) => nodeId !== coordinator.nodeId);
  const request = { type: 'standing', callId: null, ask: {} } as const;
  const asked = others.map(async ({ nodeId }) => ({
    ...(await askNode(coordinator, nodeId, { request, timeoutMs })),
    nodeId,
  }));
  const answers = await Promise.allSettled(asked);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
}

/** Answers a message. Who sends it has the secret of the cluster. @throws NotFoundError for one that this version does not know */
export async function answerRequest(
  handlers: RequestHandlers,
  { type, callId, body }: NodeMessage,
  from: string,
): Promise<string> {
  if (!Object.hasOwn(handlers, type)) throw new NotFoundError('No such message.');
  const handle = handlers[type as RequestType] as (ask: unknown, about: object) => Promise<object>;
  return JSON.stringify(await handle(JSON.parse(body), { callId: callId ?? '', from }));
}
