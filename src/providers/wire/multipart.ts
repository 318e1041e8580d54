// A form with a file in it. Source: RFC 7578.
import { randomUUID } from 'node:crypto';

export interface FormFile {
  readonly field: string;
  readonly name: string;
  readonly type: string;
  /** One after the other. */
  readonly parts: readonly Uint8Array[];
}

export interface MultipartForm {
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** Names and types are ours and need no escaping; values may be any text. */
export function encodeMultipart(
  fields: Readonly<Record<string, string>>,
  { field, name, type, parts }: FormFile,
): MultipartForm {
  const boundary = `offhook-${randomUUID()}`;
  const head = (disposition: string) => `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n`;
  const texts = Object.entries(fields).map(([key, value]) => `${head(`name="${key}"`)}\r\n${value}\r\n`);
  const fileHead = `${head(`name="${field}"; filename="${name}"`)}content-type: ${type}\r\n\r\n`;
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([
      Buffer.from(texts.join('') + fileHead),
      ...parts,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]),
  };
}
