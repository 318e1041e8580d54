// Reads the answer of a voice webhook as strictly as the carrier does, and stricter.
import { MarkupFault, parseMarkup } from './markup-xml.js';
import { type Verb, VerbReader } from './markup-verbs.js';

/** What a markup document tells the carrier to do with the call. */
export type MarkupAnswer =
  | { type: 'stream'; url: string; parameters: Record<string, string> }
  | { type: 'reject'; reason: string }
  | { type: 'hang-up' }
  | { type: 'dial'; number: string };

export interface MarkupReading {
  /** Null when the document cannot be acted on. */
  answer: MarkupAnswer | null;
  violations: string[];
}

/** All verbs of a document; null when it cannot be read. */
export function readVerbs(source: string): { verbs: Verb[] | null; violations: string[] } {
  try {
    const root = parseMarkup(source);
    if (root.name !== 'Response') return { verbs: null, violations: ['the answer is no <Response>'] };
    const reader = new VerbReader();
    return { verbs: reader.read(root), violations: reader.violations };
  } catch (error) {
    if (!(error instanceof MarkupFault)) throw error;
    return { verbs: null, violations: [`the answer is not well-formed: ${error.message}`] };
  }
}

function toAnswer(verb: Verb): MarkupAnswer | undefined {
  switch (verb.type) {
    case 'stream':
      return { type: 'stream', url: verb.url, parameters: verb.parameters };
    case 'reject':
      return { type: 'reject', reason: verb.reason };
    case 'dial':
      return { type: 'dial', number: verb.number };
    case 'hang-up':
      return { type: 'hang-up' };
    default:
      return undefined;
  }
}

/** Reads a markup document. The first verb that decides about the call counts; `Say`, `Play` and the like are passed over. */
export function readMarkup(source: string): MarkupReading {
  const { verbs, violations } = readVerbs(source);
  if (verbs === null) return { answer: null, violations };
  for (const verb of verbs) {
    const answer = toAnswer(verb);
    if (answer !== undefined) return { answer, violations };
  }
  return { answer: { type: 'hang-up' }, violations };
}
