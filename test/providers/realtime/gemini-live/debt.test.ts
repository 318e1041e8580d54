import { describe, expect, it } from 'vitest';
import { audio, complete, generated, heard, openReady, samplesIn, sound, words } from './scene.js';

type Scene = ReturnType<typeof openReady>;

/** Milliseconds of the caller, in real time. */
function listens({ session, clock }: Scene, ms: number, level = 0): void {
  for (let heardMs = 0; heardMs < ms; heardMs += 20) {
    clock.advance(20);
    session.pushAudio(sound(20, level));
  }
}

const LOUD = 8000;

/** The same on the connection that has taken the place of one. */
function reopens({ vendor, says }: Scene): void {
  vendor.socket.opens();
  says({ setupComplete: {} });
}

describe('a Live API that does not answer its pings for long', () => {
  it('is left its connection while it thinks for three seconds', () => {
    const scene = openReady();
    listens(scene, 1500, LOUD);
    listens(scene, 3000);
    for (const message of [heard('When do you close?', true), audio, words('At six.', true)])
      scene.says(message);
    for (const message of [generated, complete]) scene.says(message);
    listens(scene, 15_000);
    expect(scene.told).not.toContain('lost');
    expect(scene.vendor.socket.pings).toBeGreaterThan(0);
  });

  it('is left its connection through doors that slam', () => {
    const scene = openReady();
    for (let slams = 0; slams < 8; slams += 1) {
      listens(scene, 300, LOUD);
      listens(scene, 4000);
    }
    expect(scene.told).toEqual([]);
    expect(scene.vendor.socket.pings).toBe(0);
  });

  it('loses its connection once, however often there is a long noise in which no connection sees a turn', () => {
    const scene = openReady();
    for (let noises = 0; noises < 8; noises += 1) {
      listens(scene, 1000, LOUD);
      listens(scene, 3120);
      if (noises === 0) reopens(scene);
      listens(scene, 2000);
    }
    expect(scene.told).toEqual(['lost', 'reconnected 2640']);
  });

  it('is left its connection when words of the caller come to nothing', () => {
    const scene = openReady();
    scene.session.update({ interruptible: false });
    scene.session.say('Hello.');
    listens(scene, 20);
    for (const message of [audio, generated, heard('Hm')]) scene.says(message);
    listens(scene, 2400);
    scene.says({ usageMetadata: { promptTokenCount: 1 } });
    listens(scene, 10_000);
    expect(scene.told).not.toContain('lost');
  });
});

describe('a Live API that shows no sign of life', () => {
  const lostAfterMs = (scene: Scene) => {
    const from = scene.clock.now();
    while (!scene.told.includes('lost') && scene.clock.now() - from < 70_000) listens(scene, 20);
    return scene.clock.now() - from;
  };

  it('is found from what the caller said, who hears of it on the next connection', () => {
    const scene = openReady();
    listens(scene, 1000, LOUD);
    expect(lostAfterMs(scene)).toBeLessThanOrEqual(3120);
    expect(scene.vendor.sockets[0]?.terminated).toBe(true);
    reopens(scene);
    expect(samplesIn(scene.sent()).filter((sample) => sample === LOUD)).toHaveLength(50);
    expect(scene.told).toEqual(['lost', 'reconnected 2600']);
  });

  it.each([2000, 6000])('is found while the caller says hello every %i ms', (everyMs) => {
    const scene = openReady();
    for (let hellos = 0; hellos < 3; hellos += 1) {
      listens(scene, 500, LOUD);
      listens(scene, everyMs);
    }
    expect(scene.told).toContain('lost');
  });

  it('is found while it owes what it was asked for, or the rest of an answer', () => {
    const asked = openReady();
    asked.session.say('Hello.');
    expect(lostAfterMs(asked)).toBe(2600);
    const answering = openReady();
    answering.session.say('Hello.');
    answering.says(audio);
    expect(lostAfterMs(answering)).toBe(2600);
  });

  it('is found behind a pong, and later for it', () => {
    const scene = openReady();
    scene.session.say('Hello.');
    listens(scene, 1000);
    scene.vendor.socket.pongs();
    expect(lostAfterMs(scene)).toBe(2600);
  });

  it('is not waited for where there was nothing, or the line has a gap', () => {
    const idle = openReady();
    listens(idle, 20_000);
    const gap = openReady();
    gap.session.say('Hello.');
    listens(gap, 1000);
    gap.clock.advance(20_000);
    listens(gap, 1000);
    expect([idle.told, gap.told]).toEqual([[], []]);
  });

  it('is asked for one every 700 ms while it owes something', () => {
    const scene = openReady();
    scene.session.say('Hello.');
    listens(scene, 2000);
    expect(scene.vendor.socket.pings).toBe(3);
    scene.says(audio);
    for (const message of [generated, complete]) scene.says(message);
    listens(scene, 5000);
    expect(scene.vendor.socket.pings).toBe(3);
  });
});
