// Reading answers of a REST API, up to a limit: whoever answers at that address must not fill the memory.

/** Longest answer that is read. The longest that we ask for, a page of numbers, is a tenth of it. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/** The body in UTF-8; undefined when it is too long, and the connection is given up then. @throws what reading throws. */
export async function readResponseText(response: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
