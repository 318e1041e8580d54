// The phone server of the demo: the local stack behind a carrier that exists only here.
import { createLogger } from '../../base/log.js';
import { CarrierA } from '../../carriers/carrier-a/index.js';
import { Offhook } from '../../client.js';
import type { ClusterOptions } from '../../options/cluster.js';
import { ScriptedLanguageModel } from '../../providers/llm/index.js';
import { SimulatedSpeechToText } from '../../providers/stt/index.js';
import { FliteTextToSpeech } from '../../providers/tts/index.js';

export const PHONE_NUMBER = '+15005550010';
/** A name that no resolver knows: the demo's carrier dials the address of the server itself. */
export const WEBHOOK_HOST = 'demo.offhook.invalid';

export interface DemoServerSettings {
  readonly port: number;
  readonly host: string;
  /** Folder of what the server keeps. */
  readonly folder: string;
  /** The account at the simulated carrier, and the address of its REST API. */
  readonly carrier: { readonly accountSid: string; readonly authToken: string; readonly baseUrl: string };
  /** What it shares with others: then it keeps nothing in the folder. */
  readonly cluster?: ClusterOptions;
}

export interface DemoServer {
  readonly url: string;
  /** Where its page is. */
  readonly dashboardUrl: string;
  /** Finishes the calls that are up, and stops. */
  drain(): Promise<void>;
  /** Hangs up, and stops. Idempotent. */
  disconnect(): Promise<void>;
}

/** @throws ConfigError when the server cannot start; nothing is left running then. */
export async function serveDemo(settings: DemoServerSettings): Promise<DemoServer> {
  const { port, host, folder, carrier, cluster } = settings;
  const phone = new Offhook({
    carrier: new CarrierA(carrier),
    phoneNumber: PHONE_NUMBER,
    webhookUrl: WEBHOOK_HOST,
  });
  const agent = phone.agent({
    systemPrompt: 'You answer the telephone of a small practice.',
    firstMessage: 'Hello, this is the demo of offhook. How can I help you?',
    stt: new SimulatedSpeechToText(),
    llm: new ScriptedLanguageModel(),
    tts: new FliteTextToSpeech(),
  });
  const logger = createLogger({ level: 'error' });
  try {
    const { url, dashboardUrl } = await phone.serve({
      agent,
      port,
      host,
      logger,
      // A machine may take its time to start the next process.
      ...(cluster ? { cluster, dataDir: false } : { dataDir: folder, resume: { holdSeconds: 10 } }),
    });
    return {
      url,
      dashboardUrl: dashboardUrl ?? url,
      drain: () => phone.drain(),
      disconnect: () => phone.disconnect(),
    };
  } catch (error) {
    await phone.disconnect();
    throw error;
  }
}
