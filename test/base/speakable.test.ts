import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SpeakableText, toLine, toSpeakable } from '../../src/base/speakable.js';
import { SentenceSplitter } from '../../src/engines/pipeline/speaking/sentence-splitter.js';

/** As `toSpeakable`, from pieces of `size`. */
function streamed(text: string, size: number): string {
  const speakable = new SpeakableText();
  let out = '';
  for (let at = 0; at < text.length; at += size) out += speakable.push(text.slice(at, at + size));
  return toLine(out + speakable.end());
}

const TEXTS: readonly (readonly [text: string, speakable: string])[] = [
  // Markdown
  ['# Title', 'Title'],
  ['- one\n* two\n• three', 'one two three'],
  ['> - quoted', 'quoted'],
  ['a _soft_ and *strong* word', 'a soft and strong word'],
  ['***Very* bold**, and ~~gone~~', 'Very bold, and gone'],
  ['2 * 3 = 6 and snake_case_name', '2 * 3 = 6 and snake_case_name'],
  ['- 5\n-5 degrees\n--', '5 -5 degrees --'],
  ['One\n---\nTwo\n***\nThree', 'One Two Three'],
  ['| Day | Time |\n|:---|---:|\n| Monday | -5 |', 'Day Time Monday -5'],
  ['Say `yes` now', 'Say yes now'],
  ['👍🏽 Great 🇩🇪!', 'Great!'],
  ['It costs $5, or 5 #hash', 'It costs $5, or 5 #hash'],
  // Blocks of code
  ['```js\ncode\n```', ''],
  ['Run this:\n```sh\nnpm i <x>\n```\nand wait.', 'Run this: and wait.'],
  ['Run ```npm i``` now.', 'Run now.'],
  ['Before\n~~~\n```\ncode\n~~~\nafter', 'Before after'],
  ['Never closed: ```js\nlet a = 1;', 'Never closed:'],
  ['````md\n```\ninner\n```\n````\nDone.', 'Done.'],
  // Thoughts and other hidden elements
  ['<think>The caller wants tea.</think>Of course.', 'Of course.'],
  ['<THINK>\nHm.\n</Think>\n\nOf course.', 'Of course.'],
  ['<think>a <think>b</think> c</think> Yes.', 'Yes.'],
  ['<think type="deep">a > b < c <b>d</b></think >Yes.', 'Yes.'],
  ['<think>never closed, and on and on', ''],
  ['Yes.<think>And now', 'Yes.'],
  ['</think>Yes.', 'Yes.'],
  ['<think/>Yes.', 'Yes.'],
  ['<thinking>a</think>b</thinking>Yes.', 'Yes.'],
  ['<think>```</think>Yes.', 'Yes.'],
  ['One moment. <tool_call>{"name":"look_up"}</tool_call>', 'One moment.'],
  ['<function=look_up>{"a":1}</function>Done.', 'Done.'],
  ['<script>if (a < b) alert("</p>")</script>Hello', 'Hello'],
  // Tags
  ['Hello<break time="1s"/>there.', 'Hello there.'],
  ["<speak><p>Hello</p><prosody rate='slow'>there</prosody></speak>", 'Hello there'],
  ['One<br>two<BR />three', 'One two three'],
  ['a <!-- not <b> this --> b <!DOCTYPE html> c', 'a b c'],
  ['<a href=https://x.y/z>Here</a>, <video controls>there', 'Here, there'],
  ['Good bye.<|im_end|><｜end▁of▁sentence｜></s>', 'Good bye.'],
  ['Hello <break time="1', 'Hello'],
  ['Hello <thi', 'Hello'],
  // No tags
  ['3 < 5 and 5 > 3', '3 < 5 and 5 > 3'],
  ['is 3<5, or a<b, or a <b and c> d?', 'is 3<5, or a<b, or a <b and c> d?'],
  ['I <3 you, <- there, <>', 'I <3 you, <- there, <>'],
  ['less than: <', 'less than: <'],
  ['x << y <= z', 'x << y <= z'],
  // Addresses
  ['See https://example.com/a/b?c=d#e.', 'See example.com.'],
  ['See https://example.com./a now', 'See example.com now'],
  ['See HTTPS://user:pass@www.example.com:8080/x_y_z, or www.other.org!', 'See example.com, or other.org!'],
  ['(see http://example.com/a(b)c) now', 'see example.com) now'.replace('see', '(see')],
  ['<https://example.com/a> or mailto:anna@example.com', 'example.com or anna@example.com'],
  ['请看https://a.example/b。谢谢', '请看a.example。谢谢'],
  ['**Bold** [link](https://x.y/z "title") and ![picture](p.png)', 'Bold link and picture'],
  ['[https://x.example/y](https://x.example/y)', 'x.example'],
  ['[sic] and a[0] and [not (a link', '[sic] and a[0] and [not (a link'],
  ['http: // and https:/ and www and a://b', 'http: // and https:/ and www and b'],
];

describe('toSpeakable', () => {
  it.each(TEXTS)('%j', (text, speakable) => {
    expect(toSpeakable(text)).toBe(speakable);
  });

  it.each(TEXTS)('%j in pieces of any size', (text, speakable) => {
    for (let size = 1; size <= 9; size += 1) expect(streamed(text, size)).toBe(speakable);
  });

  it('is indifferent to how any text is cut', () => {
    const part = fc.constantFrom(
      ...'<think>|</think>|<b>|<|>|/|"|=|```|`|*|_|~|[|](|)|!|https://|www.|x|yes |. |\n|- |---\n|| |😀|。'.split(
        '|',
      ),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), fc.integer({ min: 1, max: 7 }), (parts, size) => {
        const text = parts.join('');
        expect(streamed(text, size)).toBe(toSpeakable(text));
      }),
    );
  });

  it('gives nothing where there is nothing but punctuation', () => {
    expect(toSpeakable('<b>…</b> (.)')).toBe('');
  });
});

describe('a splitter', () => {
  it('gives no voice what is not to be heard, though it comes sign by sign', () => {
    const splitter = new SentenceSplitter();
    const text =
      '<think>Tea. With milk. They said so.</think>Of course, with pleasure. <break/>Milk or lemon?';
    const pieces = Array.from(text).flatMap((sign) => [...splitter.push(sign), ...splitter.takeWords()]);
    expect([...pieces, ...splitter.flush()].join(' ')).toBe('Of course, with pleasure. Milk or lemon?');
  });

  it('begins anew behind what was not closed', () => {
    const splitter = new SentenceSplitter();
    expect([...splitter.push('<think>Hm'), ...splitter.flush()]).toEqual([]);
    expect([...splitter.push('Here you are.'), ...splitter.flush()]).toEqual(['Here you are.']);
  });
});
