import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RecordingError } from '../../src/base/errors.js';
import type { LocalRecording } from '../../src/contract/call-record.js';
import { answerRange } from '../../src/dashboard/call-audio.js';
import { OPENAPI } from '../../src/dashboard/openapi.js';
import { ended, stamp, started } from '../support/call-facts.js';
import { type DashboardServer, errorCodeOf, send, startDashboard } from '../support/dashboard-server.js';

const BYTES = Uint8Array.from({ length: 1000 }, (_, index) => index % 251);
const DONE: LocalRecording = {
  status: 'completed',
  file: 'there.wav',
  startedAt: 1,
  durationMs: 50,
  bytes: 1000,
  pauses: [],
  trouble: null,
};

let server: DashboardServer;
/** Of this test alone: a file may be closed behind the end of another one. */
let state: { opened: string[]; files: (string | null)[]; closed: number };

/** A call whose record says this of its recording. */
function call(callId: string, recording: LocalRecording | null) {
  const facts = recording === null ? [] : [{ type: 'local-recording.updated', recording } as const];
  return stamp([started({ carrierCallId: `CA-${callId}` }), ...facts, ended()], { callId });
}

beforeEach(async () => {
  const now = { opened: [] as string[], files: [] as (string | null)[], closed: 0 };
  state = now;
  server = await startDashboard({
    recordings: {
      async read(callId, file) {
        now.files.push(file);
        if (callId === 'gone')
          throw new RecordingError('RECORDING_ABSENT', 'There is no recording of this call.');
        now.opened.push(callId);
        return {
          size: BYTES.length,
          async *read(start, end) {
            for (let at = start; at < end; at += 300) {
              if (callId === 'broken' && at > 300)
                throw new RecordingError('RECORDING_DAMAGED', 'The recording is damaged here.');
              if (callId === 'unread') throw Object.assign(new Error('/a/path'), { code: 'EIO' });
              yield BYTES.subarray(at, Math.min(end, at + 300));
            }
          },
          async close() {
            now.closed += 1;
          },
        };
      },
    },
  });
  server.publish(
    ...call('there', DONE),
    ...call('broken', DONE),
    ...call('unread', DONE),
    ...call('gone', DONE),
    ...call('none', null),
    ...call('up', { ...DONE, status: 'recording', file: null }),
    ...call('pending', { ...DONE, status: 'pending', file: null }),
    ...call('failed', { ...DONE, status: 'failed', file: null, trouble: 'disk-full' }),
  );
  await server.bus.settled();
});
afterEach(() => server.close());

interface Fetched {
  status: number;
  headers: Headers;
  bytes: Uint8Array;
}

async function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Fetched> {
  const response = await fetch(`${server.url}/api/dashboard/calls/${path}/audio`, { headers, method });
  return {
    status: response.status,
    headers: response.headers,
    bytes: new Uint8Array(await response.arrayBuffer()),
  };
}

describe('the recording of a call', () => {
  it('is served whole, by either ID, and kept by nobody on the way', async () => {
    for (const id of ['there', 'CA-there']) {
      const { status, headers, bytes } = await get(id);
      expect(status).toBe(200);
      expect(bytes).toEqual(BYTES);
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': 'audio/wav',
        'content-length': '1000',
        'accept-ranges': 'bytes',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
        'content-disposition': 'inline; filename="there.wav"',
      });
    }
    expect(state.opened).toEqual(['there', 'there']);
    // The file that the record names, and no other.
    expect(state.files).toEqual(['there.wav', 'there.wav']);
    await expect.poll(() => state.closed).toBe(2);
  });

  it.each([
    ['bytes=0-0', 0, 1],
    ['bytes=0-', 0, 1000],
    ['bytes=999-', 999, 1000],
    ['bytes=250-749', 250, 750],
    ['bytes=900-5000', 900, 1000],
    ['bytes=-100', 900, 1000],
    ['bytes=-5000', 0, 1000],
    ['Bytes = 10 - 19', 10, 20],
  ])('is served in parts: %s', async (range, start, end) => {
    const { status, headers, bytes } = await get('there', { range });
    expect(status).toBe(206);
    expect(headers.get('content-range')).toBe(`bytes ${start}-${end - 1}/1000`);
    expect(headers.get('content-length')).toBe(String(end - start));
    expect(bytes).toEqual(BYTES.subarray(start, end));
  });

  it.each(['bytes=1000-', 'bytes=5000-6000', 'bytes=-0'])('has no part %s', async (range) => {
    const { status, headers, bytes } = await get('there', { range });
    expect(status).toBe(416);
    expect(headers.get('content-range')).toBe('bytes */1000');
    expect(JSON.parse(Buffer.from(bytes).toString()).error.code).toBe('REQUEST_INVALID');
    await expect.poll(() => state.closed).toBe(1);
  });

  it.each(['bytes=5-2', 'bytes=-', 'bytes=0-1,5-9', 'items=0-5', 'bytes=a-b', 'x'])(
    'is served whole where %j is no part that can be read',
    async (range) => {
      const { status, bytes } = await get('there', { range });
      expect(status).toBe(200);
      expect(bytes).toHaveLength(1000);
    },
  );

  it('is served whole where the part depends on a version', async () => {
    const { status } = await get('there', { range: 'bytes=0-9', 'if-range': '"an-etag"' });
    expect(status).toBe(200);
  });

  it.each(['', 'bytes=0-9', 'bytes=5000-'])(
    'is described whole and without a body to HEAD: %j',
    async (range) => {
      const { status, headers, bytes } = await get('there', range === '' ? {} : { range }, 'HEAD');
      expect(status).toBe(200);
      expect(headers.get('content-length')).toBe('1000');
      expect(bytes).toHaveLength(0);
      await expect.poll(() => state.closed).toBe(1);
    },
  );

  it.each([
    ['unknown', 404, 'NOT_FOUND'],
    ['none', 404, 'RECORDING_ABSENT'],
    ['gone', 404, 'RECORDING_ABSENT'],
    ['failed', 404, 'RECORDING_ABSENT'],
    ['up', 409, 'RECORDING_NOT_READY'],
    ['pending', 409, 'RECORDING_NOT_READY'],
    ['..%2fsecret', 404, 'NOT_FOUND'],
  ])('%s: is refused with %d %s', async (id, status, code) => {
    const answer = await send(`${server.url}/api/dashboard/calls/${id}/audio`);
    expect(answer.status).toBe(status);
    expect(errorCodeOf(answer)).toBe(code);
    expect(state.opened).toEqual([]);
  });

  it('is cut off, and not ended, where it cannot be read to its end', async () => {
    await expect(get('broken')).rejects.toThrow();
    await expect.poll(() => state.closed).toBe(1);
    expect(server.logger.lines.filter(({ level }) => level !== 'info')).toMatchObject([
      {
        level: 'error',
        sentence: 'dashboard answer failed',
        fields: { callId: 'broken', code: 'RECORDING_DAMAGED' },
      },
    ]);
  });

  it('is refused, and not cut off, where a part cannot be read from its beginning', async () => {
    const { status, headers, bytes } = await get('broken', { range: 'bytes=600-' });
    expect(status).toBe(503);
    expect(headers.get('content-range')).toBeNull();
    expect(JSON.parse(Buffer.from(bytes).toString()).error).toEqual({
      code: 'RECORDING_DAMAGED',
      message: 'The recording is damaged here.',
    });
    await expect.poll(() => state.closed).toBe(1);
    const unread = await get('unread');
    expect(unread.status).toBe(500);
    expect(Buffer.from(unread.bytes).toString()).not.toContain('/a/path');
    expect(server.logger.lines.filter(({ level }) => level !== 'info')).toMatchObject([
      { level: 'warn', fields: { callId: 'broken', code: 'RECORDING_DAMAGED' } },
      { level: 'error', fields: { callId: 'unread', code: 'EIO' } },
    ]);
  });

  it('is closed where the reader leaves in the middle', async () => {
    const asked = request(`${server.url}/api/dashboard/calls/there/audio`);
    asked.on('error', () => {});
    asked.on('response', (response) => response.destroy());
    asked.end();
    await expect.poll(() => state.closed).toBe(1);
  });

  it('is behind the token', async () => {
    const guarded = await startDashboard({ token: 'a-token-of-sixteen', recordings: null });
    const path = `${guarded.url}/api/dashboard/calls/there/audio`;
    expect((await send(path)).status).toBe(401);
    expect((await send(path, { headers: { authorization: 'Bearer a-token-of-sixteen' } })).status).toBe(404);
    await guarded.close();
  });

  it('is at the server that took the call, not at one that only shows it', async () => {
    const standalone = await startDashboard({ recordings: null });
    const failed = { ...DONE, status: 'failed', file: null, trouble: 'unavailable' } as const;
    standalone.publish(...call('there', DONE), ...call('failed', failed));
    await standalone.bus.settled();
    // The record knows better.
    const { text } = await send(`${standalone.url}/api/dashboard/calls/failed/audio`);
    expect(text).toContain('The call has no recording: unavailable.');
    const answer = await send(`${standalone.url}/api/dashboard/calls/there/audio`);
    expect(answer.status).toBe(404);
    expect(errorCodeOf(answer)).toBe('RECORDING_ABSENT');
    expect(answer.text).toContain('ask the one that took the call');
    await standalone.close();
  });

  it('is in the OpenAPI document, with its parts', () => {
    interface Described {
      readonly get: { readonly parameters: { name: string }[]; readonly responses: object };
    }
    const paths = OPENAPI.paths as unknown as Record<string, Described>;
    const { parameters = [], responses = {} } = paths['/api/dashboard/calls/{callId}/audio']?.get ?? {};
    expect(parameters.map(({ name }) => name)).toEqual(['callId', 'Range']);
    expect(Object.keys(responses)).toEqual(
      expect.arrayContaining(['200', '206', '404', '409', '416', '503']),
    );
  });
});

it('a name of a file has nothing of a header in it', () => {
  const { headers } = answerRange({ range: undefined, ifRange: undefined }, { callId: 'a"\r\nb', size: 1 });
  expect(headers['Content-Disposition']).toBe('inline; filename="a___b.wav"');
});
