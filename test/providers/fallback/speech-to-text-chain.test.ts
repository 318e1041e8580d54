import { describe, expect, it } from 'vitest';
import { DOWN, FakeRecognizer, numbers, pair, setUp } from './fake-recognizer.js';

describe('SpeechToTextChain', () => {
  it('pays whom a member names, which may charge for some sessions otherwise', () => {
    const [first, second] = pair();
    const { open, told } = setUp([first, second]);
    open();
    first.events.usage?.({ seconds: 2, payee: { name: 'v/1 (multi)' } });
    first.events.usage?.({ seconds: 3 });
    expect(told).toEqual(['v/1 (multi) is paid 2', 'v/1 is paid 3']);
  });

  it('is the first as long as that one works', () => {
    const [first, second] = pair();
    const { chain, open, speak, told, clock } = setUp([first, second]);
    const session = open();
    speak(session, 100);
    first.events.speechStarted?.(40);
    first.events.partial('Three');
    first.events.final('Three loaves.');
    session.close();
    session.close();
    first.events.final('late');
    expect(chain.name).toBe('v/1');
    expect(told).toEqual(['> 40', '~Three', 'Three loaves.', 'v/1 is paid 0.1']);
    expect([first.closed, second.opened, clock.pending]).toEqual([1, 0, 0]);
  });

  it('has the next hear what has no final text, and asks it for what was asked for', () => {
    const [first, second] = pair();
    const { open, speak, told, clock } = setUp([first, second]);
    second.onFinish = () => second.events.final('And two rolls.');
    const session = open();
    speak(session, 200);
    first.events.final('Three loaves.');
    speak(session, 300);
    session.finishUtterance();
    clock.advance(100);
    first.events.failed(DOWN);
    expect(second.heard).toEqual(numbers(11, 25));
    expect(told).toEqual(['Three loaves.', 'v/1 is paid 0.5', 'v/1 -> v/2 after 0', 'And two rolls.']);
    expect(second.context?.keptMs).toBe(5000);
    expect(first.context?.keptMs).toBeUndefined();
    second.events.speechStarted?.(100);
    expect(told.at(-1)).toBe('> 300');
    first.events.final('late');
    session.close();
    expect(told.slice(-2)).toEqual(['> 300', 'v/2 is paid 0.3']);
    expect(clock.pending).toBe(0);
  });

  it('takes back words that are open when it goes to the next, which hears them again', () => {
    const [first, second] = pair();
    const { open, speak, told } = setUp([first, second]);
    speak(open(), 300);
    first.events.partial('tell me about');
    first.events.failed(DOWN);
    second.events.final('tell me about berries please.');
    expect(told.filter((line) => !line.includes('paid'))).toEqual([
      '~tell me about',
      'v/1 -> v/2 after 0',
      '(taken back)',
      'tell me about berries please.',
    ]);
  });

  it.each([true, false])(
    'has its last member know that it is, where nobody is behind the chain: %s',
    (isLast) => {
      const [first, second] = pair();
      const { open } = setUp([first, second]);
      open(undefined, () => isLast);
      expect(first.context?.isLast?.()).toBe(false);
      first.events.failed(DOWN);
      expect(second.context?.isLast?.()).toBe(isLast);
      // Who has worked has the first behind it again.
      second.events.final('Three loaves.');
      expect(second.context?.isLast?.()).toBe(false);
    },
  );

  it('believes a recognizer that tells how far its text goes', () => {
    const [first, second] = pair();
    const { open, speak } = setUp([first, second]);
    const session = open();
    speak(session, 400);
    first.events.settled?.(200);
    first.events.final('Three loaves.');
    first.events.failed(DOWN);
    expect(second.heard).toEqual(numbers(11, 20));
    second.events.settled?.(100);
    second.events.final('And');
    const again: number[] = [];
    first.heard = again;
    second.events.failed(DOWN);
    expect(again).toEqual(numbers(16, 20));
  });

  it('keeps five seconds', () => {
    const [first, second] = pair();
    const { open, speak } = setUp([first, second]);
    speak(open(), 7000);
    first.events.failed(DOWN);
    expect(second.heard).toEqual(numbers(101, 350));
  });

  it('begins with the next when the first cannot be opened, and throws when none can', () => {
    const [first, second] = pair();
    const { open, told } = setUp([first, second]);
    first.openError = DOWN;
    open();
    expect([second.opened, told]).toEqual([1, ['v/1 -> v/2 after 0']]);
    second.openError = new Error('no');
    expect(open).toThrow('no');
  });

  it('gives a connection two seconds, from the start and in the middle', () => {
    const [first, second] = pair();
    const { open, speak, told } = setUp([first, second]);
    const session = open();
    speak(session, 1000);
    first.events.troubled?.(DOWN);
    speak(session, 980);
    expect(second.opened).toBe(0);
    speak(session, 40);
    expect(told).toContain('v/1 -> v/2 after 2000');
    expect(second.heard).toEqual(numbers(1, 101));

    const [one, two] = pair();
    const later = setUp([one, two]);
    const call = later.open();
    later.speak(call, 10_000);
    one.events.troubled?.(DOWN);
    later.speak(call, 1000);
    one.events.reconnected?.({ gapMs: 1000, lostMs: 0 });
    later.speak(call, 5000);
    expect([two.opened, later.told]).toEqual([0, ['v/1 is back after 1000']]);
    one.events.troubled?.(DOWN);
    one.events.troubled?.(DOWN);
    later.speak(call, 2000);
    expect(two.opened).toBe(1);
  });

  it('gives a connection that was silent before its two seconds all the same, and tells the whole gap', () => {
    const [first, second] = pair();
    const { open, speak, told } = setUp([first, second]);
    const session = open();
    speak(session, 10_000);
    first.events.troubled?.(DOWN, { agoMs: 3000 });
    speak(session, 500);
    first.events.troubled?.(DOWN, { agoMs: 0 });
    speak(session, 1480);
    expect(second.opened).toBe(0);
    speak(session, 40);
    expect(told).toContain('v/1 -> v/2 after 5000');
  });

  it('replaces one that does not answer, and has the next hear it all', () => {
    const [first, second] = pair();
    const { open, speak, told, clock } = setUp([first, second]);
    second.onFinish = () => second.events.final('Three loaves.');
    const session = open();
    speak(session, 1000);
    session.finishUtterance();
    clock.advance(799);
    expect(second.opened).toBe(0);
    clock.advance(1);
    expect(told).toEqual(['v/1 is paid 1', 'v/1 -> v/2 after 800', 'Three loaves.']);
    expect(second.heard).toEqual(numbers(1, 50));
  });

  it('takes the words as they are that one had nearly all of', () => {
    const [first, second] = pair();
    const { open, speak, told, clock } = setUp([first, second]);
    const session = open();
    speak(session, 1000);
    first.events.partial('Three loaves');
    speak(session, 500);
    session.finishUtterance();
    clock.advance(800);
    expect(told).toEqual(['~Three loaves', 'v/1 is paid 1.5', 'v/1 -> v/2 after 800', 'Three loaves']);
    expect(second).toMatchObject({ heard: [], asked: 0 });
  });

  it('does not take words as they are that are old', () => {
    const [first, second] = pair();
    const { open, speak, clock } = setUp([first, second]);
    const session = open();
    speak(session, 1000);
    first.events.partial('Three');
    speak(session, 1600);
    session.finishUtterance();
    clock.advance(800);
    expect(second).toMatchObject({ heard: numbers(1, 130), asked: 1 });
  });

  it('misses no answer where there is nothing to say', () => {
    const [first, second] = pair();
    const { open, speak, beSilent, clock } = setUp([first, second]);
    const session = open();
    speak(session, 400);
    beSilent(session, 500);
    session.finishUtterance();
    clock.advance(5000);
    speak(session, 1000);
    first.events.final('Three loaves.');
    beSilent(session, 500);
    session.finishUtterance();
    clock.advance(5000);
    expect([first.asked, second.opened]).toEqual([2, 0]);
  });

  it('replaces one whose service does not answer, unless nothing was said', () => {
    const [first, second] = pair();
    const { open, speak, told } = setUp([first, second]);
    first.onFinish = () => {
      first.events.unanswered?.();
      first.events.final('');
    };
    const session = open();
    speak(session, 400);
    session.finishUtterance();
    expect([second.opened, told]).toEqual([0, ['']]);
    speak(session, 800);
    session.finishUtterance();
    expect(second).toMatchObject({ opened: 1, asked: 1, heard: numbers(1, 60) });
    expect(told.slice(1)).toEqual(['v/1 is paid 1.2', 'v/1 -> v/2 after 0']);
  });

  it('finds out that one which tells the ends of turns says nothing of what was said', () => {
    const [first, second] = pair({ ownsTurnTaking: true });
    const { open, speak, beSilent, told } = setUp([first, second]);
    second.onFinish = () => second.events.final('Three loaves.');
    const session = open();
    speak(session, 1000);
    first.events.speechStarted?.(0);
    beSilent(session, 2000);
    expect([first.asked, second.opened]).toEqual([0, 0]);
    speak(session, 1000);
    beSilent(session, 600);
    expect([first.asked, second.opened]).toEqual([1, 0]);
    beSilent(session, 800);
    expect([second.opened, told.at(-1)]).toEqual([1, 'Three loaves.']);
  });

  it('leaves one that catches up at the pace of speech the time for that', () => {
    const [first, second] = pair();
    const { open, speak, clock, told } = setUp([first, second, new FakeRecognizer('v/3')]);
    const session = open();
    speak(session, 2000);
    first.events.failed(DOWN);
    session.finishUtterance();
    clock.advance(2799);
    second.events.final('All of it.');
    expect(told.at(-1)).toBe('All of it.');
    session.finishUtterance();
    clock.advance(799);
    second.events.final('');
    expect(told.filter((line) => line.includes('->'))).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it('waits for the last one, and fails with it', () => {
    const [first, second] = pair();
    const { open, speak, clock, told } = setUp([first, second]);
    const session = open();
    first.events.failed(DOWN);
    session.finishUtterance();
    second.events.troubled?.(DOWN);
    clock.advance(20_000);
    expect(second.closed).toBe(0);
    second.events.failed(new Error('over'));
    expect(told.slice(-1)).toEqual(['failed: over']);
    speak(session, 100);
    session.finishUtterance();
    expect([first.opened, second.heard.length, clock.pending]).toEqual([1, 0, 0]);
  });

  it('goes back to the first when the second fails after it had understood the caller', () => {
    const [first, second] = pair();
    const { open, told } = setUp([first, second]);
    open();
    first.events.failed(DOWN);
    second.events.final('Hello.');
    second.events.failed(DOWN);
    expect(first.opened).toBe(2);
    expect(told.at(-1)).toBe('v/2 -> v/1 after 0');
  });

  it('writes afterwards where its first member does, who is asked first', () => {
    const late = new FakeRecognizer('v/2', { writesAfterwards: true });
    expect(setUp([new FakeRecognizer('v/1'), late]).chain.writesAfterwards).toBe(false);
    expect(setUp([late, new FakeRecognizer('v/1')]).chain.writesAfterwards).toBe(true);
  });

  it('tells ends of turns only where all of its members do', () => {
    const [first, second] = pair({ ownsTurnTaking: true });
    const owned = setUp([first, second]);
    expect(owned.chain.ownsTurnTaking).toBe(true);
    owned.open();
    first.events.turnEnded?.();
    expect(owned.told).toEqual(['|']);
    const mixed = setUp([first, new FakeRecognizer('v/2')]);
    expect(mixed.chain.ownsTurnTaking).toBe(false);
    mixed.open();
    first.events.turnEnded?.();
    expect(mixed.told).toEqual([]);
  });

  it('takes what a recognizer throws or rejects for its failure', async () => {
    const [first, second] = pair();
    const third = new FakeRecognizer('v/3');
    const { open, speak, clock } = setUp([first, second, third]);
    first.onAudio = () => {
      throw new Error('no');
    };
    second.onAudio = () => Promise.reject(new Error('no'));
    const session = open();
    speak(session, 20);
    await clock.advanceAsync(0);
    expect([second.heard, third.heard]).toEqual([[1], [1]]);
    speak(session, 20);
    expect(third.heard).toEqual([1, 2]);
  });

  it('lets the next call begin with the fallback when one fails again and again', () => {
    const [first, second] = pair();
    const { open, told } = setUp([first, second]);
    for (let call = 0; call < 5; call += 1) {
      const session = open();
      first.events.failed(DOWN);
      session.close();
    }
    told.length = 0;
    open();
    expect([first.opened, second.opened]).toEqual([5, 6]);
    expect(told).toEqual(['v/1 -> v/2 after 0']);
  });

  it('passes the words of a simulated caller on', () => {
    const [first] = pair();
    const words: string[] = [];
    const open = first.open.bind(first);
    first.open = (context) => ({
      ...open(context),
      pushSpokenText: ({ text }: { text: string }) => void words.push(text),
    });
    const session = setUp([first]).open();
    session.pushSpokenText?.({ id: 'a', text: 'Hello', final: true });
    expect(words).toEqual(['Hello']);
  });

  it('lets the last one try to connect only as long as the caller can wait for it', () => {
    const [first, second] = pair();
    const { open, speak, told, clock } = setUp([first, second]);
    let until = Number.POSITIVE_INFINITY;
    const session = open({ leftMs: () => until - clock.now() });
    speak(session, 1000);
    first.events.failed(DOWN);
    second.events.troubled?.(DOWN);
    clock.advance(9000);
    expect(second.closed).toBe(0);
    until = clock.now() + 1500;
    session.finishUtterance();
    clock.advance(1499);
    expect(told).not.toContain(`failed: ${DOWN.message}`);
    clock.advance(1);
    expect(told).toContain(`failed: ${DOWN.message}`);
    expect([second.closed, clock.pending]).toEqual([1, 0]);
  });
});
