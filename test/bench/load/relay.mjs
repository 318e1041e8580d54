// About the least that a relay between carrier A and a realtime model can do on `ws`: G.711 both ways, cut out of the text and not parsed,
// a mark behind each piece, in one write with it. Arguments: port, address of the model.
import { WebSocket } from 'ws';
import { headsOf, openBareServer, sliceBehind, textOf } from './bare-server.mjs';

const [, , , modelUrl = ''] = process.argv;

openBareServer((socket) => {
  /** @type {WebSocket | undefined} */
  let model;
  let isReady = false;
  socket.on('close', () => model?.terminate());
  socket.on('message', (data) => {
    const text = textOf(data);
    const payload = sliceBehind(text, '"payload":"');
    if (payload !== undefined) {
      if (isReady) model?.send(`{"type":"input_audio_buffer.append","audio":"${payload}"}`);
      return;
    }
    // The answer to a mark comes with each piece: it is not worth a parse.
    if (!text.includes('"start":')) return;
    const { event, streamSid } = JSON.parse(text);
    if (event === 'start') model = connect(streamSid);
  });

  /** @param {string} streamSid */
  function connect(streamSid) {
    const heads = headsOf(streamSid);
    let marks = 0;
    const opened = new WebSocket(modelUrl, { perMessageDeflate: false });
    opened.on('error', () => {});
    opened.on('message', (data) => {
      const text = textOf(data);
      const audio = sliceBehind(text, '"delta":"');
      if (audio !== undefined) {
        marks += 1;
        socket._socket.cork();
        socket.send(`${heads.media}${audio}"}}`);
        socket.send(`${heads.mark}${marks}"}}`);
        socket._socket.uncork();
      } else if (text.includes('"session.created"')) opened.send(SETTINGS);
      else if (text.includes('"session.updated"')) isReady = true;
    });
    return opened;
  }
});

const G711 = { format: { type: 'audio/pcmu' } };
const SETTINGS = JSON.stringify({
  type: 'session.update',
  session: { type: 'realtime', audio: { input: G711, output: G711 } },
});
