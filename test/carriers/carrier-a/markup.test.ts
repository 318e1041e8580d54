import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  answerMarkup,
  digitsMarkup,
  emptyMarkup,
  speechMarkup,
  streamMarkup,
  transferMarkup,
} from '../../../src/carriers/carrier-a/markup.js';

const wrap = (verbs: string) => `<?xml version="1.0" encoding="UTF-8"?>\n<Response>${verbs}</Response>`;
const stream = { url: 'wss://v.example/ws/stream/a?caller=1&callee=2', parameters: { caller: '+1' } };
const connect =
  '<Connect><Stream url="wss://v.example/ws/stream/a?caller=1&amp;callee=2"><Parameter name="caller" value="+1"/></Stream></Connect>';

describe('answerMarkup', () => {
  it.each([
    [{ type: 'busy' }, '<Reject reason="busy"/>'],
    [{ type: 'reject' }, '<Reject reason="rejected"/>'],
    [{ type: 'hang-up' }, '<Hangup/>'],
    [{ type: 'stream', ...stream }, connect],
  ] as const)('writes %j', (answer, verbs) => {
    expect(answerMarkup(answer)).toBe(wrap(verbs));
    expect(emptyMarkup()).toBe(wrap(''));
  });

  it('keeps a hostile caller inside its attribute', () => {
    const caller = '"/><Redirect>https://evil.example</Redirect>';
    const markup = answerMarkup({ type: 'stream', ...stream, parameters: { caller } });
    expect(markup).toContain('value="&quot;/&gt;&lt;Redirect&gt;https://evil.example&lt;/Redirect&gt;"');
  });

  it('cuts a parameter at what the carrier takes', () => {
    const markup = answerMarkup({ type: 'stream', ...stream, parameters: { caller: 'x'.repeat(600) } });
    expect(/value="(x*)"/.exec(markup)?.[1]).toHaveLength(500 - 'caller'.length);
  });
});

describe('what comes after a stream', () => {
  const resume = { url: 'https://v.example/webhooks/carrier-a/resume/a/2', holdSeconds: 2 };
  const redirect = `<Redirect method="POST">${resume.url}#rc=5&amp;rp=all</Redirect>`;
  const tail = `<Pause length="2"/>${redirect}`;

  it('stands behind each document that opens one', () => {
    expect(answerMarkup({ type: 'stream', ...stream, resume })).toBe(wrap(connect + tail));
    expect(streamMarkup({ ...stream, resume })).toBe(wrap(connect + tail));
    expect(digitsMarkup('1', { ...stream, resume })).toBe(wrap(`<Play digits="1"/>${connect}${tail}`));
  });

  it('may stand alone, and come without a pause', () => {
    expect(answerMarkup({ type: 'hold', resume })).toBe(wrap(tail));
    expect(answerMarkup({ type: 'hold', resume: { ...resume, holdSeconds: 0 } })).toBe(wrap(redirect));
  });

  it('fits in a document of the REST API, whatever the parties are called', () => {
    const party = '"'.repeat(128);
    const query = encodeURIComponent('\u{1f600}'.repeat(64));
    const long = {
      url: `wss://v.example/ws/stream/a/${'t'.repeat(1500)}?caller=${query}&callee=${query}`,
      resume,
    };
    const markup = streamMarkup({ ...long, parameters: { caller: party, callee: party } });
    expect(markup.length).toBeLessThanOrEqual(4000);
    expect(markup).toContain(redirect);
  });
});

describe('digitsMarkup', () => {
  it('plays the keys, then opens a stream again', () => {
    expect(digitsMarkup('1w2#', stream)).toBe(wrap(`<Play digits="1w2#"/>${connect}`));
  });
});

describe('transferMarkup', () => {
  const order = {
    to: '+15005550030',
    callerId: '+15005550010',
    ringTimeoutSeconds: 25,
    callId: 'abc',
    webhookBaseUrl: 'https://v.example/webhooks/carrier-a',
  };

  it('dials the number, and asks for the result', () => {
    expect(transferMarkup(order)).toBe(
      wrap(
        '<Dial callerId="+15005550010" timeout="25" action="https://v.example/webhooks/carrier-a/voice?callId=abc&amp;transfer=1" method="POST">+15005550030</Dial>',
      ),
    );
  });

  it('leaves the shown number to the carrier', () => {
    expect(transferMarkup({ ...order, callerId: undefined })).toContain('<Dial timeout="25"');
  });
});

describe('speechMarkup', () => {
  it.each([
    [' Good  bye\n& thanks ', 'en-GB', '<Say language="en-GB">Good bye &amp; thanks</Say><Hangup/>'],
    ['Hallo', 'de', '<Say language="de-DE">Hallo</Say><Hangup/>'],
    ['Hello', 'tlh', '<Say>Hello</Say><Hangup/>'],
    ['Hello', '"/><Redirect/>', '<Say>Hello</Say><Hangup/>'],
    ['Hello', undefined, '<Say>Hello</Say><Hangup/>'],
    [' \n\u0000', 'en-US', '<Hangup/>'],
  ])('speaks %j in %j, then hangs up', (text, language, verbs) => {
    expect(speechMarkup(text, language)).toBe(wrap(verbs));
  });

  it('ends with the last word that fits in a document', () => {
    const markup = speechMarkup('Tom & Jerry '.repeat(1000), 'en-US');
    expect(markup.length).toBeLessThanOrEqual(4000);
    expect(markup.length).toBeGreaterThan(3500);
    expect(markup).toMatch(/<Say language="en-US">(Tom &amp; Jerry )*Tom( &amp;( Jerry)?)?<\/Say><Hangup\/>/);
  });

  it('cuts a word that fits in no document where the room for speech ends', () => {
    expect(speechMarkup('a'.repeat(5000), 'en-US')).toContain(`>${'a'.repeat(3800)}</Say>`);
    expect(speechMarkup('&'.repeat(5000), 'en-US')).toContain(`>${'&amp;'.repeat(760)}</Say>`);
  });

  it('never exceeds a document, whatever it is to say', () => {
    const text = fc
      .string({ unit: 'binary', maxLength: 300 })
      .map((piece) => piece.repeat(Math.ceil(6000 / Math.max(1, piece.length))));
    fc.assert(
      fc.property(fc.oneof(text, fc.constant('&'.repeat(9000)), fc.constant('😀'.repeat(4000))), (said) => {
        const markup = speechMarkup(said, 'pt-BR');
        expect(markup.length).toBeLessThanOrEqual(4000);
        expect(Buffer.from(markup).toString('utf8')).toBe(markup);
        expect(markup).toMatch(/<Response>(<Say language="pt-BR">[^<>]+<\/Say>)?<Hangup\/><\/Response>$/);
      }),
    );
  });
});
