// The session of a realtime model goes with its call from one server to the next, where the vendor keeps sessions.
import { describe, expect, it } from 'vitest';
import { SIMULATED_CARRIERS } from '../../../src/contract/call-record.js';
import { GeminiLive } from '../../../src/providers/realtime/index.js';
import { type CallerStep, emulateGeminiLive, openToneVoice } from '../../../src/testing/index.js';
import { eventually } from '../../support/carrier-phone.js';
import { Deploy } from '../../support/deploy.js';

const GREETING = 'Hello, bakery.';
const [ORDER, READY] = ['Three loaves.', 'At noon.'];
const [CAKE, BOTH] = ['And a cake.', 'The cake, too.'];

/** Four calls are played beside each other. */
const PATIENCE_MS = 40_000;
const WAIT: CallerStep = { type: 'wait-for-agent' };
const asks = (signal: AbortSignal): CallerStep[] => [
  WAIT,
  { type: 'say', text: ORDER },
  WAIT,
  { type: 'wait-until', signal, timeoutMs: 50_000 },
  { type: 'say', text: CAKE },
  WAIT,
  { type: 'hang-up' },
];

interface Ending {
  readonly name: string;
  readonly forgets: boolean;
  /** What each connection was set up to go on with, and was told of the call. */
  readonly connections: readonly (readonly [resumption: unknown, told: readonly string[]])[];
}

const ENDINGS: readonly Ending[] = [
  {
    name: 'goes on with it, and is told nothing',
    forgets: false,
    connections: [
      [{}, []],
      [{ handle: expect.stringMatching(/^handle-/) }, []],
    ],
  },
  {
    name: 'begins another one with the history where the vendor has forgotten it',
    forgets: true,
    connections: [
      [{}, []],
      [undefined, []],
      [{}, [GREETING, ORDER, READY]],
    ],
  },
];

const CASES = SIMULATED_CARRIERS.flatMap((id) => ENDINGS.map((ending) => ({ id, ...ending })));

describe.concurrent('the server that takes over from one with a session of Gemini Live', () => {
  it.each(CASES)('$name, on $id', async ({ id, forgets, connections }) => {
    await using emulator = await emulateGeminiLive({
      utterances: [ORDER, CAKE],
      replies: [{ text: READY }, { text: BOTH }],
    });
    await using deploy = await Deploy.on(id, { openVoice: openToneVoice });
    const agent = () => ({
      firstMessage: GREETING,
      engine: new GeminiLive({ apiKey: 'test-key', baseUrl: emulator.url }),
    });
    const old = await deploy.serve(agent());
    deploy.proxy.switchTo(old.port);
    const isMoved = new AbortController();
    const calling = deploy.simulator.call({ script: asks(isMoved.signal) });
    await eventually(
      'the first answer',
      () => old.facts.find((fact) => fact.type === 'turn.completed' && fact.turn.agentText === READY),
      PATIENCE_MS,
    );
    if (forgets) emulator.forgetSessions();
    const next = await deploy.serve(agent());
    deploy.proxy.switchTo(next.port);
    await old.server.closed;
    isMoved.abort();
    expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
    const record = await eventually('the end', () => next.ended[0]);
    expect(record).toMatchObject({ endReason: 'caller-hangup', term: 2, error: null });
    expect(record.transcript.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      `agent: ${GREETING}`,
      `user: ${ORDER}`,
      `agent: ${READY}`,
      `user: ${CAKE}`,
      `agent: ${BOTH}`,
    ]);
    expect(record.incidents.map(({ code }) => code)).toEqual(['process-replaced']);
    expect(
      emulator.connections.map(({ setup, messages }) => [setup.sessionResumption, toldIn(messages)]),
    ).toEqual(connections);
    // However it knows it.
    expect(emulator.connections.at(-1)?.items.map(({ text }) => text)).toEqual([
      GREETING,
      ORDER,
      READY,
      CAKE,
      BOTH,
    ]);
    expect(emulator.violations).toEqual([]);
    expect(next.logger.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

/** Texts of turns that a connection was given. */
function toldIn(messages: readonly Readonly<Record<string, unknown>>[]): string[] {
  const text = JSON.stringify(messages.filter((message) => 'clientContent' in message));
  return [...text.matchAll(/"text":"([^"]*)"/g)].map(([, told = '']) => told);
}
