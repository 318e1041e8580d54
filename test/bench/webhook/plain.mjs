// What others would write without a framework: a server of node:http alone that verifies a carrier's signature and answers with a stream.
// Takes the port, the secret and the public host; tells its figures when asked.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { answerFigures } from './figures.mjs';

const [port, secret = '', host] = process.argv.slice(2);

/** @param {string} path @param {URLSearchParams} form @param {unknown} signature */
function isSigned(path, form, signature) {
  if (typeof signature !== 'string') return false;
  let text = `https://${host}${path}`;
  for (const name of [...form.keys()].sort()) text += name + form.get(name);
  const expected = createHmac('sha1', secret).update(text).digest();
  const given = Buffer.from(signature, 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** @param {string | null} value */
const escaped = (value) => (value ?? '').replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** @param {URLSearchParams} form */
function toDocument(form) {
  const url = `wss://${host}/ws/stream/${escaped(form.get('CallSid'))}`;
  const parties = ['From', 'To'].map(
    (name) => `<Parameter name="${name}" value="${escaped(form.get(name))}"/>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?><Response><Connect><Stream url="${url}">${parties.join('')}</Stream></Connect></Response>`;
}

const server = createServer((request, response) => {
  /** @type {Buffer[]} */
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    if (!isSigned(request.url ?? '', form, request.headers['x-carriera-signature'])) {
      response.writeHead(403).end();
      return;
    }
    const text = toDocument(form);
    response.writeHead(200, {
      'Content-Type': 'text/xml; charset=utf-8',
      'Content-Length': Buffer.byteLength(text),
    });
    response.end(text);
  });
});
server.listen(Number(port), '127.0.0.1', answerFigures);
