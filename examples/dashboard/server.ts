// The dashboard in an Express app of your own, at a path of your own, behind a check of your own.
import express, { type RequestHandler } from 'express';
import { CarrierA, Offhook, type ServeOptions } from 'offhook';
import { createDashboard } from 'offhook/dashboard';

export async function start(
  options: { pagePort: number; authToken?: string; isAllowed: RequestHandler } & Partial<ServeOptions>,
) {
  const { pagePort, authToken, isAllowed, ...rest } = options;
  const phone = new Offhook({ carrier: new CarrierA({ authToken }), phoneNumber: '+15005550010' });
  const server = await phone.serve({
    agent: phone.agent({ systemPrompt: 'You are a helpful assistant on the phone.' }),
    ...rest,
  });
  const dashboard = createDashboard({
    store: server.calls,
    bus: server.events,
    // The buttons of the page hang up and transfer by the phone. Null takes them away.
    controls: phone,
  });
  const app = express();
  app.use('/calls', isAllowed, dashboard.handler);
  const page = app.listen(pagePort);
  return {
    phone,
    async close() {
      dashboard.close();
      page.close();
      await phone.disconnect();
    },
  };
}
