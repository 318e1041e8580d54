import { expect, describe, it } from 'vitest';
import type { TranscriptEntry } from '../../../../src/contract/call-record.js';
import { UserSpeech } from '../../../../src/engines/pipeline/hearing/user-speech.js';
import { NOTHING_UNTAKEN, take, type Untaken, worded } from '../../../../src/conversation/untaken.js';
import { CallRig } from '../../call-rig.js';

/** What the caller says, with the state of a conversation behind it. */
class Said extends UserSpeech {
  readonly told: TranscriptEntry[] = [];
  #untaken: Untaken;

  constructor() {
    super({
      entries: () => this.#untaken.entries,
      tell: (entry, { isTaken }) => {
        this.told.push(entry);
        if (!isTaken) this.#untaken = worded(this.#untaken, entry);
      },
      wallNow: () => 0,
      now: () => 0,
      turnIndex: () => 0,
      suffix: () => '',
    });
    this.#untaken = NOTHING_UNTAKEN;
  }

  take(turnIndex: number): string {
    const { untaken, taken } = take(this.#untaken, turnIndex);
    this.#untaken = untaken;
    this.told.push(...taken.moved);
    this.taken(taken.unfinished);
    return taken.text;
  }
}

function taken(text: string) {
  const said = new Said();
  said.partial(text);
  expect(said.take(0)).toBe(text);
  said.speechStarted();
  return said;
}

describe('a piece that a turn took before the recognizer was done with it', () => {
  it('is not said again by its final, where the caller has begun again', () => {
    const said = taken('I would like to');
    said.final('I would like to');
    said.partial('order a pizza');
    said.final('order a pizza');
    expect(said.take(1)).toBe('order a pizza');
  });

  it('goes on where the caller has begun again', () => {
    const said = taken('I would like to');
    said.partial('I would like to order');
    said.final('I would like to order a pizza');
    expect(said.take(1)).toBe('order a pizza');
  });

  it('stands once in what the model is asked', async () => {
    const rig = await new CallRig({ turnTaking: { fillers: [] } }).start();
    rig.model.answers.push(async function* () {
      yield* [];
      await new Promise(() => {});
    });
    rig.model.answer('A pizza.');
    await rig.voiced(400);
    rig.ears.events.partial('I would like to');
    await rig.quiet(2400);
    expect(rig.model.requests).toHaveLength(1);
    await rig.voiced(300);
    rig.ears.events.final('I would like to');
    await rig.voiced(300);
    rig.ears.events.final('order a pizza');
    await rig.quiet(1500);
    expect(rig.model.requests.at(-1)?.messages.at(-1)?.content).toBe('I would like to order a pizza');
  });
});

describe('a piece that is done', () => {
  it('is told once more where another turn takes it than the one it was said in', () => {
    const said = new Said();
    said.final('A pizza.');
    expect(said.take(0)).toBe('A pizza.');
    said.final('With olives.');
    expect(said.take(1)).toBe('With olives.');
    expect(said.told.map(({ text, turnIndex }) => [text, turnIndex])).toEqual([
      ['A pizza.', 0],
      ['With olives.', 0],
      ['With olives.', 1],
    ]);
  });
});
