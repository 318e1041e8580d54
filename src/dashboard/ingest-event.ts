// One fact as a sender brings it -> a fact of ours, or the reason why it is none.
import type { CallEvent, FactPlace } from '../contract/call-event.js';
import type { IngestRefusalReason } from '../contract/ingest.js';
import { isNewer, originOf, termOf } from '../events/reduce.js';
import { readAs, SchemaMismatch } from './schema-reader.js';
import { FACT_SCHEMAS } from './schemas.js';

/** What a fact has in any version. */
export interface FactEnvelope {
  callId: string;
  nodeId: string;
  /** The process that the call began in. */
  originId: string;
  term: number;
  seq: number;
  type: string;
  /** The fact before it. */
  after: FactPlace;
}

/** What came of reading a fact. */
export type ReadFact =
  | { readonly event: CallEvent }
  | { readonly reason: IngestRefusalReason; readonly message?: string };

const ENVELOPE = { $ref: '#/components/schemas/IngestEvent' };

/** An envelope as it is sent. */
type SentEnvelope = Pick<FactEnvelope, 'callId' | 'nodeId' | 'seq' | 'type'> & {
  originId?: string;
  term?: number;
  after?: number;
  afterTerm?: number;
};

/** The envelope of a fact, undefined where even that is none. A sender that knows no terms is in the first. */
export function readEnvelope(value: unknown): FactEnvelope | undefined {
  try {
    const sent = readAs(ENVELOPE, value, 'the fact') as SentEnvelope;
    const { callId, nodeId, seq, type, after = seq - 1, afterTerm = termOf(sent) } = sent;
    const before = { term: afterTerm, seq: after };
    return { callId, nodeId, originId: originOf(sent), term: termOf(sent), seq, type, after: before };
  } catch (error) {
    if (error instanceof SchemaMismatch) return undefined;
    throw error;
  }
}

/** The fact in an envelope. Fields of a newer version are left out. */
export function readFact(envelope: FactEnvelope, value: unknown): ReadFact {
  if (!isNewer(envelope, envelope.after)) {
    return { reason: 'invalid', message: 'after must be less than seq.' };
  }
  const schema = FACT_SCHEMAS.get(envelope.type);
  if (schema === undefined) return { reason: 'unknown-type' };
  try {
    const { term, type } = envelope;
    return { event: readAs(schema, { ...(value as object), term }, type) as CallEvent };
  } catch (error) {
    if (error instanceof SchemaMismatch) return { reason: 'invalid', message: error.message };
    throw error;
  }
}
