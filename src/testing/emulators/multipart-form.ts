// A form with files in it, as a vendor reads it. Source: RFC 7578.

export interface FormPart {
  readonly name: string;
  readonly fileName: string | undefined;
  readonly bytes: Buffer;
}

/** The parts in order; undefined for what is no such form. */
export function readForm(contentType: string | undefined, body: Buffer): FormPart[] | undefined {
  const boundary = /^multipart\/form-data;.*\bboundary="?([^";]+)"?/i.exec(contentType ?? '')?.[1];
  if (boundary === undefined) return undefined;
  const text = `\r\n${body.toString('latin1')}`;
  const [preamble, ...pieces] = text.split(`\r\n--${boundary}`);
  if (preamble !== '' || pieces.pop()?.trim() !== '--') return undefined;
  const parts = pieces.map(readPart);
  return parts.every((part) => part !== undefined) ? parts : undefined;
}

function readPart(piece: string): FormPart | undefined {
  const end = piece.indexOf('\r\n\r\n');
  const head = piece.slice(0, end);
  const disposition = /^content-disposition: *form-data;(.*)$/im.exec(head)?.[1] ?? '';
  const name = /\bname="([^"]*)"/.exec(disposition.replace(/filename="[^"]*"/, ''))?.[1];
  if (end < 0 || name === undefined) return undefined;
  const fileName = /\bfilename="([^"]*)"/.exec(disposition)?.[1];
  return { name, fileName, bytes: Buffer.from(piece.slice(end + 4), 'latin1') };
}
