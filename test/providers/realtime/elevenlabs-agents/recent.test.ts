import { describe, expect, it } from 'vitest';
import { beginScene } from './scene.js';

/** One second of mu-law. */
const SECOND = { bytes: 8000 };

describe('an interruption that is told behind newer audio', () => {
  it('stops the old answer and leaves the new one, which nobody announced', () => {
    const { agent, told } = beginScene();
    agent.text(1, 'We open at eight.');
    agent.audio(2, SECOND);
    agent.audio(7);
    agent.audio(8, { bytes: 400 });
    told.length = 0;
    agent.interrupted(5);
    agent.audio(9);
    expect(told).toEqual([
      'speech',
      'interrupted',
      'end answer-1 interrupted',
      'spoke caller-1 0',
      'start answer-2',
      'audio agent-2 800',
      'audio agent-2 400',
      'audio agent-2 800',
    ]);
  });

  it('leaves the new one that was announced, and its words', () => {
    const { agent, told } = beginScene();
    agent.text(1, 'We open at eight.');
    agent.audio(2, SECOND);
    agent.heard('And on Sunday?', 6);
    agent.text(7, 'On Sunday we are closed.');
    agent.audio(8);
    told.length = 0;
    agent.interrupted(5);
    expect(told).toEqual([
      'interrupted',
      'end answer-2 interrupted',
      'start answer-3',
      'text agent-3 On Sunday we are closed.',
      'audio agent-3 800',
    ]);
  });

  it('leaves a new one that is complete', () => {
    const { agent, told } = beginScene();
    agent.text(1, 'We open at eight.');
    agent.audio(2, SECOND);
    agent.heard('And on Sunday?', 6);
    agent.answers(7, 'Closed.');
    told.length = 0;
    agent.interrupted(5);
    expect(told).toEqual([
      'interrupted',
      'start answer-3',
      'text agent-3 Closed.',
      'audio agent-3 800',
      'end answer-3 complete',
    ]);
  });

  it('changes nothing once the old answer has been heard', () => {
    const { agent, clock, told } = beginScene();
    agent.text(1, 'We open at eight.');
    agent.audio(2, SECOND);
    clock.advance(1501);
    agent.heard('And on Sunday?', 6);
    agent.audio(7);
    told.length = 0;
    agent.interrupted(5);
    expect(told).toEqual([]);
  });

  it('changes nothing where the beginning of the new one is not known any more', () => {
    const { agent, clock, told } = beginScene();
    agent.audio(2, { bytes: 80_000 });
    agent.audio(7);
    clock.advance(3000);
    agent.audio(8);
    told.length = 0;
    agent.interrupted(5);
    expect(told).toEqual(['speech']);
  });

  it('is not told anew to a caller who may not interrupt', () => {
    const { agent, told } = beginScene({ interruptible: false });
    agent.audio(2, SECOND);
    agent.audio(7);
    told.length = 0;
    agent.interrupted(5);
    agent.audio(8);
    expect(told).toEqual(['speech', 'end answer-1 interrupted', 'start answer-2', 'audio agent-2 800']);
  });
});

describe('what is told out of its order', () => {
  it('is dropped where an interruption came before it', () => {
    const { agent, told } = beginScene();
    agent.audio(2, SECOND);
    agent.interrupted(5);
    told.length = 0;
    agent.audio(4);
    agent.text(3, 'We open at eight.');
    expect(told).toEqual([]);
  });

  it('does not have the caller speak again who has finished', () => {
    const { agent, told } = beginScene();
    agent.audio(2, SECOND);
    agent.heard('And on Sunday?', 6);
    told.length = 0;
    agent.interrupted(5);
    agent.answers(7, 'Closed.');
    expect(told).toEqual([
      'interrupted',
      'start answer-2',
      'text agent-2 Closed.',
      'audio agent-2 800',
      'end answer-2 complete',
    ]);
  });

  it('corrects the answer that it speaks of, not the one that came since', () => {
    const { agent, told, vendor } = beginScene();
    agent.answers(1, 'We open at eight.');
    agent.heard('And on Sunday?', 6);
    agent.text(7, 'Closed.');
    told.length = 0;
    vendor.socket.says({
      type: 'agent_response_correction',
      agent_response_correction_event: {
        original_agent_response: 'We open at eight.',
        corrected_agent_response: 'We open',
      },
    });
    expect(told).toEqual(['heard agent-1 We open']);
  });
});

describe('a message that comes twice', () => {
  it.each([
    ['audio', (agent: ReturnType<typeof beginScene>['agent']) => agent.audio(8)],
    ['an interruption, behind newer audio', (agent) => agent.interrupted(5)],
    ['a tool call', (agent) => agent.calls('c1')],
    ['the words of the caller', (agent) => agent.heard('And on Sunday?', 6)],
    ['the formats', (agent) => agent.begins()],
  ] satisfies [string, (agent: ReturnType<typeof beginScene>['agent']) => void][])(
    'acts once: %s',
    (_, again) => {
      const { agent, told } = beginScene();
      agent.audio(2, SECOND);
      agent.interrupted(5);
      agent.heard('And on Sunday?', 6);
      agent.calls('c1');
      agent.audio(8);
      told.length = 0;
      again(agent);
      expect(told).toEqual([]);
    },
  );

  it('is a new tool call in another conversation', () => {
    const { agent, told, vendor, clock } = beginScene();
    agent.calls('c1');
    clock.advance(2000);
    vendor.socket.ends();
    clock.advance(300);
    vendor.socket.opens();
    agent.begins();
    told.length = 0;
    agent.calls('c1');
    expect(told.at(-1)).toMatch(/^end .* tool-calls c1$/);
  });
});

describe('formats', () => {
  it('of another conversation, or told late, may be others', () => {
    const { agent, told, vendor, clock } = beginScene();
    agent.begins('ulaw_8000', 'pcm_16000');
    clock.advance(2000);
    vendor.socket.ends();
    clock.advance(300);
    vendor.socket.opens();
    agent.begins('pcm_16000', 'pcm_16000');
    expect(told.filter((line) => !line.startsWith('usage'))).toEqual([
      'formats mulaw8000 pcm16000',
      'lost',
      'formats pcm16000 pcm16000',
      'reconnected 300',
    ]);
  });
});
