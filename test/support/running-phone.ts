import { systemClock } from '../../src/base/clock.js';
import { pause } from '../../src/base/pause.js';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallRecord } from '../../src/contract/call-record.js';
import {
  CarrierA,
  Offhook,
  type AgentOptions,
  type RunningServer,
  type ServeOptions,
} from '../../src/index.js';
import {
  readWav,
  startCarrierASimulator,
  type CallerStep,
  type CallReport,
  type CarrierASimulator,
  type CarrierASimulatorOptions,
  type InboundCall,
} from '../../src/testing/index.js';
import { silentLogger } from '../../src/base/log.js';
import { freePort } from './free-port.js';

export const ACCOUNT_SID = `AC${'0a'.repeat(16)}`;
export const AUTH_TOKEN = '0f1e2d3c4b5a69788796a5b4c3d2e1f0';
export const PUBLIC_HOST = 'voice.example.com';
export const NUMBER = '+15005550010';

/** A simulated call, as it was on both sides. */
export interface HeardCall {
  report: CallReport;
  record: CallRecord;
  /** 8 kHz PCM. */
  callerAudio: Int16Array;
  agentAudio: Int16Array;
}

/** A phone server on loopback with the local stack, and a carrier that calls it. */
export interface RunningPhone extends AsyncDisposable {
  readonly phone: Offhook;
  readonly server: RunningServer;
  /** The carrier's side: outbound calls, disturbances, what was asked of it. */
  readonly simulator: CarrierASimulator;
  /** Calls, signed, and waits for the record. */
  call(script: readonly CallerStep[], options?: Partial<InboundCall>): Promise<HeardCall>;
  /** One record over REST, by either id. */
  record(callId: string): Promise<CallRecord>;
  /** Resolves when the call has ended for the server. */
  ended(carrierCallId: string): Promise<CallRecord>;
}

export async function startPhone(
  agent: AgentOptions,
  options: Partial<ServeOptions> = {},
  simulation: Partial<CarrierASimulatorOptions> = {},
): Promise<RunningPhone> {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-e2e-'));
  const port = await freePort();
  const simulator = await startCarrierASimulator({
    url: `http://127.0.0.1:${port}`,
    webhookHost: PUBLIC_HOST,
    accountSid: ACCOUNT_SID,
    authToken: AUTH_TOKEN,
    ...simulation,
  });
  const carrier = new CarrierA({ accountSid: ACCOUNT_SID, authToken: AUTH_TOKEN, baseUrl: simulator.url });
  const phone = new Offhook({ carrier, phoneNumber: NUMBER, webhookUrl: PUBLIC_HOST });
  const server = await phone.serve({
    agent: phone.agent(agent),
    port,
    host: '127.0.0.1',
    manageWebhook: false,
    logger: silentLogger,
    dataDir: false,
    ...options,
  });

  const record = async (callId: string): Promise<CallRecord> => {
    const response = await fetch(`${server.url}/api/dashboard/calls/${callId}`);
    if (!response.ok) throw new Error(`no record of ${callId}: ${response.status}`);
    return (await response.json()) as CallRecord;
  };
  const ended = async (carrierCallId: string): Promise<CallRecord> => {
    for (let attempt = 0; attempt < 1200; attempt += 1) {
      const found = await server.calls.get(carrierCallId);
      if (found?.status === 'completed') return await record(carrierCallId);
      await pause(systemClock, 50);
    }
    throw new Error(`the call ${carrierCallId} did not end`);
  };

  let calls = 0;
  return {
    phone,
    server,
    simulator,
    record,
    ended,
    async call(script, callOptions = {}) {
      calls += 1;
      const recordTo = join(folder, `call-${calls}.wav`);
      const report = await simulator.call({ script, recordTo, ...callOptions });
      const wav = readWav(readFileSync(recordTo));
      const [callerAudio, agentAudio] = wav.channels;
      if (callerAudio === undefined || agentAudio === undefined)
        throw new Error('the recording is not stereo');
      return { report, record: await ended(report.carrierCallId), callerAudio, agentAudio };
    },
    async [Symbol.asyncDispose]() {
      await phone.disconnect();
      await simulator.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
