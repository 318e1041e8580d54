// A phone on the server of an Express application, which keeps its own routes, its own WebSocket and its own 404.
import { fileURLToPath } from 'node:url';
import express from 'express';
import { type AttachOptions, CarrierA, Offhook } from 'offhook';
import { WebSocketServer } from 'ws';

export async function startApplication(
  options: { port: number; authToken?: string } & Partial<AttachOptions>,
) {
  const { port, authToken, ...rest } = options;
  const app = express();
  app.get('/', (_request, response) => void response.send('The home page of the application.'));
  const server = app.listen(port);
  const chat = new WebSocketServer({ server, path: '/chat' });
  chat.on('connection', (socket) => socket.send('Welcome to the chat.'));

  const phone = new Offhook({
    carrier: new CarrierA({ authToken }),
    phoneNumber: process.env.PHONE_NUMBER ?? '+15005550010',
    webhookUrl: process.env.WEBHOOK_HOST ?? 'voice.example.com',
  });
  const { calls, events } = await phone.attach(server, {
    agent: phone.agent({ systemPrompt: 'You answer the phone of a small shop. Be brief.' }),
    dashboardToken: process.env.DASHBOARD_TOKEN,
    ...rest,
  });
  // Records and events in process: no HTTP, no token.
  app.get(
    '/busy',
    async (_request, response) => void response.json({ calls: (await calls.active()).length }),
  );
  events.subscribe((event) => {
    if (event.type === 'call.ended') console.log(`Call ${event.callId} is over: ${event.endReason}.`);
  });
  return {
    phone,
    async close() {
      await phone.disconnect();
      chat.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await startApplication({ port: 8000 });
