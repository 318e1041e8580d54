// A call desk that holds no calls: it does what a test says and writes down what it is asked.
import type {
  CallDesk,
  CallReport,
  KeptReply,
  PlacedCall,
  StreamAdmission,
  StreamReceiver,
  StreamSocket,
  WaitingCall,
} from '../../src/calls/call-desk.js';
import type { CallAnswer } from '../../src/carriers/carrier.js';
import { inviteStream } from '../../src/calls/streams/stream-invitation.js';

/** A stream that was admitted, and what it received. */
export interface RecordedStream {
  admission: StreamAdmission;
  socket: StreamSocket;
  texts: string[];
  unexpected: string[];
  /** Resolves with the close code. */
  closed: Promise<number>;
}

export class RecordingDesk implements CallDesk {
  liveCount = 0;
  isOverBudget = false;
  isOverloaded = false;
  isDraining = false;
  readonly live = new Set<string>();
  readonly ended = new Set<string>();
  /** Calls that were told to open a stream, and hold a place. */
  readonly expected = new Set<string>();
  readonly replies = new Map<string, Map<string, KeptReply>>();
  /** Live calls that are about to lose their stream. */
  readonly expecting = new Set<string>();
  readonly streams: RecordedStream[] = [];
  readonly rung: WaitingCall[] = [];
  readonly refused: WaitingCall[] = [];
  readonly reports: CallReport[] = [];
  /** Steps of the shutdown, in order; others may write here too. */
  readonly steps: string[] = [];
  /** Replaces the recording receiver. */
  receiver: StreamReceiver | undefined;
  admitError: Error | undefined;
  ringError: Error | undefined;
  reportError: Error | undefined;
  /** What a ringing call is answered with; a stream otherwise, with a token of `tokenKey` issued at `now()`. */
  ringAnswer: CallAnswer | undefined;
  tokenKey: Uint8Array | undefined;
  now: () => number = () => 0;
  /** What a report is answered with. */
  reportAnswer: CallAnswer | undefined;
  shutDownTask: (timeoutMs: number) => Promise<void> = async () => {};

  drain(): void {
    this.isDraining = true;
  }

  get expectedCount(): number {
    return this.expected.size;
  }

  get takenPlaces(): number {
    return this.liveCount + this.expected.size;
  }

  holdsPlace(callId: string): boolean {
    return this.live.has(callId) || this.expected.has(callId);
  }

  repliesTo(carrierCallId: string): Map<string, KeptReply> {
    const replies = this.replies.get(carrierCallId) ?? new Map();
    this.replies.set(carrierCallId, replies);
    return replies;
  }

  isInvited(): boolean {
    return false;
  }
  isChoosing(): boolean {
    return false;
  }

  isLive(callId: string): boolean {
    return this.live.has(callId);
  }

  hasEnded(callId: string): boolean {
    return this.ended.has(callId);
  }

  isOver(callId: string): boolean {
    return this.hasEnded(callId);
  }

  expectsStream(callId: string): boolean {
    return !this.ended.has(callId) && (!this.live.has(callId) || this.expecting.has(callId));
  }

  ring(call: WaitingCall): CallAnswer {
    this.rung.push(call);
    if (this.ringError !== undefined) throw this.ringError;
    if (this.ringAnswer !== undefined) return this.ringAnswer;
    return {
      type: 'stream',
      ...inviteStream(
        { ...call, number: 1 },
        {
          carrier: { id: 'carrier-a', streamTokenKey: this.tokenKey, webhooks: { routes: [] } },
          host: call.host,
          holdSeconds: 2,
          nowMs: this.now(),
        },
      ),
    };
  }

  admit(admission: StreamAdmission, socket: StreamSocket): StreamReceiver {
    if (this.admitError !== undefined) throw this.admitError;
    this.live.add(admission.callId);
    let settle: (code: number) => void = () => {};
    const closed = new Promise<number>((resolve) => {
      settle = resolve;
    });
    const stream: RecordedStream = { admission, socket, texts: [], unexpected: [], closed };
    this.streams.push(stream);
    return (
      this.receiver ?? {
        receiveText: (text) => void stream.texts.push(text),
        receiveUnexpected: (reason) => void stream.unexpected.push(reason),
        socketClosed: (code) => {
          this.live.delete(admission.callId);
          this.steps.push('stream closed');
          settle(code);
        },
      }
    );
  }

  refuse(call: WaitingCall): void {
    this.refused.push(call);
    this.ended.add(call.callId);
  }

  report(report: CallReport): CallAnswer | undefined {
    if (this.reportError !== undefined) throw this.reportError;
    this.reports.push(report);
    return this.reportAnswer;
  }

  async dial(): Promise<PlacedCall> {
    throw new Error('no test of the doors dials');
  }

  async shutDown(timeoutMs: number): Promise<void> {
    this.steps.push('calls hung up');
    await this.shutDownTask(timeoutMs);
  }

  async hangUp(): Promise<'done'> {
    return 'done';
  }

  async transfer(): Promise<void> {}

  async sendDigits(): Promise<void> {}

  async say(): Promise<'heard'> {
    return 'heard';
  }

  async inform(): Promise<void> {}

  async pauseRecording(): Promise<void> {}

  async resumeRecording(): Promise<void> {}
}
