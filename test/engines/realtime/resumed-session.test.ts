// A model's own session that goes on in another process, in the place of one that is told the history.
import { describe, expect, it } from 'vitest';
import type { SessionHandle } from '../../../src/contract/session-handle.js';
import type { EngineContext } from '../../../src/engines/engine.js';
import { createAgentTools } from '../../../src/engines/tools/agent-tool.js';
import { CallRig, playing } from '../call-rig.js';
import { GONE, talkingToModel, toldAtStart } from '../fallback-rig.js';
import { RealtimeRig } from '../realtime-rig.js';

const HOUR_MS = 60 * 60_000;
const GREETING = 'Good morning to you.';
const ANSWER = 'They are ready at noon, all three of them.';

const agent = {
  firstMessage: GREETING,
  idle: { afterMs: 3500, prompts: [], goodbye: 'Goodbye.' },
  tools: createAgentTools([
    { name: 'look_up', description: 'Looks it up.', execute: () => new Promise<string>(() => {}) },
    {
      name: 'count',
      description: 'Counts them.',
      idempotent: true,
      execute: () => new Promise<string>(() => {}),
    },
  ]),
};

const handleOf = ({ clock }: RealtimeRig, name: string): SessionHandle => ({
  handle: name,
  settingsDigest: 'd',
  expiresAt: clock.wallNow() + HOUR_MS,
});

/** The model tells how its session can be gone on with. */
function tells(rig: RealtimeRig, name: string): SessionHandle {
  const handle = handleOf(rig, name);
  rig.model.events.resumable?.(handle);
  return handle;
}

async function greeted(): Promise<RealtimeRig> {
  const rig = new RealtimeRig(agent).start();
  rig.model.answers(GREETING);
  await rig.wait(playing(GREETING) + 100);
  return rig;
}

/** One question was answered, and all of it heard. */
async function atRest(): Promise<RealtimeRig> {
  const rig = await greeted();
  rig.model.hears('Three loaves.');
  rig.model.answers(ANSWER);
  await rig.wait(playing(ANSWER) + 100);
  tells(rig, 'h1');
  return rig;
}

interface How extends Pick<NonNullable<EngineContext['resumed']>, 'open'> {
  readonly gapMs?: number;
  readonly term?: number;
  /** What was stored is damaged so. */
  readonly session?: unknown;
}

/** The process of `rig` is gone, and another one has the call a while later. */
async function resumed(rig: RealtimeRig, { gapMs = 1000, term = 2, open, ...damage }: How = {}) {
  const { clock } = rig;
  const state = { ...JSON.parse(JSON.stringify(rig.engine.state)), ...damage };
  rig.context.fact = () => {};
  rig.engine.close();
  await clock.advanceAsync(gapMs);
  return new RealtimeRig({ ...agent, clock, resumed: { state, open, message: '', term } });
}

const usedBy = ({ engine, model }: RealtimeRig) => {
  engine.start();
  return model.context.handle?.handle;
};

describe('a session of a model whose process is gone', () => {
  it('is gone on with where nobody was in the middle of anything, and the history stays known', async () => {
    const next = await resumed(await atRest());
    expect(usedBy(next)).toBe('h1');
    expect(toldAtStart(next.model)).toEqual([
      `assistant: ${GREETING}`,
      'user: Three loaves.',
      `assistant: ${ANSWER}`,
    ]);
    next.model.ready();
    expect(next.model.asked).toEqual([]);
  });

  it('is gone on with by the handle that was told last', async () => {
    const rig = await atRest();
    tells(rig, 'h2');
    expect(usedBy(await resumed(rig))).toBe('h2');
  });

  it.each<[string, (rig: RealtimeRig) => unknown]>([
    ['it can no longer be', ({ model }) => model.events.resumable?.(undefined)],
    ['the caller is speaking', ({ model }) => model.events.speechStarted()],
    ['the caller waits for an answer', ({ model }) => model.hears('And a cake?')],
    ['what the caller said has no words yet', ({ model }) => model.hears()],
    [
      'the answer has no words of the caller yet',
      async (rig) => {
        rig.model.hears();
        rig.model.answers(ANSWER);
        await rig.wait(playing(ANSWER) + 100);
        tells(rig, 'h2');
      },
    ],
    [
      'the answer was not heard to its end',
      async (rig) => {
        rig.model.hears('And a cake?');
        rig.model.answers(ANSWER);
        tells(rig, 'h2');
        await rig.wait(800);
      },
    ],
    [
      'words that nobody asked the model for were not',
      async (rig) => {
        rig.engine.request({ id: 'r1', text: ANSWER, interrupts: false });
        rig.model.answers(ANSWER);
        tells(rig, 'h2');
        await rig.wait(800);
      },
    ],
    [
      'a tool ran',
      async (rig) => {
        rig.model.hears('And a cake?');
        rig.model.answers('Let me see.', [{ id: 'c1', name: 'look_up' }]);
        await rig.wait(playing('Let me see.') + 100);
        tells(rig, 'h2');
      },
    ],
    [
      'a tool ran that is run again',
      async (rig) => {
        rig.model.hears('And a cake?');
        rig.model.answers('Let me see.', [{ id: 'c1', name: 'count' }]);
        await rig.wait(playing('Let me see.') + 100);
        tells(rig, 'h2');
      },
    ],
    [
      'a tool ran that the answer was given without',
      async (rig) => {
        rig.model.hears('And a cake?');
        rig.model.answers('Let me see.', [{ id: 'c1', name: 'count' }]);
        await rig.wait(playing('Let me see.') + 100);
        rig.model.hears('Never mind.');
        rig.model.answers(ANSWER);
        await rig.wait(playing(ANSWER) + 100);
        tells(rig, 'h2');
      },
    ],
    [
      'the agent was held in the middle of an answer',
      async (rig) => {
        rig.model.hears('And a cake?');
        rig.model.answers(ANSWER);
        await rig.wait(800);
        rig.engine.hold();
        tells(rig, 'h2');
      },
    ],
    [
      'the agent has said goodbye',
      async (rig) => {
        await rig.wait(4000);
        rig.model.answers('Goodbye.');
        await rig.wait(playing('Goodbye.') + 100);
        tells(rig, 'h2');
        expect(rig.ended).toMatchObject([{ reason: 'idle' }]);
      },
    ],
  ])('is not where %s', async (_, happens) => {
    const rig = await atRest();
    await happens(rig);
    expect(usedBy(await resumed(rig))).toBeUndefined();
  });

  it('is not in the middle of the greeting', async () => {
    const rig = new RealtimeRig(agent).start();
    rig.model.answers(GREETING);
    tells(rig, 'h1');
    await rig.wait(300);
    expect(usedBy(await resumed(rig))).toBeUndefined();
  });

  it('is while the agent is held that said nothing', async () => {
    const rig = await atRest();
    rig.engine.hold();
    expect(usedBy(await resumed(rig))).toBe('h1');
  });

  it('is not where the record knows of words that the state does not', async () => {
    const entry = { id: 'u9', turnIndex: 2, role: 'user', text: 'And', at: 1, final: false } as const;
    expect(usedBy(await resumed(await atRest(), { open: [entry] }))).toBeUndefined();
  });

  it('is not once its handle has expired', async () => {
    expect(usedBy(await resumed(await atRest(), { gapMs: HOUR_MS - 10_000 }))).toBe('h1');
    expect(usedBy(await resumed(await atRest(), { gapMs: HOUR_MS + 1 }))).toBeUndefined();
  });

  it.each<[unknown]>([
    [null],
    ['h1'],
    [{}],
    [{ handle: '', settingsDigest: 'd', expiresAt: 9e15 }],
    [{ handle: 1, settingsDigest: 'd', expiresAt: 9e15 }],
    [{ handle: 'h1', expiresAt: 9e15 }],
    [{ handle: 'h1', settingsDigest: 'd', expiresAt: 'never' }],
  ])('is not where what was stored of it is %j', async (session) => {
    const next = await resumed(await atRest(), { session });
    expect(usedBy(next)).toBeUndefined();
    expect(toldAtStart(next.model)).toHaveLength(3);
  });

  it('is gone on with once: the next process needs a handle of its own', async () => {
    const second = await resumed(await atRest());
    expect(usedBy(second)).toBe('h1');
    second.model.ready();
    const third = await resumed(second, { term: 3 });
    expect(usedBy(third)).toBeUndefined();
    third.model.ready();
    tells(third, 'h3');
    expect(usedBy(await resumed(third, { term: 4 }))).toBe('h3');
  });

  it('is not where another voice mode has gone on', async () => {
    const { first, second, rig } = await talkingToModel();
    first.events.resumable?.({ handle: 'h1', settingsDigest: 'd', expiresAt: rig.clock.wallNow() + HOUR_MS });
    expect(rig.engine.state.session?.handle).toBe('h1');
    first.events.failed(GONE);
    await rig.clock.advanceAsync(100);
    await rig.says(second, 'And a cake?');
    expect(rig.engine.state.session).toBeUndefined();
  });

  it('is of no use to a pipeline, and to nobody behind that', async () => {
    const { clock, engine } = await atRest();
    const state = JSON.parse(JSON.stringify(engine.state));
    engine.close();
    const next = new CallRig({ ...agent, clock, resumed: { state, message: '', term: 2 } });
    await next.start();
    expect(next.engine.state.session).toBeUndefined();
  });
});
