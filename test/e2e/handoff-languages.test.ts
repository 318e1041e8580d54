// Agents that hand over to each other in calls of several languages, and whose voices are not the same: as whole calls on both carriers.
import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../src/base/errors.js';
import type { CallEvent } from '../../src/contract/call-event.js';
import type { SIMULATED_CARRIERS } from '../../src/contract/call-record.js';
import type { AgentOptions, LanguageModel, TextToSpeech } from '../../src/index.js';
import { SimulatedSpeechToText } from '../../src/providers/stt/index.js';
import { type CallerStep, openToneVoice } from '../../src/testing/index.js';
import { speakInTones } from '../../src/testing/tone-voice.js';
import { startAgentsPhone } from '../support/carrier-phone.js';
import { HandingModel } from '../support/handing-model.js';
import { REALTIME_VENDORS } from '../support/realtime-vendors.js';
import { playedOn } from '../support/rotated.js';

const WAIT: CallerStep = { type: 'wait-for-agent' };
const GERMAN: CallerStep = { type: 'say', text: 'Ich habe eine Frage zu meiner Rechnung.', language: 'de' };
const ENGLISH: CallerStep = { type: 'say', text: 'I have a question about my bill.', language: 'en' };
const when = 'questions about bills';

const voice = (name: string, isBroken = false): TextToSpeech => ({
  name,
  open: () => ({
    async *synthesize(text) {
      if (isBroken) throw new ProviderError('It is gone.', { status: null, retryable: false });
      yield speakInTones(text, { sampleRateHz: 16_000 });
    },
    close() {},
  }),
});

const answers: LanguageModel = {
  name: 'test/answers',
  async *respond() {
    yield { type: 'text', delta: 'Yes.' };
  },
};

async function start(
  id: (typeof SIMULATED_CARRIERS)[number],
  agents: readonly [AgentOptions, ...AgentOptions[]],
  simulator = {},
) {
  const running = await startAgentsPhone(id, agents, simulator);
  const facts: CallEvent[] = [];
  running.server.events.subscribe((fact) => void facts.push(fact));
  return { running, facts };
}

describe.each(playedOn('carrier-a'))('%s, agents of several languages', { timeout: 60_000 }, (id) => {
  const desk = (llm: LanguageModel, say?: AgentOptions['handoffs']): AgentOptions => ({
    name: 'desk',
    llm,
    languages: ['en', 'de'],
    tts: { en: voice('desk/english'), de: voice('desk/german') },
    handoffs: say ?? {},
  });
  const billing: AgentOptions = {
    name: 'billing',
    llm: answers,
    languages: ['en', 'de'],
    tts: { en: voice('billing/english'), de: voice('billing/german') },
  };

  it('say first what the caller understands, in the voice that the facts name', async () => {
    const llm = new HandingModel('desk', { to: 'bills', before: ['Yes.', 'Gern.'] });
    const say = { en: 'Billing here.', de: 'Hier ist die Buchhaltung.' };
    const { running, facts } = await start(id, [
      desk(llm, { bills: { agent: 'billing', when, say } }),
      billing,
    ]);
    await using phone = running;
    const script = [GERMAN, WAIT, GERMAN, WAIT, GERMAN, WAIT, WAIT, { type: 'hang-up' } as const];
    const report = await phone.simulator.call({ script, maxDurationMs: 60_000 });
    const record = await phone.record(report.carrierCallId);
    expect(record.turns.slice(-2).map(({ agent, agentText }) => [agent, agentText])).toEqual([
      ['billing', 'Hier ist die Buchhaltung.'],
      ['billing', 'Yes.'],
    ]);
    const provider = { tts: 'billing/german' };
    expect(facts.filter(({ type }) => type === 'agent.changed')).toMatchObject([
      { language: 'de', provider },
    ]);
    expect(record).toMatchObject({ agent: 'billing', language: 'de', provider });
  });

  it('fall back in the language of the caller, whose circuit is that of the voice that failed', async () => {
    const other = { stt: new SimulatedSpeechToText(), llm: answers, tts: voice('other/both') };
    const { running, facts } = await start(id, [
      {
        name: 'desk',
        firstMessage: 'Hello.',
        llm: answers,
        languages: ['en', 'de'],
        tts: { en: voice('desk/english'), de: voice('desk/german', true) },
        fallback: { engine: [other] },
      },
    ]);
    await using phone = running;
    const call = async (asks: CallerStep) => {
      const script = [WAIT, asks, WAIT, asks, WAIT, { type: 'hang-up' } as const];
      const report = await phone.simulator.call({ script, maxDurationMs: 60_000 });
      return phone.record(report.carrierCallId);
    };
    // As many as open a circuit.
    const failed = await Promise.all([1, 2, 3, 4, 5].map(() => call(GERMAN)));
    for (const record of failed)
      expect(record).toMatchObject({ language: 'de', provider: { tts: 'other/both' }, error: null });
    const replaced = facts.filter((fact) => fact.type === 'provider.replaced');
    expect(replaced.map(({ stage, from }) => [stage, from])).toEqual(
      failed.map(() => ['tts', 'desk/german']),
    );
    const english = await call(ENGLISH);
    expect(english).toMatchObject({ language: 'en', provider: { tts: 'desk/english' }, incidents: [] });
  });

  it('hand over to one who names no language, and the record names none', async () => {
    const llm = new HandingModel('desk', { to: 'bills', before: ['Yes.', 'Gern.'] });
    const { running } = await start(id, [
      desk(llm, { bills: { agent: 'billing', when, say: 'Hello.' } }),
      { name: 'billing', llm: answers, tts: voice('billing/any') },
    ]);
    await using phone = running;
    const script = [GERMAN, WAIT, GERMAN, WAIT, GERMAN, WAIT, WAIT, { type: 'hang-up' } as const];
    const report = await phone.simulator.call({ script, maxDurationMs: 60_000 });
    const record = await phone.record(report.carrierCallId);
    expect(record).toMatchObject({ agent: 'billing', language: null, provider: { tts: 'billing/any' } });
    expect(record.turns.slice(-2).map(({ agentText }) => agentText)).toEqual(['Hello.', 'Yes.']);
  });

  const [realtime] = REALTIME_VENDORS;
  it('hand over to a realtime model, which is told the conversation', async () => {
    if (realtime === undefined) throw new Error('no realtime model');
    const { engine, emulator } = await realtime.play({ utterances: [], replies: [{ text: 'Ja, bezahlt.' }] });
    const llm = new HandingModel('desk', { to: 'bills', before: ['Yes.', 'Gern.'] });
    const { running } = await start(
      id,
      [desk(llm, { bills: { agent: 'billing', when } }), { name: 'billing', engine }],
      { openVoice: openToneVoice },
    );
    await using phone = running;
    const script = [GERMAN, WAIT, GERMAN, WAIT, GERMAN, WAIT, { type: 'hang-up' } as const];
    const report = await phone.simulator.call({ script, maxDurationMs: 60_000 });
    const record = await phone.record(report.carrierCallId);
    expect(record).toMatchObject({ agent: 'billing', mode: 'realtime', language: null, error: null });
    expect(record.turns.at(-1)).toMatchObject({ agent: 'billing', agentText: 'Ja, bezahlt.' });
    await emulator.close();
  });
});
