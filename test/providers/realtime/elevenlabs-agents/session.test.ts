import { describe, expect, it } from 'vitest';
import type { ElevenLabsAgentsSession } from '../../../../src/providers/realtime/elevenlabs-agents/session.js';
import { beginScene, openScene } from './scene.js';

const LOUD = new Uint8Array(160).fill(0x80);
const QUIET = new Uint8Array(160).fill(0xff);

describe('the beginning of a conversation', () => {
  it('replaces what the recipe may replace, and nothing that is not set', () => {
    const scene = openScene({
      instructions: 'You bake.',
      language: 'de-CH',
      greeting: 'Grüezi.',
      overrides: { voice: 'voice-1' },
      dynamicVariables: { shop: 'north' },
    });
    scene.vendor.socket.opens();
    expect(scene.sent()).toEqual([
      {
        type: 'conversation_initiation_client_data',
        conversation_config_override: {
          agent: { prompt: { prompt: 'You bake.' }, first_message: 'Grüezi.', language: 'de' },
          tts: { voice_id: 'voice-1' },
        },
        dynamic_variables: { shop: 'north' },
        user_id: 'call',
      },
    ]);
    const plain = openScene();
    plain.vendor.socket.opens();
    expect(plain.sent()).toEqual([{ type: 'conversation_initiation_client_data', user_id: 'call' }]);
  });

  it('leaves to the agent what the recipe says', () => {
    const overrides = { prompt: false, firstMessage: false, language: false };
    const scene = openScene({ instructions: 'You bake.', language: 'de', greeting: 'Hello.', overrides });
    scene.vendor.socket.opens();
    expect(scene.sent()).toEqual([{ type: 'conversation_initiation_client_data', user_id: 'call' }]);
    scene.agent.begins();
    expect(scene.sent()).toEqual([]);
  });

  it('takes the formats that the agent has', () => {
    const scene = openScene();
    scene.vendor.socket.opens();
    scene.agent.begins('pcm_8000', 'pcm_24000');
    expect(scene.told).toEqual(['ready pcm8000 pcm24000']);
  });

  it.each([
    ['pcm_44100', 'ulaw_8000', 'user input'],
    ['ulaw_8000', 'pcm_22050', 'agent output'],
  ])('names the setting of formats that the house does not have (%s, %s)', (input, output, which) => {
    const scene = openScene();
    scene.vendor.socket.opens();
    scene.agent.begins(input, output);
    expect(scene.failures[0]?.message).toContain(`${which} audio format that no telephone takes`);
    expect(scene.failures[0]?.message).toContain('one of pcm_16000, ulaw_8000, pcm_24000, pcm_8000');
    expect(scene.vendor.socket.closed).toBe(true);
  });
});

describe('what the agent says', () => {
  it('is an answer from its first word to the event of its end, in whatever order they come', () => {
    const { agent, told } = beginScene();
    agent.audio(1);
    agent.text(2, 'Good day.');
    agent.audio(3);
    agent.complete(4);
    agent.text(5, 'At ten.');
    agent.audio(6, { is_final: true });
    expect(told).toEqual([
      'start answer-1',
      'audio agent-1 800',
      'text agent-1 Good day.',
      'audio agent-1 800',
      'end answer-1 complete',
      'start answer-2',
      'text agent-2 At ten.',
      'audio agent-2 800',
      'end answer-2 complete',
    ]);
  });

  it('is over when nothing more comes of it, where no end is told', () => {
    const { agent, told, clock } = beginScene();
    agent.text(1, 'Good day.');
    agent.audio(2);
    clock.advance(900);
    agent.audio(3);
    clock.advance(900);
    expect(told.at(-1)).toBe('audio agent-1 800');
    clock.advance(100);
    expect(told.at(-1)).toBe('end answer-1 complete');
  });

  it('is another answer when another whole text comes, and the same one when it is repeated', () => {
    const { agent, told } = beginScene();
    agent.text(1, 'Good day.');
    agent.text(1, 'Good day.');
    agent.text(3, 'At ten.');
    expect(told).toEqual([
      'start answer-1',
      'text agent-1 Good day.',
      'end answer-1 complete',
      'start answer-2',
      'text agent-2 At ten.',
    ]);
  });

  it('is not said twice where its words come in pieces, too', () => {
    const { vendor, agent, told } = beginScene();
    for (const text of ['Good ', 'day.'])
      vendor.socket.says({
        type: 'agent_chat_response_part',
        text_response_part: { text, type: 'delta', event_id: 1 },
      });
    agent.text(1, 'Good day.');
    expect(told).toEqual(['start answer-1', 'text agent-1 Good ', 'text agent-1 day.']);
  });

  it('has no end of tools, of which no more are kept than anybody takes', () => {
    const { agent, told } = beginScene();
    agent.text(1, 'One moment.');
    for (let index = 0; index < 1000; index += 1) agent.calls(`c${index}`);
    agent.complete(2);
    expect(told.at(-1)?.split(' ')).toHaveLength(128 + 3);
  });

  it('waits for its words, when its audio has ended', () => {
    const { agent, told } = beginScene();
    agent.audio(1, { is_final: true });
    expect(told.at(-1)).toBe('audio agent-1 800');
    agent.text(1, 'Good day.');
    agent.complete(2);
    expect(told.at(-1)).toBe('end answer-1 complete');
  });
});

describe('the caller', () => {
  it('is heard once in what the engine has kept of them until the agent is ready', () => {
    const frame = (value: number) => new Uint8Array(160).fill(value);
    const on = (line: string, session: () => ElevenLabsAgentsSession) => {
      if (line.startsWith('ready')) session().pushAudio(frame(7));
    };
    const { vendor, agent, session } = openScene({ on });
    vendor.socket.opens();
    agent.begins();
    session.pushAudio(frame(8));
    const sent = vendor.socket.messages.flatMap(({ user_audio_chunk: audio }) =>
      audio === undefined ? [] : [Buffer.from(String(audio), 'base64')[0]],
    );
    expect(sent).toEqual([7, 8]);
  });

  it('is told as they speak, and when they have finished', () => {
    const { agent, told } = beginScene();
    agent.hears('Three');
    agent.hears('Three loaves');
    agent.heard('Three loaves, please.', 4);
    agent.heard('Three loaves, please.', 4);
    expect(told).toEqual([
      'speech',
      '~caller-1: Three',
      '~caller-1: Three loaves',
      'spoke caller-1 0',
      'caller-1: Three loaves, please.',
    ]);
  });

  it('was last heard when their audio was last loud', () => {
    const { agent, told, session, clock } = beginScene();
    session.pushAudio(LOUD);
    clock.advance(20);
    session.pushAudio(QUIET);
    clock.advance(480);
    agent.heard('Yes.');
    expect(told).toContain('spoke caller-1 500');
  });

  it('was last heard when the agent scored it as speech, where it tells scores', () => {
    const { agent, told, session, clock } = beginScene();
    agent.scores(0.9);
    clock.advance(300);
    session.pushAudio(LOUD);
    agent.scores(0.1);
    clock.advance(300);
    agent.heard('Yes.');
    expect(told).toContain('spoke caller-1 600');
  });

  it('has said nothing when the agent writes dots', () => {
    const { agent, told } = beginScene();
    agent.heard('...');
    expect(told).toEqual([]);
  });

  it('has finished when the agent speaks, and their words may come then', () => {
    const { agent, told } = beginScene();
    agent.hears('Three');
    agent.text(5, 'How many?');
    agent.heard('Three loaves.', 4);
    agent.complete(6);
    agent.hears('Hm');
    agent.answers(8, 'Pardon?');
    expect(told.filter((line) => /caller|speech|start/.test(line))).toEqual([
      'speech',
      '~caller-1: Three',
      'spoke caller-1 0',
      'start answer-1',
      'caller-1: Three loaves.',
      'speech',
      '~caller-2: Hm',
      'spoke caller-2 0',
      'start answer-2',
      'caller-2: ',
    ]);
  });

  it('interrupts, and nothing up to the number of that is heard any more', () => {
    const { agent, told } = beginScene();
    agent.text(1, 'Good day to you.');
    agent.audio(2);
    agent.interrupted(4);
    agent.audio(3);
    agent.audio(4);
    agent.complete(4);
    agent.corrects('Good');
    agent.audio(5);
    expect(told.slice(3)).toEqual([
      'speech',
      'interrupted',
      'end answer-1 interrupted',
      'heard agent-1 Good',
      'spoke caller-1 0',
      'start answer-2',
      'audio agent-2 800',
    ]);
  });

  it('does not interrupt an answer that came behind the number', () => {
    const { agent, told } = beginScene();
    agent.text(5, 'Good day.');
    agent.interrupted(4);
    agent.audio(6);
    expect(told).toEqual(['start answer-1', 'text agent-1 Good day.', 'speech', 'audio agent-1 800']);
  });

  it('does not interrupt where nobody may, and takes the floor later', () => {
    const { agent, told, session } = beginScene({ interruptible: false });
    agent.text(1, 'Good day.');
    agent.interrupted(2);
    agent.corrects('Good');
    expect(told.filter((line) => /^(heard|interrupted)/.test(line))).toEqual([]);
    session.update({ interruptible: true });
    agent.interrupted(3);
    expect(told.filter((line) => line === 'interrupted')).toHaveLength(1);
  });
});

describe('time', () => {
  it('is told while it passes, and never twice', () => {
    const { clock, told, agent, session, vendor } = beginScene();
    clock.advance(10_000);
    expect(told).toEqual(['usage 10']);
    clock.advance(4000);
    vendor.socket.ends();
    clock.advance(1000);
    vendor.socket.opens();
    clock.advance(2000);
    agent.begins();
    clock.advance(500);
    session.close();
    session.close();
    clock.advance(60_000);
    expect(told.filter((line) => line.startsWith('usage'))).toEqual(['usage 10', 'usage 4', 'usage 2.5']);
  });
});
