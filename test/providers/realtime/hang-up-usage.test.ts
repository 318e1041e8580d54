import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import * as gemini from './gemini-live/scene.js';
import * as openai from './openai-realtime/scene.js';

// What the sessions wait for behind a call is timed by the system's clock.
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const usage = { input_tokens: 640, output_tokens: 172 };

describe('a hang-up while OpenAI Realtime answers', () => {
  const openAnswering = () => {
    const scene = openai.openReady();
    scene.vendor.socket.says(openai.created('r1'));
    scene.vendor.socket.says(openai.audio('r1'));
    scene.told.length = 0;
    scene.session.close();
    return scene;
  };

  it('stops the answer, and waits for what it has cost', () => {
    const { vendor, told, guesses, last } = openAnswering();
    expect(last()).toMatchObject({ type: 'response.cancel', response_id: 'r1' });
    expect(vendor.socket.closed).toBe(false);
    vendor.socket.says(openai.audio('r1'));
    vendor.socket.says(openai.done('r1', { status: 'cancelled', usage }));
    expect(vendor.socket.closed).toBe(true);
    vi.advanceTimersByTime(5000);
    expect([told.length, told[0]?.split(' ')[0], guesses]).toEqual([1, 'usage', []]);
  });

  it('guesses it after a second', () => {
    const { vendor, told, guesses } = openAnswering();
    vi.advanceTimersByTime(999);
    expect(guesses).toEqual([]);
    vi.advanceTimersByTime(1);
    // 100 ms of speech, and the instructions.
    expect(guesses).toMatchObject([{ inputTextTokens: 3, outputAudioTokens: 2, isGuess: true }]);
    expect([vendor.socket.closed, told]).toEqual([true, []]);
    vendor.socket.says(openai.done('r1', { usage }));
    vi.advanceTimersByTime(5000);
    expect(guesses).toHaveLength(1);
  });

  it('guesses it at once where the connection is gone, and makes no other one', () => {
    const { vendor, guesses, clock } = openAnswering();
    vendor.socket.ends();
    clock.advance(5000);
    vi.advanceTimersByTime(5000);
    expect(guesses).toHaveLength(1);
    expect(vendor.sockets).toHaveLength(1);
  });

  it('guesses it also of an answer that was asked for and has not begun', () => {
    const { session, guesses } = openai.openReady();
    session.respond();
    session.close();
    vi.advanceTimersByTime(1000);
    expect(guesses).toHaveLength(1);
  });

  it('guesses by what the answer before has read', () => {
    const { vendor, session, guesses } = openai.openReady();
    vendor.socket.says(openai.created('r1'));
    vendor.socket.says(openai.done('r1', { usage }));
    vendor.socket.says(openai.created('r2'));
    session.close();
    vi.advanceTimersByTime(1000);
    expect(guesses).toMatchObject([{ inputTextTokens: 640, outputTextTokens: 0, isGuess: true }]);
  });

  it('closes at once where nothing is open', () => {
    const { vendor, session, guesses } = openai.openReady();
    vendor.socket.says(openai.created('r1'));
    vendor.socket.says(openai.done('r1', { usage }));
    session.close();
    expect([vendor.socket.closed, guesses, vi.getTimerCount()]).toEqual([true, [], 0]);
  });
});

describe('a connection that breaks while an answer is made', () => {
  it('has its cost guessed: OpenAI Realtime', () => {
    const { vendor, guesses, clock } = openai.openReady();
    clock.advance(2000);
    vendor.socket.says(openai.created('r1'));
    vendor.socket.ends();
    expect(guesses).toHaveLength(1);
  });

  it('has its cost guessed: Gemini Live', () => {
    const { vendor, guesses, clock, says } = gemini.openReady();
    clock.advance(2000);
    says(gemini.audio);
    vendor.socket.ends();
    expect(guesses).toHaveLength(1);
  });

  it('has its cost guessed when the session has failed by it', () => {
    const { vendor, guesses, told } = openai.openReady();
    vendor.socket.says(openai.created('r1'));
    vendor.socket.says(openai.error('insufficient_quota'));
    expect(told.at(-1)).toMatch(/^failed/);
    expect([guesses.length, vi.getTimerCount()]).toEqual([1, 0]);
  });
});

describe('a hang-up while Gemini Live answers', () => {
  it('waits for what it has cost', () => {
    const { vendor, session, news, says, guesses } = gemini.openReady();
    says(gemini.audio);
    news();
    session.close();
    expect(vendor.socket.closed).toBe(false);
    says({ ...gemini.complete, usageMetadata: { promptTokenCount: 100, responseTokenCount: 20 } });
    expect(vendor.socket.closed).toBe(true);
    vi.advanceTimersByTime(5000);
    expect([news().map((line) => line.split(' ')[0]), guesses]).toEqual([['usage'], []]);
  });

  it('guesses it after a second', () => {
    const { vendor, session, says, guesses } = gemini.openReady();
    says(gemini.audio);
    session.close();
    vi.advanceTimersByTime(1000);
    // 20 ms of speech.
    expect(guesses).toMatchObject([{ outputAudioTokens: 1, isGuess: true }]);
    expect(vendor.socket.closed).toBe(true);
  });
});
