// Answers that are read whole.
import type { HttpAnswer } from './http-channel.js';

/** Enough for what a vendor says about an error, in bytes. */
export const MAX_ERROR_BYTES = 16_384;

/** The body as text, at most so many bytes of it, and what came of it when the connection breaks. */
export async function readText(answer: HttpAnswer, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer.chunks) {
      bytes += chunk.length;
      if (bytes > maxBytes) break;
      chunks.push(chunk);
    }
  } catch {
    // What came before counts.
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Reads to the end and keeps nothing: the connection can then be used again. Never rejects. */
export async function drain(answer: HttpAnswer): Promise<void> {
  const chunks = answer.chunks[Symbol.asyncIterator]();
  try {
    while ((await chunks.next()).done !== true);
  } catch {
    // The connection is gone.
  }
}
