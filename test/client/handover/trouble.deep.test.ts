// What goes wrong while calls go from one server to the next.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { controlSocketsIn } from '../../../src/base/control-socket.js';
import { CallDirectory } from '../../../src/calls/call-directory.js';
import { decodeState } from '../../../src/calls/resume/call-state.js';
import type { CallEvent } from '../../../src/contract/call-event.js';
import { type CallRecord, SIMULATED_CARRIERS } from '../../../src/contract/call-record.js';
import { LentStore } from '../../../src/client/handover/lent-store.js';
import { Peer } from '../../../src/server/peer.js';
import { StateFolder } from '../../../src/stores/state-folder.js';
import type { CallerStep } from '../../../src/testing/index.js';
import { asksUpon, WAIT } from '../../support/asking-caller.js';
import { eventually, nothingIsKept } from '../../support/carrier-phone.js';
import { Deploy } from '../../support/deploy.js';
import type { ForkedPhone, ServedPhone } from '../../support/served-phone.js';

const HANG_UP: CallerStep = { type: 'hang-up' };
const GREETING = 'agent: Hello, how can I help you?';
const QUESTION = 'user: What time is it?';
const ANSWER = 'agent: I heard: What time is it? What else can I do for you?';

type Facts = { readonly facts: readonly CallEvent[] };
const PATIENCE_MS = 40_000;
const greeted = ({ facts }: Facts) =>
  eventually('the greeting', () => facts.find(({ type }) => type === 'turn.completed'), PATIENCE_MS);
const resumed = ({ facts }: Facts) =>
  eventually('the call', () => facts.find(({ type }) => type === 'incident.noted'), PATIENCE_MS);
/** It has said what it had to say first, whole. */
const saysAt = (server: Facts, text: string, callId?: string) =>
  eventually(
    `"${text}"`,
    () =>
      server.facts.find(
        (fact) =>
          fact.type === 'turn.completed' &&
          fact.turn.agentText.includes(text) &&
          (callId === undefined || fact.callId === callId),
      ),
    PATIENCE_MS,
  );
const ended = (server: { readonly ended: readonly CallRecord[] }, callId?: string) =>
  eventually(
    'the end',
    () => server.ended.find((record) => callId === undefined || record.callId === callId),
    PATIENCE_MS,
  );
const said = ({ transcript }: CallRecord) => transcript.map(({ role, text }) => `${role}: ${text}`);
const errorsOf = ({ logger }: ServedPhone) => logger.sentences('error');

/** What a process that is to take over does first, without a process. */
async function askForStore(deploy: Deploy) {
  const [path = ''] = await controlSocketsIn(deploy.dataDir);
  const peer = new Peer(path);
  return peer.open('/successor', JSON.stringify({ path: join(deploy.dataDir, 'nobody.sock') }));
}

/** Kills the process before this one as soon as it has given a call. `given`: the state with which it did. */
function killOnClaim({ child }: ForkedPhone) {
  const { ask } = Peer.prototype;
  let give: (state: string) => void = () => {};
  const given = new Promise<string>((resolve) => {
    give = resolve;
  });
  const asking = vi.spyOn(Peer.prototype, 'ask').mockImplementation(async function (this: Peer, path, how) {
    const answer = await ask.call(this, path, how);
    if (path.endsWith('/claim') && answer.status === 200) {
      child.kill('SIGKILL');
      give((JSON.parse(answer.body) as { state: string }).state);
    }
    return answer;
  });
  return { given, [Symbol.dispose]: () => asking.mockRestore() };
}

/** A disk that writes nothing of calls before this process has its store back. */
function slowDisk() {
  const { write, read } = StateFolder.prototype;
  const { takeBack } = LentStore.prototype;
  let writing = 0;
  let isReadTooEarly = false;
  let release = () => {};
  const isReleased = new Promise<void>((resolve) => {
    release = resolve;
  });
  const spies = [
    vi.spyOn(LentStore.prototype, 'takeBack').mockImplementation(async function (this: LentStore) {
      await takeBack.call(this);
      setImmediate(release);
    }),
    vi.spyOn(StateFolder.prototype, 'write').mockImplementation(async function (this: StateFolder, ...args) {
      writing += 1;
      await isReleased;
      await write.apply(this, args);
      writing -= 1;
    }),
    vi.spyOn(StateFolder.prototype, 'read').mockImplementation(function (this: StateFolder) {
      isReadTooEarly ||= writing > 0;
      return read.call(this);
    }),
  ];
  return {
    get isReadTooEarly() {
      return isReadTooEarly;
    },
    [Symbol.dispose]() {
      for (const spy of spies) spy.mockRestore();
    },
  };
}

/** A disk that keeps what a process has let go waiting. `sinceHeld`: how often something else was to be written since. */
function heldLastWrite() {
  const { write } = StateFolder.prototype;
  let sinceHeld: number | undefined;
  let release = () => {};
  const isReleased = new Promise<void>((resolve) => {
    release = resolve;
  });
  const spy = vi.spyOn(StateFolder.prototype, 'write').mockImplementation(async function (
    this: StateFolder,
    callId,
    text,
  ) {
    if (sinceHeld !== undefined) sinceHeld += 1;
    else if (decodeState(text)?.awaitedSince != null) {
      sinceHeld = 0;
      await isReleased;
    }
    await write.call(this, callId, text);
  });
  return {
    release,
    get sinceHeld() {
      return sinceHeld;
    },
    [Symbol.dispose]: () => spy.mockRestore(),
  };
}

/** A server, and a call on it whose caller asks at the signal. */
async function startCall(deploy: Deploy) {
  const old = await deploy.serve();
  deploy.proxy.switchTo(old.port);
  const asksNow = new AbortController();
  const calling = deploy.simulator.call({ script: asksUpon(asksNow.signal) });
  return { old, calling, asksNow };
}

describe('the process that takes over', { timeout: 120_000 }, () => {
  it.each(SIMULATED_CARRIERS)('dies with the call, which goes back, on %s', async (id) => {
    await using deploy = await Deploy.on(id);
    const { old, calling, asksNow: isBack } = await startCall(deploy);
    const { callId } = await greeted(old);
    // A call in which somebody always speaks keeps the old process there for longer.
    const talking = deploy.simulator.call({ script: [{ type: 'monologue', durationMs: 15_000 }, HANG_UP] });
    await eventually('both calls', () => (old.started.length === 2 ? true : undefined), PATIENCE_MS);
    const next = await deploy.fork();
    deploy.proxy.switchTo(next.port);
    await resumed(next);
    deploy.proxy.switchTo(old.port);
    await next.kill();
    await saysAt(old, 'I am back', callId);
    isBack.abort();
    expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
    const record = await ended(old, callId);
    expect(record).toMatchObject({ endReason: 'caller-hangup', term: 3, error: null });
    expect(said(record)).toEqual([GREETING, expect.stringMatching(/^agent: I am back/), QUESTION, ANSWER]);
    expect(await talking).toMatchObject({ ok: true, protocolErrors: [] });
    // Nobody else is there for new calls.
    expect(await deploy.simulator.call({ script: [WAIT, HANG_UP] })).toMatchObject({ ok: true });
  });

  it('dies before it listens: nothing has happened', async () => {
    await using deploy = await Deploy.on('carrier-a');
    const { old, calling, asksNow: isOver } = await startCall(deploy);
    await greeted(old);
    const lifeline = await askForStore(deploy);
    lifeline.on('error', () => {}).destroy();
    isOver.abort();
    expect(await calling).toMatchObject({ ok: true });
    const record = await ended(old);
    expect(record).toMatchObject({ endReason: 'caller-hangup', term: 1 });
    await eventually('the store', () =>
      old.logger.sentences('warn').includes('the other process is gone: its calls go on here')
        ? true
        : undefined,
    );
    await old.phone.disconnect();
    // It is on disk, with what was said while nobody had the store.
    const after = await deploy.serve();
    const [found] = (await after.server.calls.list()).calls;
    expect(found && said(found)).toEqual([GREETING, QUESTION, ANSWER]);
    expect(errorsOf(old)).toEqual([]);
  });

  it.each(SIMULATED_CARRIERS)(
    'never gets ready: the old one goes on after ten seconds, on %s',
    async (id) => {
      await using deploy = await Deploy.on(id);
      const old = await deploy.serve();
      deploy.proxy.switchTo(old.port);
      const lifeline = await askForStore(deploy);
      lifeline.on('error', () => {}).resume();
      await eventually(
        'the end of patience',
        () => (lifeline.destroyed || lifeline.closed ? true : undefined),
        30_000,
      );
      expect(await deploy.simulator.call({ script: [WAIT, HANG_UP] })).toMatchObject({ ok: true });
      const next = await deploy.serve();
      await old.server.closed;
      expect((await next.server.calls.list()).calls).toMatchObject([{ endReason: 'caller-hangup' }]);
    },
  );

  it('is one at a time', async () => {
    await using deploy = await Deploy.on('carrier-a');
    await deploy.serve();
    const lifeline = await askForStore(deploy);
    await expect(deploy.serve()).rejects.toMatchObject({
      code: 'CONFIG_CONFLICT',
      message: expect.stringContaining('another handover is under way'),
    });
    lifeline.on('error', () => {}).destroy();
  });

  it('starts as ever where nobody is before it, and with what a dead process left', async () => {
    await using deploy = await Deploy.on('carrier-a');
    const first = await deploy.fork();
    await first.kill();
    expect(await controlSocketsIn(deploy.dataDir)).toHaveLength(1);
    const next = await deploy.serve();
    expect(next.server.port).toBe(next.port);
    expect(errorsOf(next)).toEqual([]);
  });
});

describe('a call that is given away before it is on disk', { timeout: 120_000 }, () => {
  it('is written by the next process only behind the old one', async () => {
    await using deploy = await Deploy.on('carrier-a');
    const { old, calling, asksNow: isMoved } = await startCall(deploy);
    await greeted(old);
    using writes = heldLastWrite();
    const next = await deploy.serve();
    deploy.proxy.switchTo(next.port);
    await resumed(next);
    await eventually('the last write of the old process', () => writes.sinceHeld);
    // Soon: once the old process has ended, disk or not, there is nobody to wait for.
    await pause(300);
    expect(writes.sinceHeld).toBe(0);
    // The caller does not wait for the disk.
    isMoved.abort();
    await eventually(
      'the question',
      () => next.facts.find(({ type }) => type === 'turn.started'),
      PATIENCE_MS,
    );
    writes.release();
    expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
    expect(said(await ended(next))).toEqual([GREETING, QUESTION, ANSWER]);
    expect(writes.sinceHeld).toBeGreaterThan(0);
    await old.server.closed;
    await nothingIsKept(deploy.dataDir);
  });

  it.each(SIMULATED_CARRIERS)(
    'is whole at the next process where the old one is killed right behind its answer, on %s',
    async (id) => {
      await using deploy = await Deploy.on(id);
      const old = await deploy.fork();
      deploy.proxy.switchTo(old.port);
      const isMoved = new AbortController();
      const calling = deploy.simulator.call({ script: asksUpon(isMoved.signal) });
      const { callId } = await greeted(old);
      using answers = killOnClaim(old);
      const next = await deploy.serve();
      deploy.proxy.switchTo(next.port);
      const given = decodeState(await answers.given);
      const streams = (given?.media.came.length ?? 0) + 1;
      // The old one never wrote what it gave, or did: either way the file is of the call as it is now.
      const kept = await eventually('the state', async () => {
        const text = await readFile(join(deploy.dataDir, 'live', `${callId}.json`), 'utf8');
        const state = decodeState(text);
        return state?.awaitedSince === null && state.media.came.length === streams ? state : undefined;
      });
      const [then, now] = [given, kept].map((state) => state?.conversation?.state.turns.history);
      expect(then).toHaveLength(1);
      expect(now).toEqual(then);
      isMoved.abort();
      expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
      const record = await ended(next);
      expect(record).toMatchObject({ callId, endReason: 'caller-hangup', term: 2, error: null });
      // As if nothing had happened: who has noticed nothing is told nothing.
      expect(said(record)).toEqual([GREETING, QUESTION, ANSWER]);
      await nothingIsKept(deploy.dataDir);
      expect(errorsOf(next)).toEqual([]);
    },
  );

  it.each(SIMULATED_CARRIERS)(
    'goes back as it was given where the next process is killed right behind the answer, on %s',
    async (id) => {
      await using deploy = await Deploy.on(id);
      const { old, calling, asksNow: isBack } = await startCall(deploy);
      const { callId } = await greeted(old);
      const next = await deploy.fork();
      deploy.proxy.switchTo(next.port);
      using disk = slowDisk();
      const letGo = vi.spyOn(CallDirectory.prototype, 'letGo').mockImplementationOnce(function (
        this: CallDirectory,
        given,
      ) {
        letGo.mockRestore();
        next.child.kill('SIGKILL');
        deploy.proxy.switchTo(old.port);
        return this.letGo(given);
      });
      await saysAt(old, 'I am back', callId);
      expect(disk.isReadTooEarly).toBe(false);
      isBack.abort();
      expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
      const record = await ended(old, callId);
      expect(record).toMatchObject({ endReason: 'caller-hangup', error: null });
      expect(said(record)).toEqual([GREETING, expect.stringMatching(/^agent: I am back/), QUESTION, ANSWER]);
      expect(old.started).toEqual([callId]);
      await nothingIsKept(deploy.dataDir);
    },
  );
});

describe('the process that hands over', { timeout: 120_000 }, () => {
  it.each(SIMULATED_CARRIERS)('dies with a call that is still its, on %s', async (id) => {
    await using deploy = await Deploy.on(id, {});
    const firstMessage = Array.from({ length: 14 }, (_, index) => `This is sentence ${index + 1}.`).join(' ');
    const old = await deploy.fork({ firstMessage }, { resume: { holdSeconds: 5 } });
    deploy.proxy.switchTo(old.port);
    const isBack = new AbortController();
    const calling = deploy.simulator.call({ script: asksUpon(isBack.signal) });
    await eventually('some words', () =>
      old.facts.find((fact) => fact.type === 'transcript.segment' && fact.entry.text.includes('sentence 5.')),
    );
    const next = await deploy.serve({ firstMessage });
    deploy.proxy.switchTo(next.port);
    // An agent that speaks is not moved at once.
    await old.kill();
    await saysAt(next, 'sentence 14.');
    isBack.abort();
    expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
    const record = await ended(next);
    expect(record).toMatchObject({ endReason: 'caller-hangup', term: 2, error: null });
    expect(said(record)).toEqual([
      expect.stringMatching(/^agent: This is sentence 1\./),
      expect.stringMatching(/^agent: I am back/),
      expect.stringMatching(/^agent: This is .* 14\.$/),
      QUESTION,
      ANSWER,
    ]);
    expect(next.started).toEqual([]);
    expect(errorsOf(next)).toEqual([]);
  });

  it('dies before the next one listens, with what was said since it gave its store away', async () => {
    await using deploy = await Deploy.on('carrier-a');
    const old = await deploy.fork({}, { resume: { holdSeconds: 5 } });
    deploy.proxy.switchTo(old.port);
    const [isLent, isBack] = [new AbortController(), new AbortController()];
    const calling = deploy.simulator.call({
      script: [
        ...asksUpon(isLent.signal).slice(0, -1),
        { type: 'wait-until', signal: isBack.signal, timeoutMs: 50_000 },
        HANG_UP,
      ],
    });
    const { callId } = await greeted(old);
    (await askForStore(deploy)).on('error', () => {});
    isLent.abort();
    await saysAt(old, 'What time is it?');
    // It tells of that, and writes it down a moment later.
    await eventually('the state', async () => {
      const text = await readFile(join(deploy.dataDir, 'live', `${callId}.json`), 'utf8');
      const facts = decodeState(text)?.facts ?? [];
      return facts.find((fact) => fact.type === 'turn.completed' && fact.turn.index === 1);
    });
    await old.kill();
    const next = await deploy.serve();
    deploy.proxy.switchTo(next.port);
    await saysAt(next, 'I am back');
    isBack.abort();
    expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
    const record = await ended(next);
    expect(said(record)).toEqual([GREETING, QUESTION, ANSWER, expect.stringMatching(/^agent: I am back/)]);
    expect(record.turns.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(record.incidents.map(({ code }) => code)).toEqual(['process-replaced']);
  });

  it.each(SIMULATED_CARRIERS)('keeps a call that cannot be moved while REST is down, on %s', async (id) => {
    await using deploy = await Deploy.on(id);
    const { old, calling, asksNow: isAsked } = await startCall(deploy);
    await greeted(old);
    deploy.simulator.disturb({ restFailures: [{ purpose: 'start-stream', status: 503, times: 1_000 }] });
    const next = await deploy.serve();
    deploy.proxy.switchTo(next.port);
    await eventually(
      'a try',
      () => old.logger.sentences('warn').find((line) => line.includes('the call was not moved')),
      30_000,
    );
    isAsked.abort();
    // It goes on where its stream is.
    await eventually(
      'the answer',
      () => old.facts.find((fact) => fact.type === 'turn.completed' && fact.turn.index === 1),
      30_000,
    );
    expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
    const record = await ended(old);
    expect(record).toMatchObject({ endReason: 'caller-hangup', term: 1, error: null });
    expect(said(record)).toEqual([GREETING, QUESTION, ANSWER]);
    await old.server.closed;
    expect(await next.server.calls.get(record.callId)).toMatchObject({ endReason: 'caller-hangup' });
    expect([...errorsOf(old), ...errorsOf(next)]).toEqual([]);
  });

  it.each(SIMULATED_CARRIERS)('is left by a caller while their stream is replaced, on %s', async (id) => {
    await using deploy = await Deploy.on(id);
    const old = await deploy.serve();
    deploy.proxy.switchTo(old.port);
    const isMoving = new AbortController();
    const calling = deploy.simulator.call({
      script: [WAIT, { type: 'wait-until', signal: isMoving.signal, timeoutMs: 30_000 }, HANG_UP],
    });
    const { callId } = await greeted(old);
    deploy.simulator.disturb({ streamDelayMs: 2500 });
    const next = await deploy.serve();
    deploy.proxy.switchTo(next.port);
    const { requests } = deploy.simulator;
    const asked = requests.length;
    await eventually('the order', () =>
      requests.slice(asked).find(({ purpose }) => purpose === 'start-stream'),
    );
    isMoving.abort();
    await calling;
    await old.server.closed;
    const record = await eventually('the end', async () => {
      const found = await next.server.calls.get(callId);
      return found?.status === 'completed' ? found : undefined;
    });
    expect(record).toMatchObject({ endReason: 'caller-hangup', outcome: 'answered', error: null });
    // The store has it before the application is told.
    const told = () => [...old.ended, ...next.ended].map((each) => each.callId);
    await eventually('the callback', () => told()[0]);
    expect(told()).toEqual([callId]);
    expect([...errorsOf(old), ...errorsOf(next)]).toEqual([]);
  });

  it.each(SIMULATED_CARRIERS)('is commanded by the next one, which shows its calls, on %s', async (id) => {
    await using deploy = await Deploy.on(id);
    const old = await deploy.serve();
    deploy.proxy.switchTo(old.port);
    const calling = deploy.simulator.call({ script: [WAIT, { type: 'pause', durationMs: 40_000 }] });
    await greeted(old);
    deploy.simulator.disturb({ restFailures: [{ purpose: 'start-stream', status: 503, times: 1_000 }] });
    const next = await deploy.serve();
    const shown = await eventually('the call', async () => (await next.server.calls.active())[0]);
    expect(shown).toMatchObject({ status: 'active' });
    for (const { port } of [old, next]) {
      const answer = await fetch(`http://127.0.0.1:${port}/api/dashboard/active`);
      expect(await answer.json()).toMatchObject({ calls: [{ callId: shown.callId }] });
    }
    const { status } = await fetch(
      `http://127.0.0.1:${next.port}/api/dashboard/calls/${shown.callId}/hangup`,
      { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' },
    );
    expect(status).toBe(202);
    await calling;
    expect(await ended(old)).toMatchObject({ endReason: 'operator-hangup', term: 1 });
    await old.server.closed;
  });
  it.each(SIMULATED_CARRIERS)(
    'gives away a call that it has dialled, and that the next one answers, on %s',
    async (id) => {
      await using deploy = await Deploy.on(id, {
        callees: {
          '*': {
            type: 'human',
            ringMs: 9000,
            script: [WAIT, { type: 'say', text: 'What time is it?' }, WAIT, HANG_UP],
          },
        },
      });
      const old = await deploy.serve();
      deploy.proxy.switchTo(old.port);
      await old.phone.call({
        to: '+15550123',
        firstMessage: 'Good day, {name}.',
        variables: { name: 'Ada' },
      });
      const next = await deploy.serve();
      deploy.proxy.switchTo(next.port);
      await old.server.closed;
      const record = await ended(next);
      expect(record).toMatchObject({
        direction: 'outbound',
        endReason: 'caller-hangup',
        term: 2,
        error: null,
      });
      expect(said(record)).toEqual(['agent: Good day, Ada.', QUESTION, ANSWER]);
      expect(next.started).toHaveLength(1);
    },
  );

  it.each(SIMULATED_CARRIERS)(
    'gives away a caller who is being handed over, and comes back to the next one, on %s',
    async (id) => {
      await using deploy = await Deploy.on(id);
      const old = await deploy.serve();
      deploy.proxy.switchTo(old.port);
      const isBack = new AbortController();
      const calling = deploy.simulator.call({
        script: asksUpon(isBack.signal),
        transferTo: { type: 'no-answer', ringMs: 8000 },
      });
      const { callId } = await greeted(old);
      await old.phone.transfer(callId, '+15550124');
      const next = await deploy.serve();
      deploy.proxy.switchTo(next.port);
      await old.server.closed;
      const isTold = async () => (await next.server.calls.get(callId))?.transfer?.result ?? undefined;
      expect(await eventually('the result', isTold, PATIENCE_MS)).toBe('no-answer');
      // Who asks while the agent speaks of that cuts it off.
      await eventually(
        'the silence behind it',
        () => {
          const isSaid = (fact: CallEvent) => fact.type === 'turn.completed' && fact.turn.index > 0;
          const changed = next.facts.findLast(({ type }) => type === 'phase.changed');
          const isQuiet = changed?.type !== 'phase.changed' || changed.phase === 'listening';
          return [...old.facts, ...next.facts].some(isSaid) && isQuiet ? true : undefined;
        },
        PATIENCE_MS,
      );
      isBack.abort();
      expect(await calling).toMatchObject({ ok: true, protocolErrors: [] });
      const record = await ended(next);
      expect(record).toMatchObject({
        endReason: 'caller-hangup',
        term: 2,
        error: null,
        transfer: { result: 'no-answer' },
      });
      expect(said(record).slice(-2)).toEqual([QUESTION, ANSWER]);
      await nothingIsKept(deploy.dataDir);
    },
  );
});
