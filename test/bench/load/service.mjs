// The vendors of the bench, as a process: a realtime model that says each piece of audio that it hears, and a voice that says every text
// for five seconds, at once. Its argument is the port.
import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';
import { sliceBehind, textOf } from './bare-server.mjs';
import { boundLifetime } from './lifetime.mjs';
import { createSpeech, SPEECH_RATE_HZ } from './speech.mjs';

const SENTENCE_SECONDS = 5;
const APPEND = '"input_audio_buffer.append"';

const { buffer } = createSpeech(SENTENCE_SECONDS * SPEECH_RATE_HZ);
const sentence = Buffer.from(buffer);

const http = createServer((request, response) => {
  request.resume().on('end', () => response.setHeader('content-type', 'audio/pcm').end(sentence));
});
const server = new WebSocketServer({ server: http, perMessageDeflate: false });
server.on('connection', (socket) => {
  const ids = '"response_id":"resp_1","item_id":"item_1","output_index":0,"content_index":0';
  const head = `{"type":"response.output_audio.delta",${ids},"delta":"`;
  socket.on('error', () => {});
  socket.send('{"type":"session.created","session":{"id":"sess_1"}}');
  socket.on('message', (data) => {
    const text = textOf(data);
    const audio = text.includes(APPEND) ? sliceBehind(text, '"audio":"') : undefined;
    if (audio !== undefined) socket.send(`${head}${audio}"}`);
    else if (text.includes('"session.update"')) socket.send('{"type":"session.updated","session":{}}');
  });
});
boundLifetime();
http.listen(Number(process.argv[2]), '127.0.0.1');
