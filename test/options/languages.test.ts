import { describe, expect, it } from 'vitest';
import { Agent, type AgentOptions } from '../../src/options/agent.js';
import { DeepgramSpeechToText } from '../../src/providers/stt/index.js';
import { refusal } from './refusal.js';

const makeAgent = (options: object) => new Agent(options as AgentOptions).options;
const languages = ['en', 'de-CH'];
const deaf = { name: 'own/ears', open() {} };
const hears = { ...deaf, languageObstacle: () => undefined };
const voice = (name: string) => ({ name, open() {} });

describe('languages', () => {
  it('are what an agent says in each, the first one first', () => {
    const agent = makeAgent({
      languages,
      apology: { en: 'Sorry.', 'de-CH': 'Pardon.' },
      tts: { en: voice('a/english'), 'de-CH': voice('a/german') },
      turnTaking: { fillers: { en: ['Well.'], 'de-CH': ['Also.'] } },
      idle: { prompts: { en: ['Hello?'], 'de-CH': ['Hallo?'] }, goodbye: { en: 'Bye.', 'de-CH': 'Ade.' } },
    });
    expect(agent).toMatchObject({ language: 'en', apology: 'Sorry.', tts: { name: 'a/english' } });
    expect(agent.turnTaking.fillers).toEqual(['Well.']);
    expect(agent.languages[1]).toMatchObject({
      language: 'de-CH',
      apology: 'Pardon.',
      fillers: ['Also.'],
      idle: { prompts: ['Hallo?'], goodbye: 'Ade.' },
      tts: { name: 'a/german' },
    });
  });

  it.each([{ idle: { afterSeconds: 20 } }, { idle: {} }, {}])(
    'have prompts, goodbye and fillers each of its own, and never English ones in another, with %o',
    (options) => {
      const spoken = makeAgent({ languages: ['en', 'de-CH', 'pl'], ...options }).languages;
      expect(spoken.map(({ idle }) => idle?.goodbye)).toEqual([
        expect.stringContaining('Goodbye'),
        expect.stringContaining('Auf Wiederhören'),
        undefined,
      ]);
      expect(spoken.map(({ fillers }) => fillers[0])).toEqual(['One moment.', 'Einen Moment.', undefined]);
    },
  );

  it('are refused their words where these are wrong, in whichever language', () => {
    expect(() => makeAgent({ languages: ['de', 'es'], idle: { after: 3 } })).toThrow(/no option "after"/);
  });

  it.each<[object, string]>([
    [{ languages: 'en' }, 'languages must be a list of 2 to 10 language tags'],
    [{ languages: ['en'] }, 'For one language, use language.'],
    [{ languages: ['en', 7] }, 'languages[1] must be a language tag like en or de-CH (BCP 47).'],
    [
      { languages: ['English', 'de'] },
      'languages[0] must be a language tag like en or de-CH (BCP 47). Did you mean en?',
    ],
    [{ languages: ['en', 'en-GB'] }, 'languages names en twice'],
    [{ languages, language: 'en' }, 'languages and language exclude each other'],
    [
      { languages: ['English'] },
      'languages[0] must be a language tag like en or de-CH (BCP 47). Did you mean en?',
    ],
    [{ languages: [] }, 'languages must be a list of 2 to 10 language tags'],
    [{ languages, apology: 'Sorry.' }, "Give one for each: { en: …, 'de-CH': … }."],
    [
      { languages, apology: { en: 'Sorry.' } },
      'apology must have one entry for each of languages (en, de-CH): de-CH is missing.',
    ],
    [{ languages, apology: { en: 'a', 'de-CH': 'b', fr: 'c' } }, '"fr" is none of them.'],
    [{ languages, apology: { en: 'a', 'de-CH': '' } }, 'apology must be a non-empty string'],
    [{ languages, turnTaking: { fillers: ['Well.'] } }, 'turnTaking.fillers is in one language'],
    [{ languages, idle: { prompts: ['Hello?'] } }, 'idle.prompts is in one language'],
    [{ languages, tts: { en: voice('a/b') } }, 'tts must have one entry for each of languages'],
    [{ apology: { en: 'Sorry.' } }, 'apology must be a non-empty string'],
    [
      { languages, stt: deaf },
      'own/ears in stt does not tell which language a caller speaks. docs/languages.md lists those that do.',
    ],
    [
      { languages, stt: hears, fallback: { stt: [hears, deaf] } },
      'own/ears in fallback.stt[1] does not tell',
    ],
    [
      { languages, stt: hears, fallback: { engine: [{ stt: deaf }] } },
      'own/ears in fallback.engine[0].stt does',
    ],
    [
      { languages, stt: new DeepgramSpeechToText({ language: 'en' }) },
      'deepgram/nova-3 in stt hears en alone: leave its option language out.',
    ],
    [
      { languages: ['en', 'cy'], stt: new DeepgramSpeechToText() },
      'does not know cy among several languages.',
    ],
    [
      { languages, engine: { name: 'a/b', open() {}, inputFormats: [], outputFormats: [] } },
      'languages does not apply with engine',
    ],
  ])('are refused: %j', (options, message) => {
    const refused = refusal(() => makeAgent(options));
    expect(refused.code).toMatch(/^CONFIG_(INVALID|CONFLICT)$/);
    expect(refused.message).toContain(message);
  });

  it('need no fillers, and are what a fallback of another voice mode goes on with', () => {
    const engine = { name: 'a/b', open() {}, inputFormats: [], outputFormats: [] };
    const agent = new Agent({
      languages,
      stt: hears,
      turnTaking: { fillers: [] },
      fallback: { engine: [engine] },
    } as unknown as AgentOptions);
    expect(agent.options.languages.map(({ fillers }) => fillers)).toEqual([[], []]);
    expect(agent.substitutes[0]?.options.languages.map(({ language }) => language)).toEqual(languages);
  });
});
