// What every media dialect must do: read its wire, write what the carrier reads, and never throw.
import { deepEqual, equal, ok } from 'node:assert/strict';
import type { MediaDialect, MediaMessage } from '../../carriers/carrier.js';
import { type CarrierCheck, type CarrierFixtures, UNREACHABLE } from './carrier-fixtures.js';
import { GARBAGE_TEXTS, mutate } from './garbage.js';

type StreamFixture = CarrierFixtures['streams'][number];

/** 20 ms at the most bytes that a format needs. */
const PAYLOAD = Uint8Array.from({ length: 640 }, (_, index) => (index * 7) % 256);

function openStream(fixtures: CarrierFixtures, stream: StreamFixture): MediaDialect {
  return fixtures.create(UNREACHABLE).openMedia(stream.codec);
}

/** The messages of a stream up to its start. */
function opening({ messages }: StreamFixture): StreamFixture['messages'] {
  return messages.slice(0, messages.findIndex(({ message }) => message.type === 'start') + 1);
}

function startOf(stream: StreamFixture): Extract<MediaMessage, { type: 'start' }> {
  const message = opening(stream).at(-1)?.message;
  if (message?.type !== 'start') throw new Error(`the stream fixture "${stream.title}" has no start`);
  return message;
}

/** Bytes as numbers: a Buffer and a Uint8Array of the same bytes are the same here. */
function plain(message: MediaMessage): unknown {
  return message.type === 'audio' ? { ...message, payload: [...message.payload] } : message;
}

export function mediaChecks(fixtures: CarrierFixtures): CarrierCheck[] {
  const { streams, echo = (sent: string) => sent } = fixtures;
  return [
    ...streams.map((stream) => ({
      name: `reads ${stream.title}`,
      run: async () => {
        const dialect = openStream(fixtures, stream);
        for (const { text, message } of stream.messages)
          deepEqual(plain(dialect.decode(text)), plain(message));
      },
    })),
    {
      name: 'reads garbage at any time, and the stream goes on',
      run: async () => {
        for (const stream of streams) {
          const dialect = openStream(fixtures, stream);
          for (const text of GARBAGE_TEXTS) ok(dialect.decode(text).type !== 'start');
          for (const { text } of opening(stream)) dialect.decode(text);
          for (const text of GARBAGE_TEXTS) {
            const { type } = dialect.decode(text);
            ok(!['start', 'connected', 'audio', 'dtmf'].includes(type), `garbage was read as ${type}`);
          }
        }
      },
    },
    {
      name: 'names as usual what a stream of it carries, if it names anything',
      run: async () => {
        const { usualLine } = fixtures.create(UNREACHABLE);
        if (usualLine === undefined) return;
        const lines = streams
          .map(startOf)
          .map(({ format, outboundFormat }) => JSON.stringify([format, outboundFormat]));
        ok(lines.includes(JSON.stringify([usualLine.inbound, usualLine.outbound])));
      },
    },
    {
      name: 'survives messages that are damaged',
      run: async () => {
        for (const stream of streams) {
          const dialect = openStream(fixtures, stream);
          for (const { text } of stream.messages) {
            for (const bytes of mutate(Buffer.from(text))) {
              equal(typeof dialect.decode(Buffer.from(bytes).toString('utf8')).type, 'string');
            }
            dialect.decode(text);
          }
        }
      },
    },
    {
      name: 'starts once: a second start changes nothing',
      run: async () => {
        for (const stream of streams) {
          const dialect = openStream(fixtures, stream);
          for (const { text } of opening(stream)) dialect.decode(text);
          const before = dialect.encodeClear();
          equal(dialect.decode(opening(stream).at(-1)?.text ?? '').type, 'unexpected');
          equal(dialect.encodeClear(), before);
        }
      },
    },
    {
      name: 'writes JSON, also before the start',
      run: async () => {
        for (const stream of streams) {
          const dialect = openStream(fixtures, stream);
          const write = () => [
            dialect.encodeAudio(PAYLOAD),
            dialect.encodeMark('"\\\n'),
            dialect.encodeClear(),
          ];
          const early = write();
          for (const { text } of opening(stream)) dialect.decode(text);
          for (const text of [...early, ...write()]) equal(typeof JSON.parse(text), 'object');
        }
      },
    },
    {
      name: 'writes audio and marks that come back as they were, in every format',
      run: async () => {
        for (const stream of streams) {
          const { format, outboundFormat } = startOf(stream);
          const dialect = openStream(fixtures, stream);
          for (const { text } of opening(stream)) dialect.decode(text);
          const mark = dialect.decode(echo(dialect.encodeMark('turn-1 "ä"')));
          deepEqual(mark, { type: 'mark', name: 'turn-1 "ä"' });
          // What the carrier takes can only be read back where it is also what it sends.
          if (JSON.stringify(format) !== JSON.stringify(outboundFormat)) continue;
          const padded = new Uint8Array(PAYLOAD.length + 8);
          padded.set(PAYLOAD, 4);
          const back = dialect.decode(echo(dialect.encodeAudio(padded.subarray(4, 4 + PAYLOAD.length))));
          deepEqual(plain(back), plain({ type: 'audio', payload: PAYLOAD }));
        }
      },
    },
    {
      name: 'keeps streams apart',
      run: async () => {
        const carrier = fixtures.create(UNREACHABLE);
        for (const stream of streams) {
          const [one, two] = [carrier.openMedia(stream.codec), carrier.openMedia(stream.codec)];
          for (const { text } of opening(stream)) one.decode(text);
          for (const { text, message } of stream.messages) deepEqual(plain(two.decode(text)), plain(message));
        }
      },
    },
  ];
}
