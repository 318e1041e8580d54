// Calls with a realtime model that go from one server to the next in the middle: the next session knows what was said.
import { expect, it } from 'vitest';
import { SIMULATED_CARRIERS } from '../../../src/contract/call-record.js';
import { OpenAIRealtime } from '../../../src/providers/realtime/index.js';
import { type CallerStep, emulateOpenAIRealtime, openToneVoice } from '../../../src/testing/index.js';
import { eventually } from '../../support/carrier-phone.js';
import { Deploy } from '../../support/deploy.js';

const GREETING = 'Hello, this is the bakery.';
// A voice of tones knows no capital letters.
const ORDER = 'three loaves of bread.';
const READY = 'They are ready at noon.';
const MORE = 'and a cake.';
const TOO = 'The cake, too.';
const WAIT: CallerStep = { type: 'wait-for-agent' };
const PATIENCE_MS = 40_000;

it.each(SIMULATED_CARRIERS)(
  'a new session of the model goes on with the conversation, on %s',
  { timeout: 120_000 },
  async (id) => {
    await using deploy = await Deploy.on(id, { openVoice: openToneVoice });
    await using model = await emulateOpenAIRealtime({ replies: [{ text: READY }, { text: TOO }] });
    const engine = () => new OpenAIRealtime({ apiKey: 'test-key', baseUrl: `${model.url}/v1` });
    const old = await deploy.serve({ firstMessage: GREETING, engine: engine() });
    deploy.proxy.switchTo(old.port);
    const isMoved = new AbortController();
    const calling = deploy.simulator.call({
      script: [
        WAIT,
        { type: 'say', text: ORDER },
        WAIT,
        { type: 'wait-until', signal: isMoved.signal, timeoutMs: 50_000 },
        { type: 'say', text: MORE },
        WAIT,
        { type: 'hang-up' },
      ],
    });
    await eventually(
      'the first answer',
      () => old.facts.find((fact) => fact.type === 'turn.completed' && fact.turn.index === 1),
      PATIENCE_MS,
    );
    const next = await deploy.serve({ firstMessage: GREETING, engine: engine() });
    deploy.proxy.switchTo(next.port);
    await old.server.closed;
    const before = model.connections.length;
    isMoved.abort();
    expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
    const record = await eventually('the end', () => next.ended[0], PATIENCE_MS);
    expect(record).toMatchObject({
      mode: 'realtime',
      endReason: 'caller-hangup',
      term: 2,
      error: null,
      incidents: [{ code: 'process-replaced' }],
    });
    expect(record.transcript.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      `agent: ${GREETING}`,
      `user: ${ORDER}`,
      `agent: ${READY}`,
      `user: ${MORE}`,
      `agent: ${TOO}`,
    ]);
    // The model of the next process heard of it as text, and nothing was asked of it for that.
    expect(before).toBe(2);
    expect(model.connections).toHaveLength(2);
    const items = model.connections[1]?.items ?? [];
    expect(items.map(({ role, text }) => `${role}: ${text}`).slice(0, 3)).toEqual([
      `assistant: ${GREETING}`,
      `user: ${ORDER}`,
      `assistant: ${READY}`,
    ]);
    expect(model.connections.flatMap(({ errors }) => errors)).toEqual([]);
    expect(model.violations).toEqual([]);
    expect([old.ended, next.started]).toEqual([[], []]);
    for (const { logger } of [old, next]) expect(logger.sentences('error')).toEqual([]);
  },
);
