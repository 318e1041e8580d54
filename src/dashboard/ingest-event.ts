// One fact as a sender brings it -> a fact of ours, or the reason why it is none.
import type { CallEvent } from '../contract/call-event.js';
import type { IngestRefusalReason } from '../contract/ingest.js';
import { readAs, SchemaMismatch } from './schema-reader.js';
import { FACT_SCHEMAS } from './schemas.js';

/** What a fact has in any version. */
export interface FactEnvelope {
  callId: string;
  nodeId: string;
  seq: number;
  type: string;
  after: number;
}

/** What came of reading a fact. */
export type ReadFact =
  | { readonly event: CallEvent }
  | { readonly reason: IngestRefusalReason; readonly message?: string };

const ENVELOPE = { $ref: '#/components/schemas/IngestEvent' };

/** The envelope of a fact, undefined where even that is none. */
export function readEnvelope(value: unknown): FactEnvelope | undefined {
  try {
    const envelope = readAs(ENVELOPE, value, 'the fact') as FactEnvelope & { after?: number };
    return { ...envelope, after: envelope.after ?? envelope.seq - 1 };
  } catch (error) {
    if (error instanceof SchemaMismatch) return undefined;
    throw error;
  }
}

/** The fact in an envelope. Fields of a newer version are left out. */
export function readFact(envelope: FactEnvelope, value: unknown): ReadFact {
  if (envelope.after >= envelope.seq) return { reason: 'invalid', message: 'after must be less than seq.' };
  const schema = FACT_SCHEMAS.get(envelope.type);
  if (schema === undefined) return { reason: 'unknown-type' };
  try {
    return { event: readAs(schema, value, envelope.type) as CallEvent };
  } catch (error) {
    if (error instanceof SchemaMismatch) return { reason: 'invalid', message: error.message };
    throw error;
  }
}
