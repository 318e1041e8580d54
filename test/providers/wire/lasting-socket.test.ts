import { afterEach, describe, expect, it, vi } from 'vitest';
import { LastingSocket } from '../../../src/providers/wire/lasting-socket.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RecordedLogger } from '../../support/recorded-logger.js';
import { FakeVendor } from '../fake-vendor-socket.js';

function connect({ persists = () => false }: { persists?: () => boolean } = {}) {
  const clock = new FakeClock();
  const vendor = new FakeVendor();
  const logger = new RecordedLogger();
  const told: string[] = [];
  const troubles: string[] = [];
  const socket = new LastingSocket({
    target: {
      url: new URL('ws://vendor'),
      headers: { authorization: 'secret-key' },
      names: { vendor: 'Vendor', keyVariables: ['VENDOR_API_KEY'] },
    },
    clock,
    logger,
    open: vendor.open,
    persists,
    events: {
      connected: (gapMs) => void told.push(`connected ${gapMs}`),
      text: (text) => void told.push(text),
      pong: () => void told.push('pong'),
      lost: (agoMs) => void told.push(agoMs === 0 ? 'lost' : `lost ${agoMs} ms ago`),
      troubled: ({ message }, { agoMs }) =>
        void troubles.push(agoMs === 0 ? message : `${message} ${agoMs} ms ago`),
      failed: (error) => void told.push(`failed: ${error.message}`),
    },
  });
  return { clock, vendor, logger, told, troubles, socket };
}

afterEach(() => void vi.restoreAllMocks());

describe('LastingSocket', () => {
  it('connects, hears, and tells the length of a gap', () => {
    const { clock, vendor, told, logger } = connect();
    vendor.socket.opens();
    vendor.socket.says('hello');
    clock.advance(10_000);
    vendor.socket.ends();
    clock.advance(0);
    clock.advance(700);
    vendor.socket.opens();
    expect(told).toEqual(['connected null', 'hello', 'lost', 'connected 700']);
    expect(vendor.sockets).toHaveLength(2);
    expect(logger.sentences('warn')).toEqual(['the connection to a provider was lost']);
    expect(logger.text).not.toContain('secret-key');
  });

  it('counts a connection that died before it could have been of use to the gap before it', () => {
    const { clock, vendor, told } = connect();
    vendor.socket.opens();
    vendor.socket.says('hello');
    clock.advance(10_000);
    for (let loss = 0; loss < 2; loss += 1) {
      vendor.socket.ends();
      clock.advance(700);
      vendor.socket.opens();
      clock.advance(100);
    }
    vendor.socket.says('again');
    vendor.socket.ends();
    clock.advance(700);
    vendor.socket.opens();
    const gaps = told.filter((each) => each.startsWith('connected'));
    expect(gaps).toEqual(['connected null', 'connected 700', 'connected 1500', 'connected 700']);
  });

  it('tells how long no connection was of use, however many there were', () => {
    const { clock, vendor, socket } = connect();
    vendor.socket.opens();
    expect(socket.serves()).toBeNull();
    clock.advance(10_000);
    vendor.socket.ends({ lastedMs: 3000 });
    clock.advance(0);
    clock.advance(100);
    vendor.socket.opens();
    clock.advance(400);
    vendor.socket.ends();
    clock.advance(200);
    vendor.socket.opens();
    clock.advance(50);
    expect(socket.serves()).toBe(3750);
    expect(socket.serves()).toBeNull();
  });

  it('says how late the first connection is, and every try that failed', () => {
    const { clock, vendor, troubles, socket } = connect();
    clock.advance(50);
    vendor.socket.ends();
    clock.advance(400);
    vendor.socket.ends({ reason: 'did not answer in time' });
    clock.advance(900);
    vendor.socket.opens();
    expect(socket.lateMs).toBe(1300);
    clock.advance(5000);
    vendor.socket.ends();
    clock.advance(10);
    vendor.socket.opens();
    expect(socket.lateMs).toBeNull();
    expect(troubles).toEqual(['Vendor broke.', 'Vendor did not answer in time.', 'Vendor broke.']);
  });

  it('tries three times, then fails once', () => {
    const { clock, vendor, told } = connect();
    for (let tries = 0; tries < 3; tries += 1) {
      vendor.socket.ends({ status: 503, reason: 'cannot answer now (HTTP 503)' });
      clock.advance(1000);
    }
    clock.advance(60_000);
    expect(vendor.sockets).toHaveLength(3);
    expect(told).toEqual(['failed: Vendor cannot answer now (HTTP 503).']);
    expect(clock.pending).toBe(0);
  });

  describe('that persists', () => {
    /** Everything that is tried up to then is refused. Returns when each try was. */
    function refused({ clock, vendor }: ReturnType<typeof connect>, untilMs: number): number[] {
      const from = clock.now();
      const tries: number[] = [];
      const seen = new Set(vendor.sockets.slice(0, -1));
      while (clock.now() - from < untilMs) {
        const { socket } = vendor;
        if (!seen.has(socket) && !socket.closed) {
          seen.add(socket);
          tries.push(clock.now() - from);
          socket.ends({ status: 503, reason: 'cannot answer now (HTTP 503)' });
        }
        clock.advance(1);
      }
      return tries;
    }

    it('connects to a vendor that is back within four seconds, at first and later', () => {
      const scene = connect({ persists: () => true });
      const { clock, vendor, told } = scene;
      expect(refused(scene, 3000).length).toBeGreaterThan(5);
      vendor.socket.opens();
      clock.advance(10_000);
      vendor.socket.ends();
      clock.advance(0);
      expect(refused(scene, 3000).length).toBeGreaterThan(5);
      vendor.socket.opens();
      expect(told.map((line) => line.split(' ')[0])).toEqual(['connected', 'lost', 'connected']);
    });

    it('is asked at every try whether it is to persist', async () => {
      // Without chance in its pauses, so that no try begins in the last moment.
      vi.spyOn(Math, 'random').mockReturnValue(0.5);
      let persists = true;
      const { clock, vendor, told } = connect({ persists: () => persists });
      await vendor.goDown(clock, 1500);
      const tries = vendor.sockets.length;
      expect([tries > 3, told]).toEqual([true, []]);
      persists = false;
      await vendor.goDown(clock, 3000);
      expect([vendor.sockets.length, told]).toEqual([tries + 1, ['failed: Vendor broke.']]);
    });

    it('gives one up that is not, and what cannot work at once', () => {
      const scene = connect({ persists: () => true });
      const tries = refused(scene, 10_000);
      expect(scene.told).toEqual(['failed: Vendor cannot answer now (HTTP 503).']);
      const pauses = tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
      expect(Math.max(...pauses)).toBeLessThan(1000);
      expect(tries.at(-1)).toBeGreaterThan(3000);
      expect(tries.at(-1)).toBeLessThan(4000);
      expect(scene.clock.pending).toBe(0);
      const { vendor, told } = connect({ persists: () => true });
      vendor.socket.ends({ kind: 'fatal', status: 401, reason: 'refused the key (HTTP 401)' });
      expect(told).toEqual(['failed: Vendor refused the key (HTTP 401).']);
    });
  });

  it('gives a lost connection up after four seconds, whatever its handshakes hang at', () => {
    const { clock, vendor, told } = connect();
    vendor.socket.opens();
    clock.advance(5000);
    vendor.socket.ends();
    const hanging = new Set([vendor.socket]);
    for (let ms = 0; ms < 4000; ms += 1) {
      clock.advance(1);
      const { socket } = vendor;
      if (hanging.has(socket)) continue;
      hanging.add(socket);
      const { handshakeTimeoutMs = 0 } = socket.options;
      clock.after(handshakeTimeoutMs, () => socket.ends({ reason: 'did not answer in time' }));
    }
    expect(told).toEqual(['connected null', 'lost']);
    clock.advance(2);
    expect(told).toEqual(['connected null', 'lost', 'failed: Vendor did not answer in time.']);
    expect(hanging.size).toBe(3);
    expect(clock.pending).toBe(0);
  });

  it('gives up at once on what cannot work, also in the middle', () => {
    const { clock, vendor, told } = connect();
    vendor.socket.opens();
    clock.advance(5000);
    vendor.socket.ends({ kind: 'fatal', reason: 'closed the connection (1008)' });
    clock.advance(60_000);
    expect(vendor.sockets).toHaveLength(1);
    expect(told).toEqual(['connected null', 'failed: Vendor closed the connection (1008).']);
  });

  it('tries once more when it is throttled in the middle', () => {
    const { clock, vendor, told } = connect();
    vendor.socket.opens();
    clock.advance(5000);
    vendor.socket.ends();
    clock.advance(0);
    for (let tries = 0; tries < 2; tries += 1) {
      vendor.socket.ends({ kind: 'throttled' });
      clock.advance(2000);
    }
    expect(vendor.sockets).toHaveLength(3);
    expect(told.at(-1)).toBe('failed: Vendor broke.');
  });

  it('gives up on a vendor that drops every connection', () => {
    const { clock, vendor, told } = connect();
    for (let round = 0; round < 10; round += 1) {
      if (told.at(-1)?.startsWith('failed') === true) break;
      vendor.socket.opens();
      clock.advance(3000);
      vendor.socket.ends();
      clock.advance(0);
    }
    expect(vendor.sockets).toHaveLength(5);
    expect(told.filter((line) => line.startsWith('failed'))).toHaveLength(1);
  });

  /** Drops connections that last `lastsMs` and are heard from, and takes `mendsMs` for another one. Returns how many there were. */
  function dropped({ lastsMs, mendsMs, rounds }: { lastsMs: number; mendsMs: number; rounds: number }) {
    const { clock, vendor, told } = connect();
    for (let round = 0; round < rounds && told.at(-1)?.startsWith('failed') !== true; round += 1) {
      vendor.socket.opens();
      vendor.socket.says('words');
      clock.advance(lastsMs);
      vendor.socket.ends();
      clock.advance(0);
      clock.advance(mendsMs);
    }
    return {
      sockets: vendor.sockets.length,
      failed: told.filter((line) => line.startsWith('failed')).length,
    };
  }

  it('goes on with one whose losses are mended at once, however many there are', () => {
    expect(dropped({ lastsMs: 5000, mendsMs: 20, rounds: 200 })).toEqual({ sockets: 201, failed: 0 });
    expect(dropped({ lastsMs: 2800, mendsMs: 5, rounds: 200 })).toEqual({ sockets: 201, failed: 0 });
  });

  it('gives up on one that is slow to mend them, or has no time to be of use', () => {
    expect(dropped({ lastsMs: 3000, mendsMs: 1500, rounds: 200 })).toEqual({ sockets: 5, failed: 1 });
    expect(dropped({ lastsMs: 1000, mendsMs: 5, rounds: 200 })).toEqual({ sockets: 12, failed: 1 });
  });

  it('has four seconds for a connection in all, handshakes that time out included', () => {
    const { clock, vendor, told } = connect();
    for (let tries = 0; tries < 10 && told.length === 0; tries += 1) {
      const { socket } = vendor;
      clock.advance(socket.options.handshakeTimeoutMs ?? 0);
      socket.ends({ reason: 'did not answer in time' });
      while (vendor.socket === socket && clock.pending > 0) clock.advance(1);
    }
    expect(told).toEqual(['failed: Vendor did not answer in time.']);
    expect(vendor.sockets).toHaveLength(2);
    // Steps of a millisecond.
    expect(clock.now()).toBeLessThan(4001);
  });

  it('has what is left of them after a connection that was silent for a while', () => {
    const { clock, vendor, told, troubles } = connect();
    vendor.socket.opens();
    clock.advance(10_000);
    vendor.socket.ends({ reason: 'has gone silent', lastedMs: 3000 });
    expect(troubles).toEqual(['Vendor has gone silent. 3000 ms ago']);
    clock.advance(0);
    expect(vendor.socket.options.handshakeTimeoutMs).toBe(1000);
    clock.advance(200);
    vendor.socket.opens();
    expect(told).toEqual(['connected null', 'lost 3000 ms ago', 'connected 3200']);
  });

  it('is made again however late its silence was found', () => {
    const { clock, vendor, told } = connect();
    vendor.socket.opens();
    clock.advance(100_000);
    vendor.socket.ends({ reason: 'has gone silent', lastedMs: 60_000 });
    clock.advance(0);
    expect(vendor.socket.options.handshakeTimeoutMs).toBe(1000);
    vendor.socket.opens();
    expect(told).toEqual(['connected null', 'lost 60000 ms ago', 'connected 60000']);
  });

  it('waits for no word of goodbye from a connection that is known to be dead, and tells since when', () => {
    const { clock, vendor, told, socket } = connect();
    vendor.socket.opens();
    clock.advance(10_000);
    socket.renew('says nothing', { lastedMs: 2600 });
    expect(vendor.socket.terminated).toBe(true);
    clock.advance(0);
    clock.advance(100);
    vendor.socket.opens();
    socket.renew('wants a new one');
    expect([vendor.socket.terminated, vendor.socket.closed]).toEqual([false, true]);
    expect(told).toEqual(['connected null', 'lost 2600 ms ago', 'connected 2700', 'lost']);
  });

  it('pings over the connection that there is, and tells what is answered', () => {
    const { vendor, told, socket } = connect();
    socket.ping();
    expect(vendor.socket.pings).toBe(0);
    vendor.socket.opens();
    socket.ping();
    vendor.socket.pongs();
    expect([vendor.socket.pings, told]).toEqual([1, ['connected null', 'pong']]);
  });

  it('renews a connection that does not answer what was asked, and none that does', () => {
    const { clock, vendor, told, socket } = connect();
    vendor.socket.opens();
    socket.expect(1500, 'does not answer');
    clock.advance(1400);
    vendor.socket.says('here');
    clock.advance(10_000);
    expect(vendor.sockets).toHaveLength(1);
    socket.expect(1500, 'does not answer');
    clock.advance(1000);
    // It counts from the first time that it is asked.
    socket.expect(1500, 'does not answer');
    clock.advance(500);
    expect(vendor.sockets.map(({ closed }) => closed)).toEqual([true, false]);
    expect(told).toEqual(['connected null', 'here', 'lost']);
    vendor.socket.opens();
    socket.expect(1500, 'does not answer');
    socket.close();
    expect(clock.pending).toBe(0);
  });

  it('warns nobody of a change that is planned, but of a try that fails in it', () => {
    const { clock, vendor, told, troubles, logger, socket } = connect();
    vendor.socket.opens();
    clock.advance(10_000);
    socket.renew('wants a new one soon', { isPlanned: true });
    clock.advance(0);
    expect([told, troubles, logger.sentences('warn')]).toEqual([['connected null', 'lost'], [], []]);
    vendor.socket.ends();
    clock.advance(500);
    vendor.socket.opens();
    expect([told.at(-1), troubles]).toEqual(['connected 500', ['Vendor broke.']]);
    clock.advance(10_000);
    socket.renew('does not answer');
    expect(logger.sentences('warn')).toEqual(['the connection to a provider was lost']);
  });

  it('says nothing more after close, and sends the last message first', () => {
    const { clock, vendor, told, socket } = connect();
    vendor.socket.opens();
    socket.close('bye');
    socket.close('bye');
    vendor.socket.says('late');
    vendor.socket.ends();
    clock.advance(10_000);
    expect(vendor.socket.sent).toEqual(['bye']);
    expect(told).toEqual(['connected null']);
    expect(clock.pending).toBe(0);
  });

  it('opens no socket after a close in the pause between two tries', () => {
    const { clock, vendor, socket } = connect();
    vendor.socket.ends();
    socket.close();
    clock.advance(10_000);
    expect(vendor.sockets).toHaveLength(1);
  });
});
