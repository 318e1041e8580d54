// What the agent is asked and told beside audio, what becomes of it when connections and conversations end, and tools.
import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../../../src/providers/language-model.js';
import { beginScene, openScene } from './scene.js';

const GO_ON = { type: 'user_message', text: '(The caller waits for your answer.)' };
const HISTORY: readonly ChatMessage[] = [
  { role: 'user', content: 'What does it cost?' },
  {
    role: 'assistant',
    content: 'One moment.',
    toolCalls: [{ id: 'c1', name: 'look_up', arguments: {}, argumentsText: '{}' }],
  },
  { role: 'tool', content: '{"price":10}', toolCallId: 'c1' },
  { role: 'system', content: 'Recorded' },
];
const TOLD = [
  'The conversation so far, which goes on now:',
  'Caller: What does it cost?',
  'You: One moment.',
  '(You used look_up: {})',
  '(A tool gave: {"price":10})',
  '(Recorded)',
].join('\n');

describe('asking', () => {
  it('has a text said by the language model, when it is no greeting', () => {
    const { session, sent } = beginScene();
    session.say('Are you "there"?');
    expect(sent()).toEqual([
      {
        type: 'user_message',
        text: '(Say exactly this, word for word, and nothing before or after it:) "Are you \\"there\\"?"',
      },
    ]);
  });

  it('puts keys to the agent together with the wish for an answer', () => {
    const { session, sent } = beginScene();
    session.addText({ role: 'user', text: 'The caller pressed 1' });
    session.addText({ role: 'system', text: 'The office is closed.' });
    expect(sent()).toEqual([{ type: 'contextual_update', text: 'The office is closed.' }]);
    session.respond();
    session.respond();
    expect(sent()).toEqual([{ type: 'user_message', text: 'The caller pressed 1' }]);
  });

  it('tells keys that nobody asked an answer to before the caller is answered', () => {
    const { session, agent, sent } = beginScene();
    session.addText({ role: 'user', text: 'The caller pressed 1' });
    agent.hears('So');
    session.respond();
    expect(sent()).toEqual([{ type: 'contextual_update', text: 'The caller pressed 1' }]);
  });

  it('does not ask for what the agent answers by itself', () => {
    const { session, agent, sent } = beginScene();
    agent.heard('What does it cost?');
    session.respond();
    session.respond();
    expect(sent()).toEqual([]);
  });

  it('gives an empty answer where there is nothing to be answered', () => {
    const { session, agent, sent, told, clock } = beginScene();
    agent.heard('What does it cost?');
    agent.answers(1, 'Ten.');
    told.length = 0;
    session.respond();
    clock.advance(1);
    expect(told).toEqual(['start answer-2', 'end answer-2 complete']);
    expect(sent()).toEqual([]);
  });

  it('waits until the agent has finished', () => {
    const { session, agent, sent } = beginScene();
    agent.text(1, 'Good day.');
    session.say('Are you there?');
    expect(sent()).toEqual([]);
    agent.complete(2);
    expect(sent()).toHaveLength(1);
  });

  it('forgets what waits when the caller takes the floor', () => {
    const { session, agent, sent } = beginScene();
    agent.text(1, 'Good day.');
    session.say('Are you there?');
    agent.interrupted(2);
    expect(sent()).toEqual([]);
  });
});

describe('cancelling', () => {
  it('drops the rest of the answer, which is asked for anew when somebody wants one', () => {
    const { session, agent, sent, told } = beginScene();
    agent.heard('What does it cost?');
    agent.text(1, 'Ten.');
    agent.audio(2);
    told.length = 0;
    session.cancel();
    agent.audio(3);
    session.respond();
    expect(sent()).toEqual([]);
    agent.complete(4);
    expect(told).toEqual(['end answer-1 interrupted']);
    expect(sent()).toEqual([GO_ON]);
  });

  it('skips an answer that has not begun, tools included', () => {
    const { session, agent, sent, told } = beginScene();
    agent.heard('What does it cost?');
    told.length = 0;
    session.cancel();
    agent.text(1, 'One moment.');
    agent.calls('c1');
    agent.complete(2);
    expect(told).toEqual([]);
    expect(sent()).toMatchObject([{ type: 'client_tool_result', tool_call_id: 'c1', is_error: true }]);
    session.respond();
    agent.answers(3, 'Ten.');
    expect(told).toContain('text agent-2 Ten.');
  });

  it('from inside an event stops the very answer that begins', () => {
    const scene = beginScene({
      on: (line, session) => line.startsWith('start') && session().cancel(),
    });
    scene.agent.answers(1, 'Ten.');
    expect(scene.told).toEqual(['start answer-1', 'end answer-1 interrupted']);
  });
});

describe('tools', () => {
  it('are called when what was said before them has come, and their results sent', () => {
    const { session, agent, sent, told, clock } = beginScene();
    agent.text(1, 'One moment.');
    agent.calls('c1');
    agent.calls('c1');
    agent.audio(2);
    clock.advance(299);
    expect(told.at(-1)).toBe('audio agent-1 800');
    clock.advance(1);
    expect(told.at(-1)).toBe('end answer-1 tool-calls c1');
    session.giveResults([{ toolCallId: 'c1', result: '{"price":10}' }]);
    session.respond();
    expect(sent()).toEqual([
      { type: 'client_tool_result', tool_call_id: 'c1', result: '{"price":10}', is_error: false },
    ]);
  });

  it('are called at once where nothing was said, and a failure is told as one', () => {
    const { session, agent, sent, told } = beginScene();
    agent.calls('c1');
    expect(told).toEqual(['start answer-1', 'end answer-1 tool-calls c1']);
    session.giveResults([{ toolCallId: 'c1', result: '{"error":"no price"}' }]);
    expect(sent()).toMatchObject([{ is_error: true }]);
  });

  it('of which the agent knows and the call does not are refused', () => {
    const { agent, sent, told } = beginScene();
    agent.calls('c1', { tool_name: 'open_door' });
    expect(told).toEqual([]);
    expect(sent()).toMatchObject([{ type: 'client_tool_result', tool_call_id: 'c1', is_error: true }]);
  });

  it('that the agent does not wait for have no result', () => {
    const { session, agent, sent } = beginScene();
    agent.calls('c1', { expects_response: false });
    session.giveResults([{ toolCallId: 'c1', result: 'null' }]);
    session.respond();
    expect(sent()).toEqual([]);
  });

  it('tell the agent their results in another conversation, too', () => {
    const { session, agent, sent, vendor, clock } = beginScene();
    agent.calls('c1');
    vendor.socket.ends();
    clock.advance(2000);
    vendor.socket.opens();
    agent.begins();
    sent();
    session.giveResults([{ toolCallId: 'c1', result: '10' }]);
    session.respond();
    expect(sent()).toEqual([{ type: 'contextual_update', text: '(A tool gave: 10)' }, GO_ON]);
  });
});

describe('a conversation that another model began', () => {
  it.each([
    ['the caller has spoken last', HISTORY.slice(0, 1), [GO_ON]],
    ['a tool was done last', HISTORY, [GO_ON]],
    ['the other one has answered', HISTORY.slice(0, 2), []],
  ])('is answered once where %s', (_, history, asked) => {
    const { vendor, agent, session, sent } = openScene({ instructions: 'You bake.', history });
    session.respond();
    vendor.socket.opens();
    sent();
    agent.begins();
    expect(sent()).toEqual(asked);
    if (asked.length > 0) agent.answers(1, 'Ten.');
    session.respond();
    expect(sent()).toEqual([]);
  });
});

describe('another conversation in the place of a lost one', () => {
  it('knows what was said by its prompt, does not greet, and hears what was said meanwhile', () => {
    const scene = openScene({ instructions: 'You bake.', greeting: 'Hello.', history: HISTORY });
    const { vendor, clock, agent, told, session, sent } = scene;
    vendor.socket.opens();
    agent.begins();
    clock.advance(2000);
    agent.text(1, 'Hello.');
    vendor.socket.ends();
    clock.advance(2000);
    session.pushAudio(new Uint8Array(160));
    vendor.socket.opens();
    sent();
    agent.begins();
    expect(told.slice(-2)).toEqual(['lost', 'reconnected 2000']);
    expect(vendor.socket.messages).toEqual([
      {
        type: 'conversation_initiation_client_data',
        conversation_config_override: {
          agent: { prompt: { prompt: `You bake.\n\n${TOLD}` }, first_message: '' },
        },
        user_id: 'call',
      },
      { user_audio_chunk: Buffer.alloc(160).toString('base64') },
    ]);
    session.respond();
    expect(sent()).toEqual([GO_ON]);
  });

  it('is sent once more what the one before has made no turn of', () => {
    const { vendor, clock, agent, session } = openScene();
    vendor.socket.opens();
    agent.begins();
    session.pushAudio(new Uint8Array(160).fill(1));
    agent.heard('Three loaves.');
    session.pushAudio(new Uint8Array(160).fill(2));
    session.pushAudio(new Uint8Array(160).fill(3));
    clock.advance(2000);
    vendor.socket.ends();
    clock.advance(1);
    vendor.socket.opens();
    agent.begins();
    const chunks = vendor.socket.messages.flatMap(({ user_audio_chunk: chunk }) =>
      typeof chunk === 'string' ? [Buffer.from(chunk, 'base64')[0]] : [],
    );
    expect(chunks).toEqual([2, 3]);
  });

  it('has words of its own for what the one before had not heard to its end', () => {
    const { vendor, clock, agent, told, session } = openScene();
    vendor.socket.opens();
    agent.begins();
    session.pushAudio(new Uint8Array(160).fill(1));
    agent.hears('Three');
    clock.advance(2000);
    vendor.socket.ends();
    clock.advance(1);
    vendor.socket.opens();
    agent.begins();
    agent.heard('Three loaves.');
    const words = told.filter((line) => line.includes('caller-'));
    expect(words).toEqual(['~caller-1: Three', 'spoke caller-2 2001', 'caller-2: Three loaves.']);
  });

  it('is asked what was wanted before there was any', () => {
    const { vendor, clock, agent, session, sent } = openScene();
    session.addText({ role: 'user', text: 'The caller pressed 1' });
    session.respond();
    vendor.socket.ends();
    clock.advance(2000);
    vendor.socket.opens();
    agent.begins();
    expect(sent()).toContainEqual({ type: 'user_message', text: 'The caller pressed 1' });
  });

  it('is heard from its first words, whatever their number', () => {
    const { vendor, clock, agent, told } = beginScene();
    agent.heard('Three loaves.', 1);
    clock.advance(2000);
    vendor.socket.ends();
    clock.advance(0);
    vendor.socket.opens();
    agent.begins();
    agent.heard('And two rolls.', 1);
    expect(told.at(-1)).toBe('caller-2: And two rolls.');
  });

  it('is told as lost once, and not where there was none yet', () => {
    const { vendor, clock, agent, told } = openScene();
    const breaks = () => {
      vendor.socket.opens();
      vendor.socket.ends();
      clock.advance(300);
    };
    breaks();
    vendor.socket.opens();
    agent.begins();
    clock.advance(2000);
    told.length = 0;
    vendor.socket.ends();
    clock.advance(1);
    breaks();
    vendor.socket.opens();
    agent.begins();
    expect(told.filter((line) => !line.startsWith('usage'))).toEqual(['lost', 'reconnected 301']);
  });

  it('is told beside it where the prompt may not be replaced', () => {
    const overrides = { prompt: false, firstMessage: false };
    const scene = openScene({ instructions: 'You bake.', history: HISTORY, overrides });
    scene.vendor.socket.opens();
    scene.agent.begins();
    expect(scene.sent()).toEqual([
      { type: 'conversation_initiation_client_data', user_id: 'call' },
      { type: 'contextual_update', text: TOLD },
    ]);
  });

  it('follows one that has lasted as long as it may', () => {
    const { agent, clock, vendor, told } = beginScene();
    clock.advance(2000);
    agent.closes(1000, 'too long', 'max_duration_exceeded');
    clock.advance(1);
    vendor.socket.opens();
    agent.begins();
    expect(told).toEqual(['usage 2', 'lost', 'reconnected 1']);
  });
});

describe('an agent that ends the conversation', () => {
  it('ends the call behind what it has said', () => {
    const { agent, told, clock } = beginScene();
    clock.advance(2000);
    agent.text(1, 'Goodbye.');
    agent.audio(2);
    agent.closes(1000);
    expect(told.slice(-2)).toEqual(['usage 2', 'end answer-1 tool-calls hung-up']);
  });

  it('does it in an answer of its own when it has finished', () => {
    const { agent, told, session, sent } = beginScene();
    agent.answers(1, 'Goodbye.');
    told.length = 0;
    agent.closes(1000);
    expect(told).toEqual(['start answer-2', 'end answer-2 tool-calls hung-up']);
    session.giveResults([{ toolCallId: 'hung-up', result: 'The call ends.' }]);
    session.respond();
    expect(sent()).toEqual([]);
    expect(told.at(-1)).toBe('failed ElevenLabs Agents ended the conversation.');
  });

  it('is a failure where the call has no tool that ends it', () => {
    const { agent, told } = beginScene({ tools: [] });
    agent.answers(1, 'Goodbye.');
    told.length = 0;
    agent.closes(1000);
    expect(told).toEqual(['failed ElevenLabs Agents ended the conversation.']);
  });

  it('has said something before: a close in front of the first word is a lost connection', () => {
    const { agent, told } = beginScene();
    agent.closes(1000);
    expect(told.join()).not.toContain('hung-up');
    expect(told.join()).not.toContain('failed');
  });
});

describe('the end of a conversation', () => {
  it.each([
    [
      1008,
      "Override for field 'first_message' is not allowed",
      'override_error',
      'the override of the first message (1008, override_error): allow it in',
    ],
    [
      1008,
      'Override for field is not allowed by config.',
      '',
      "refused an override (1008): allow it in the agent's security settings, or turn it off by overrides",
    ],
    [1008, 'Missing variables', 'missing_dynamic_variable', 'say it by dynamicVariables'],
    [1008, 'secret words', 'invalid_message', 'closed the connection (1008, secret)'],
    [3000, 'secret words', '', 'has no such agent, or one that needs an apiKey of its own workspace (3000)'],
  ])('by %i «%s» names the fix', (code, reason, type, sentence) => {
    const scene = openScene();
    scene.vendor.socket.opens();
    scene.agent.closes(code, reason, type);
    expect(scene.failures[0]?.message).toContain(sentence);
    expect(scene.failures[0]).toMatchObject({ retryable: false });
  });

  it.each([1002, 1006, 1011])('by %i is followed by another one', (code) => {
    const { agent, clock, vendor, told } = beginScene();
    clock.advance(2000);
    agent.closes(code, 'a failure', 'llm_timeout');
    clock.advance(1);
    expect(vendor.sockets).toHaveLength(2);
    expect(told).not.toContain('failed');
  });

  it('answers pings at once, and notes what it does not know once', () => {
    const { agent, sent, vendor, logger } = beginScene();
    agent.pings(7);
    for (let time = 0; time < 2; time += 1) vendor.socket.says({ type: 'queue_status' });
    vendor.socket.says('no JSON');
    expect(sent()).toEqual([{ type: 'pong', event_id: 7 }]);
    expect(logger.sentences('debug')).toHaveLength(2);
  });
});
