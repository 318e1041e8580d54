// A call desk that holds no calls: it does what a test says and writes down what it is asked.
import type {
  CallDesk,
  RefusedCall,
  StreamAdmission,
  StreamReceiver,
  StreamSocket,
} from '../../src/calls/call-desk.js';
import type { CallOutcome, CallStatus } from '../../src/contract/call-record.js';

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
  readonly live = new Set<string>();
  readonly ended = new Set<string>();
  readonly streams: RecordedStream[] = [];
  readonly refused: RefusedCall[] = [];
  readonly reports: { carrierCallId: string; status: CallStatus; outcome: CallOutcome | null }[] = [];
  /** Steps of the shutdown, in order; others may write here too. */
  readonly steps: string[] = [];
  /** Replaces the recording receiver. */
  receiver: StreamReceiver | undefined;
  admitError: Error | undefined;
  reportError: Error | undefined;
  shutDownTask: (timeoutMs: number) => Promise<void> = async () => {};

  isLive(callId: string): boolean {
    return this.live.has(callId);
  }

  hasEnded(callId: string): boolean {
    return this.ended.has(callId);
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

  refuse(call: RefusedCall): void {
    this.refused.push(call);
    this.ended.add(call.callId);
  }

  report(carrierCallId: string, status: CallStatus, outcome: CallOutcome | null): void {
    if (this.reportError !== undefined) throw this.reportError;
    this.reports.push({ carrierCallId, status, outcome });
  }

  async shutDown(timeoutMs: number): Promise<void> {
    this.steps.push('calls hung up');
    await this.shutDownTask(timeoutMs);
  }

  async hangUp(): Promise<void> {}

  async transfer(): Promise<void> {}
}
