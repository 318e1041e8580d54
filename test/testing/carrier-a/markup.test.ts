import { describe, expect, it } from 'vitest';
import { readMarkup } from '../../../src/testing/carrier-a/markup.js';

const stream = (inner: string, url = 'wss://voice.example/ws/stream/CA1') =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Response>\n <Connect>\n  <Stream url="${url}">${inner}</Stream>\n </Connect>\n</Response>\n`;

describe('readMarkup', () => {
  it('reads a stream with its parameters, entities decoded', () => {
    const inner =
      '<!-- who --><Parameter name="caller" value="&quot;a&amp;b&#43;&#x2b;"/><Parameter name=\'x\' value=\'\' />';
    expect(readMarkup(stream(inner))).toEqual({
      answer: {
        type: 'stream',
        url: 'wss://voice.example/ws/stream/CA1',
        parameters: { caller: '"a&b++', x: '' },
      },
      violations: [],
    });
  });

  it.each([
    ['<Response><Reject reason="busy"/></Response>', { type: 'reject', reason: 'busy' }],
    ['<Response><Reject/></Response>', { type: 'reject', reason: 'rejected' }],
    ['<Response><Say>Bye</Say><Hangup/></Response>', { type: 'hang-up' }],
    ['<Response/>', { type: 'hang-up' }],
    [
      '<Response><Dial callerId="+1">+15005550030</Dial></Response>',
      { type: 'dial', number: '+15005550030' },
    ],
    [
      '<Response><Dial><Number> +15005550030 </Number></Dial></Response>',
      { type: 'dial', number: '+15005550030' },
    ],
  ])('reads %s', (source, answer) => {
    expect(readMarkup(source)).toEqual({ answer, violations: [] });
  });

  it.each([
    ['a plain socket', stream('', 'ws://voice.example/x'), /not wss/],
    ['an underscore in the host', stream('', 'wss://my_voice.example/x'), /underscore/],
    ['no url', '<Response><Connect><Stream/></Connect></Response>', /no url/],
    [
      'two streams',
      '<Response><Connect><Stream url="wss://a/"/><Stream url="wss://b/"/></Connect></Response>',
      /exactly one|more than one/,
    ],
    ['a long parameter', stream(`<Parameter name="caller" value="${'x'.repeat(495)}"/>`), /longer than 500/],
    ['a parameter twice', stream('<Parameter name="a" value="1"/><Parameter name="a" value="2"/>'), /twice/],
    ['something else in a stream', stream('<Custom name="a" value="1"/>'), /only <Parameter/],
    ['an unknown verb', '<Response><Talk/></Response>', /unknown verb/],
    ['another root', '<Answer/>', /no <Response>/],
    ['a bare ampersand', stream('', 'wss://voice.example/x?a=1&b=2'), /bare "&"/],
    ['an open element', '<Response><Connect></Response>', /wrong end/],
    ['no end', '<Response>', /no end/],
    ['an attribute twice', '<Response a="1" a="2"/>', /twice/],
    ['an attribute without quotes', '<Response a=1/>', /broken/],
    ['text behind', '<Response/>x', /after the end/],
    ['an unknown entity', '<Response><Say>&nbsp;</Say></Response>', /unknown entity/],
    ['a document type', '<!DOCTYPE x><Response/>', /not well-formed/],
    ['nothing', '', /not well-formed/],
  ])('names %s', (_, source, sentence) => {
    expect(readMarkup(source).violations.join('; ')).toMatch(sentence);
  });
});
