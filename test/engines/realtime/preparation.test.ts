import { describe, expect, it } from 'vitest';
import { begun } from '../../../src/conversation/state.js';
import { NO_TURNS } from '../../../src/conversation/turns.js';
import { ALAW_8K, MULAW_8K, PCM_16K } from '../../../src/audio/format.js';
import { silentLogger } from '../../../src/base/log.js';
import { silentMeters } from '../../../src/base/meters.js';
import type { Preparation, PreparationContext, UsageFact } from '../../../src/engines/engine.js';
import { createRealtimeRecipe } from '../../../src/engines/realtime/recipe.js';
import type { RealtimePreparation } from '../../../src/engines/realtime/preparation.js';
import type {
  RealtimeContext,
  RealtimeEvents,
  RealtimeUsage,
} from '../../../src/providers/realtime-model.js';
import { FakeClock } from '../../support/fake-clock.js';
import { FakeRealtimeModel, MS_PER_CHAR, RealtimeRig, type RealtimeRigOptions } from '../realtime-rig.js';

const GREETING = 'Hello, this is the front desk.';
const TONE: RealtimeUsage = {
  kind: 'response',
  inputTextTokens: 10,
  cachedTextTokens: 0,
  inputAudioTokens: 0,
  cachedAudioTokens: 0,
  outputTextTokens: 5,
  outputAudioTokens: 50,
};

class CountedModel extends FakeRealtimeModel {
  readonly contexts: RealtimeContext[] = [];
  closes = 0;
  refusals = 0;
  override readonly inputFormats = [PCM_16K, MULAW_8K, ALAW_8K];
  override readonly outputFormats = [PCM_16K, MULAW_8K, ALAW_8K];

  override open(context: RealtimeContext) {
    if (this.refusals > 0) {
      this.refusals -= 1;
      throw new Error('not now');
    }
    this.contexts.push(context);
    const session = super.open(context);
    return {
      ...session,
      close: () => {
        this.closes += 1;
        session.close();
      },
    };
  }
}

/** A call that is prepared and answered, and begins when the test says so. */
class PreparedCall {
  readonly clock = new FakeClock();
  readonly model = new CountedModel();
  readonly spent: UsageFact[] = [];
  readonly preparation: Preparation;
  readonly #options: RealtimeRigOptions;

  constructor(options: RealtimeRigOptions = {}, adjust: (call: PreparedCall) => void = () => {}) {
    this.#options = { firstMessage: GREETING, ...options };
    adjust(this);
    const context: PreparationContext = {
      callId: 'call-1',
      caller: '+15550100',
      callee: '+15550111',
      direction: 'inbound',
      clock: this.clock,
      logger: silentLogger,
      meters: silentMeters,
      line: options.line,
      spent: (fact) => void this.spent.push(fact),
    };
    const preparation = this.recipe.prepare?.(context);
    if (preparation === undefined) throw new Error('nothing was prepared');
    this.preparation = preparation;
    expect(this.model.contexts).toEqual([]);
    preparation.answered?.();
  }

  get recipe() {
    const { turnTaking: _, ...options } = this.#options;
    return createRealtimeRecipe({ ...options, model: this.model });
  }

  create(options: RealtimeRigOptions = {}): RealtimeRig {
    const { clock, model, preparation, recipe } = this;
    return new RealtimeRig({ ...this.#options, clock, model, recipe, preparation, ...options });
  }

  async begin(options: RealtimeRigOptions = {}): Promise<RealtimeRig> {
    const rig = this.create(options);
    rig.engine.start();
    await rig.wait(0);
    return rig;
  }
}

describe('a realtime call that is prepared', () => {
  it('has its session open and the greeting asked for when it is answered, not before', () => {
    const call = new PreparedCall();
    call.preparation.answered?.();
    expect(call.model.contexts).toHaveLength(1);
    expect(call.model.asked).toEqual([`say ${GREETING}`]);
  });

  it('greets at once with what was said before there was anybody', async () => {
    const call = new PreparedCall();
    call.model.ready();
    call.model.answers(GREETING);
    call.model.events.usage(TONE);
    const rig = await call.begin();
    expect(rig.pacer.pushedMs).toBe(GREETING.length * MS_PER_CHAR);
    await rig.wait(GREETING.length * MS_PER_CHAR + 500);
    expect(call.model.asked.filter((order) => order.startsWith('say'))).toEqual([`say ${GREETING}`]);
    expect(call.model.contexts).toHaveLength(1);
    expect(rig.turns).toMatchObject([{ index: 0, agentText: GREETING, interrupted: false }]);
    expect(new Set(Object.values(rig.turns[0]?.latency ?? { none: 1 }))).toEqual(new Set([null]));
    const used = rig.facts.filter((fact) => fact.type === 'usage.measured');
    expect(used).toMatchObject([{ stage: 'llm', turnIndex: 0, quantities: { audioOutputTokens: 50 } }]);
    await rig.wait(10_000);
    expect(rig.ended).toEqual([]);
  });

  it('takes over in the middle of the greeting, and everything after it is live', async () => {
    const call = new PreparedCall();
    call.model.ready();
    const id = call.model.begins('Hello, this is');
    const rig = await call.begin();
    call.model.says(id, ' the front desk.');
    call.model.ends(id);
    await rig.wait(GREETING.length * MS_PER_CHAR + 500);
    expect(rig.turns).toMatchObject([{ agentText: GREETING }]);
    call.model.hears('When are you open?');
    call.model.answers('All day.');
    await rig.wait(1500);
    expect(rig.turns[1]).toMatchObject({ userText: 'When are you open?', agentText: 'All day.' });
  });

  it('is opened anew when there was no end to what the first session told', async () => {
    const call = new PreparedCall();
    call.model.ready();
    const id = call.model.begins('Hello');
    for (let count = 0; count < 20_000; count += 1)
      call.model.events.text({ responseId: id, itemId: 'item', delta: ' and' });
    expect(call.model.closes).toBe(1);
    const rig = await call.begin();
    expect(call.model.contexts).toHaveLength(2);
    expect(rig.ended).toEqual([]);
  });

  it('is silent through a hold, and greets behind it', async () => {
    const call = new PreparedCall();
    call.model.ready();
    call.model.answers(GREETING);
    const rig = call.create();
    rig.engine.start();
    rig.engine.hold();
    await rig.wait(1000);
    expect(rig.pacer.pushedMs).toBe(0);
    rig.engine.resume('continue');
    expect(call.model.asked.at(-1)).toBe(`say ${GREETING}`);
    call.model.answers(GREETING);
    await rig.wait(GREETING.length * MS_PER_CHAR + 500);
    expect(rig.turns.at(-1)).toMatchObject({ agentText: GREETING });
    expect(rig.ended).toEqual([]);
  });

  it('tells nothing of what was said ahead once that is called off', async () => {
    const call = new PreparedCall();
    call.model.ready();
    call.model.answers(GREETING);
    call.model.events.usage(TONE);
    const told: string[] = [];
    const events = new Proxy({} as RealtimeEvents, { get: (_, name) => () => told.push(String(name)) });
    const session = (call.preparation as RealtimePreparation).model.open({ ...call.model.context, events });
    session.cancel();
    await call.clock.advanceAsync(0);
    expect(told).toEqual(['ready', 'usage']);
  });

  it('greets once behind a hold that is over in the tick in which the call begins', async () => {
    const call = new PreparedCall();
    call.model.ready();
    call.model.answers(GREETING);
    const rig = call.create();
    rig.engine.start();
    rig.engine.hold();
    rig.engine.resume('continue');
    await rig.wait(0);
    expect(rig.pacer.pushedMs).toBe(0);
    call.model.answers(GREETING);
    await rig.wait(GREETING.length * MS_PER_CHAR + 500);
    expect(rig.heardMs).toBe(GREETING.length * MS_PER_CHAR);
    expect(rig.turns.at(-1)).toMatchObject({ agentText: GREETING });
    expect(rig.ended).toEqual([]);
  });

  it('is given up when its connection is lost and does not come back', async () => {
    const call = new PreparedCall();
    call.model.ready();
    call.model.answers(GREETING);
    const rig = await call.begin();
    await rig.wait(GREETING.length * MS_PER_CHAR + 500);
    call.model.events.lost?.();
    await rig.wait(3599);
    expect(rig.ended).toEqual([]);
    await rig.wait(1);
    expect(rig.ended).toMatchObject([{ reason: 'provider-failed' }]);
  });

  it('waits as usual for a model that is not ready, and hears what is said meanwhile', async () => {
    const call = new PreparedCall();
    const rig = await call.begin();
    rig.engine.pushAudio(new Int16Array(320).fill(100));
    expect(call.model.audioBytes).toBe(0);
    call.model.ready();
    expect(call.model.audioBytes).toBe(640);
    expect(call.model.asked).toEqual([`say ${GREETING}`]);
    call.model.answers(GREETING);
    await rig.wait(GREETING.length * MS_PER_CHAR + 500);
    expect(rig.turns).toMatchObject([{ agentText: GREETING }]);
  });

  it('says nothing by itself where there is no greeting', async () => {
    const call = new PreparedCall({ firstMessage: '' });
    call.model.ready();
    const rig = await call.begin();
    expect(call.model.asked).toEqual([]);
    expect(rig.pacer.pushedMs).toBe(0);
  });

  it('has the settings of its engine', async () => {
    const call = new PreparedCall({
      systemPrompt: 'Be kind.',
      language: 'de-DE',
      turnTaking: { interruptibleGreeting: false },
    });
    const plain = new RealtimeRig({ systemPrompt: 'Be kind.', language: 'de-DE', firstMessage: GREETING });
    plain.engine.start();
    const { instructions, language, tools, callId } = plain.model.context;
    expect(call.model.context).toMatchObject({ instructions, language, tools, callId });
  });

  it('tells a new connection the history of the engine', async () => {
    const call = new PreparedCall();
    call.model.ready();
    expect(call.model.context.history()).toEqual([]);
    call.model.answers(GREETING);
    const rig = await call.begin();
    await rig.wait(GREETING.length * MS_PER_CHAR + 500);
    expect(call.model.context.history()).toEqual([{ role: 'assistant', content: GREETING }]);
  });
});

describe('the formats of a prepared session', () => {
  const mulaw = { inbound: MULAW_8K, outbound: MULAW_8K };

  it('are those of the line where they are known', async () => {
    const call = new PreparedCall({ line: mulaw });
    expect(call.model.context.formats).toEqual({ input: MULAW_8K, output: MULAW_8K });
    await call.begin();
    expect(call.model.contexts).toHaveLength(1);
  });

  it('have another session opened where the line turns out different', async () => {
    const call = new PreparedCall({ line: mulaw });
    call.model.ready();
    call.model.events.usage(TONE);
    const rig = await call.begin({ line: { inbound: ALAW_8K, outbound: ALAW_8K } });
    expect(call.model.contexts.map(({ formats }) => formats.input)).toEqual([MULAW_8K, ALAW_8K]);
    expect(call.model.closes).toBe(1);
    expect(call.model.asked).toEqual([`say ${GREETING}`, `say ${GREETING}`]);
    expect(rig.facts.filter((fact) => fact.type === 'usage.measured')).toHaveLength(1);
    call.model.ready();
    call.model.answers(GREETING);
    // Bytes of PCM are four times as long in a format of the telephone.
    await rig.wait(4 * GREETING.length * MS_PER_CHAR + 500);
    expect(rig.turns).toMatchObject([{ agentText: GREETING }]);
  });
});

describe('a realtime session that is opened anew with the engine', () => {
  it.each<[string, (model: CountedModel) => void]>([
    ['has failed', (model) => model.events.failed(new Error('gone'))],
    ['was lost', (model) => model.events.lost?.()],
    ['was lost and is back', (model) => model.events.reconnected({ gapMs: 100 })],
    ['heard somebody', (model) => model.events.interrupted()],
    [
      'said more than is kept',
      (model) => {
        const audio = new Uint8Array(600_000);
        model.events.audio({ responseId: 'r1', itemId: 'i1', audio });
        model.events.audio({ responseId: 'r1', itemId: 'i1', audio });
      },
    ],
  ])('%s', async (_name, spoil) => {
    const call = new PreparedCall();
    call.model.ready();
    spoil(call.model);
    expect(call.model.closes).toBe(1);
    const rig = await call.begin();
    expect(call.model.contexts).toHaveLength(2);
    call.model.ready();
    call.model.answers(GREETING);
    await rig.wait(GREETING.length * MS_PER_CHAR + 500);
    expect(rig.turns).toMatchObject([{ agentText: GREETING }]);
    expect(rig.ended).toEqual([]);
  });

  it('has nothing to do with what the first one still tells, but for what it used', async () => {
    const call = new PreparedCall();
    call.model.ready();
    const { events } = call.model;
    events.failed(new Error('gone'));
    const rig = await call.begin();
    call.model.ready();
    events.failed(new Error('gone once more'));
    events.usage(TONE);
    expect(rig.ended).toEqual([]);
    expect(rig.facts.filter((fact) => fact.type === 'usage.measured')).toHaveLength(1);
  });

  it('could not be opened', async () => {
    const call = new PreparedCall({}, ({ model }) => (model.refusals = 1));
    const rig = await call.begin();
    expect(call.model.contexts).toHaveLength(1);
    expect(rig.ended).toEqual([]);
  });

  it('is for an engine that takes over in the middle of a call', async () => {
    const call = new PreparedCall();
    call.model.ready();
    call.model.answers(GREETING);
    const state = { ...begun({ hasGreeting: false }), turns: { ...NO_TURNS, nextIndex: 3 } };
    const rig = await call.begin({ takeover: { state } });
    expect(call.model.closes).toBe(1);
    expect(call.model.contexts).toHaveLength(2);
    expect(rig.pacer.pushedMs).toBe(0);
  });
});

describe('a realtime preparation that is not used', () => {
  it('is closed once, and tells what it has used', () => {
    const call = new PreparedCall();
    call.model.ready();
    call.model.events.usage(TONE);
    call.preparation.close();
    call.preparation.close();
    expect(call.model.closes).toBe(1);
    expect(call.spent).toMatchObject([
      { stage: 'llm', turnIndex: null, quantities: { audioOutputTokens: 50 } },
    ]);
  });

  it('is closed with an engine that never began, whose it is by then', () => {
    const call = new PreparedCall();
    call.model.ready();
    call.model.events.usage(TONE);
    const rig = call.create();
    call.preparation.close();
    expect(call.model.closes).toBe(0);
    rig.engine.close();
    expect(call.model.closes).toBe(1);
    expect(rig.facts).toMatchObject([{ type: 'usage.measured', stage: 'llm' }]);
    expect(call.spent).toEqual([]);
  });

  it('is closed once with an engine that has begun', async () => {
    const call = new PreparedCall();
    const rig = await call.begin();
    rig.engine.close();
    call.preparation.close();
    expect(call.model.closes).toBe(1);
    expect(call.clock.pending).toBe(0);
  });
});
