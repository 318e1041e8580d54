// What application code is told of its call: tools, onMessage, guardrails and voices, in whole calls over both carriers.
import { describe, expect, it, vi } from 'vitest';
import type {
  AgentOptions,
  CallContext,
  LanguageModel,
  LanguageModelEvent,
  LanguageModelRequest,
  ServeOptions,
  TextToSpeech,
} from '../../src/index.js';
import { FliteTextToSpeech } from '../../src/providers/tts/index.js';
import { type CallerStep, openToneVoice, type SimulatorOptions } from '../../src/testing/index.js';
import { OWN_NUMBER, startCarrierPhone } from '../support/carrier-phone.js';
import { REALTIME_VENDORS } from '../support/realtime-vendors.js';
import { playedOn } from '../support/rotated.js';

const OTHER = '+15005550020';
const TIMEOUT = { timeout: 40_000 };
const ASKS: readonly CallerStep[] = [
  { type: 'wait-for-agent' },
  { type: 'say', text: 'Please do it for me now.' },
  { type: 'wait-for-agent' },
  { type: 'hang-up' },
];

/** Has the tool `look_up` run once, and says what it gave. */
const model: LanguageModel = {
  name: 'acting',
  async *respond({ messages }: LanguageModelRequest): AsyncGenerator<LanguageModelEvent> {
    if (messages.at(-1)?.role === 'tool') yield { type: 'text', delta: 'It is done.' };
    else yield { type: 'tool-call', id: 'call_1', name: 'look_up', arguments: {}, argumentsText: '{}' };
  },
};

/** Who is told what of the call. */
function listen() {
  const told = new Map<string, CallContext | undefined>();
  const note = (who: string, { callId, direction, caller, callee, agent, variables }: CallContext) =>
    void told.set(who, { callId, direction, caller, callee, agent, variables });
  const voice = new FliteTextToSpeech();
  const tts: TextToSpeech = {
    name: voice.name,
    open(context) {
      if (context.call !== undefined) note('voice', context.call);
      return voice.open(context);
    },
  };
  const agent: AgentOptions = {
    name: 'front-desk',
    variables: { plan: 'basic', city: 'Bern' },
    tools: [
      {
        name: 'look_up',
        description: 'Looks it up.',
        execute: (_, call) => {
          note('tool', call);
          return 'done';
        },
      },
    ],
  };
  const guardrails: AgentOptions['guardrails'] = [
    (_, call) => {
      note('guardrail', call);
      return true;
    },
  ];
  const onMessage: ServeOptions['onMessage'] = (call) => {
    note('onMessage', call);
    return 'It is done.';
  };
  return { told, tts, agent, guardrails, onMessage };
}

const OUTBOUND = { to: OTHER, variables: { plan: 'gold' } };
const callees: SimulatorOptions['callees'] = { '*': { type: 'human', ringMs: 200, script: ASKS } };
const outbound = (callId: string): CallContext => ({
  callId,
  direction: 'outbound',
  caller: OWN_NUMBER,
  callee: OTHER,
  agent: 'front-desk',
  variables: { plan: 'gold', city: 'Bern' },
});

describe.each(playedOn('carrier-b'))('%s, what application code is told of a call', (id) => {
  it('is whose it is and what it was given, to a tool, a guardrail and a voice', TIMEOUT, async () => {
    const { told, tts, agent, guardrails } = listen();
    await using running = await startCarrierPhone(
      id,
      { ...agent, guardrails, tts, llm: model },
      { simulator: { callees } },
    );
    const { callId } = await (await running.phone.call(OUTBOUND)).ended;
    const call = outbound(callId);
    expect(Object.fromEntries(told)).toEqual({ tool: call, guardrail: call, voice: call });
  });

  it(
    'is the same to onMessage, and has the values of the agent where the caller calls',
    TIMEOUT,
    async () => {
      const { told, tts, agent, guardrails, onMessage } = listen();
      await using running = await startCarrierPhone(
        id,
        { ...agent, guardrails, tts },
        { serve: { onMessage } },
      );
      const { carrierCallId } = await running.simulator.call({ script: ASKS });
      const { callId, caller, callee } = await running.record(carrierCallId);
      const variables = { plan: 'basic', city: 'Bern' };
      const call: CallContext = {
        callId,
        direction: 'inbound',
        caller,
        callee,
        agent: 'front-desk',
        variables,
      };
      expect(Object.fromEntries(told)).toEqual({ onMessage: call, guardrail: call, voice: call });
    },
  );

  it('is the same with a realtime model, and to the model', TIMEOUT, async () => {
    const { told, agent } = listen();
    const [vendor] = REALTIME_VENDORS;
    if (vendor === undefined) throw new Error('there is no realtime model');
    const played = await vendor.play({
      utterances: ['Please do it for me now.'],
      replies: [{ toolCalls: [{ name: 'look_up', arguments: {} }] }, { text: 'It is done.' }],
    });
    const opened = vi.spyOn(played.engine, 'open');
    await using running = await startCarrierPhone(
      id,
      { ...agent, engine: played.engine },
      { simulator: { callees, openVoice: openToneVoice } },
    );
    const { callId } = await (await running.phone.call(OUTBOUND)).ended;
    await played.emulator.close();
    const call = outbound(callId);
    expect(Object.fromEntries(told)).toEqual({ tool: call });
    expect(opened.mock.calls.map(([context]) => context.call)).toEqual([call]);
  });
});
