// A server of its own process, to be killed: whole, with the local stack. Its settings come as JSON; says when it listens.
import { CarrierA, CarrierB, Offhook, tts } from './child-server.mjs';

/** Looks up what it is asked to, and says what came of that. Its calls are those of the tool below. */
const lookingUp = {
  name: 'looking-up',
  /**
   * @param {import('../../src/index.js').LanguageModelRequest} request
   * @returns {AsyncGenerator<import('../../src/index.js').LanguageModelEvent>}
   */
  async *respond({ messages }) {
    const { role, content } = messages.at(-1) ?? {};
    if (role === 'tool') {
      const isFound = content?.includes('It is found') === true;
      yield { type: 'text', delta: isFound ? 'Here it is.' : 'That is not certain.' };
    } else if (/look/i.test(content ?? ''))
      yield {
        type: 'tool-call',
        id: `call_${messages.length}`,
        name: 'look_up',
        arguments: {},
        argumentsText: '{}',
      };
    else yield { type: 'text', delta: `I heard: ${content}` };
  },
};

/** @typedef {{ carrier: { id: 'carrier-a' | 'carrier-b', options: object }, agent: { looksUp?: true }, speaksInTones?: true, billing?: { say?: string }, serve: object, number: string, host: string }} Settings */
const settings = /** @type {Settings} */ (JSON.parse(process.argv[2] ?? ''));
const { id, options } = settings.carrier;
const carrier = id === 'carrier-a' ? new CarrierA(options) : new CarrierB(options);
const phone = new Offhook({ carrier, phoneNumber: settings.number, webhookUrl: settings.host });
/** @param {object} message */
const tell = (message) => void process.send?.(message);
const { looksUp, ...agentOptions } = settings.agent;
const { speaksInTones } = settings;
const isBill = /\bbill\b/i;
/** Hands over a caller who asks for a bill, or says who it is. @param {string} name @param {string} [to] @returns {import('../../src/index.js').LanguageModel} */
const modelOf = (name, to) => ({
  name: `test/${name}`,
  async *respond({ messages }) {
    const last = messages.at(-1);
    const isAsked = isBill.test(messages.findLast(({ role }) => role === 'user')?.content ?? '');
    // It tries again where the caller was in its way, or a busy machine.
    const isDone = last?.role === 'tool' && !last.content.includes('Not done');
    if (to === undefined || !isAsked || isDone) {
      yield { type: 'text', delta: `This is ${name}, who helps you.` };
      return;
    }
    yield { type: 'text', delta: 'I put you through to somebody who knows bills.' };
    const args = { to, summary: 'Asks for a bill.' };
    const id = `call_${messages.length}`;
    yield { type: 'tool-call', id, name: 'hand_off', arguments: args, argumentsText: JSON.stringify(args) };
  },
});
const { billing } = settings;
if (billing !== undefined) phone.agent({ name: 'billing', idle: false, tts, llm: modelOf('billing') });
const handing = billing && {
  tts,
  llm: modelOf('desk', 'bills'),
  handoffs: { bills: { agent: 'billing', when: 'bills', say: billing.say } },
};
const agent = phone.agent({
  name: 'desk',
  ...(speaksInTones && { tts }),
  ...handing,
  // What is said then depends on how busy the machine is.
  turnTaking: { fillers: [] },
  ...agentOptions,
  ...(looksUp && { llm: lookingUp }),
  tools: [
    {
      name: 'look_up',
      description: 'Looks something up.',
      /** @param {unknown} _ @param {{ idempotencyKey: string }} call */
      execute: (_, { idempotencyKey }) => {
        tell({ tool: idempotencyKey });
        return new Promise((resolve) => setTimeout(() => resolve('It is found.'), 3000));
      },
    },
  ],
});
const { events } = await phone.serve({
  agent,
  host: '127.0.0.1',
  manageWebhook: false,
  ...settings.serve,
  onCallStart: ({ callId }) => tell({ started: callId }),
  onCallEnd: (record) => tell({ ended: record }),
});
events.subscribe((fact) => tell({ fact }));
process.on(
  'message',
  async (
    /** @type {{ call?: object, transfer?: [callId: string, to: string], disconnect?: true, drain?: true }} */ order,
  ) => {
    if (order.call !== undefined) tell({ placed: await phone.call(/** @type {any} */ (order.call)) });
    if (order.transfer !== undefined) await phone.transfer(...order.transfer);
    if (order.disconnect) await phone.disconnect();
    if (order.drain) {
      await phone.drain();
      tell({ drained: true });
    }
  },
);
tell({ listening: true });
