import { expect, it } from 'vitest';
import type { Carrier } from '../../src/carriers/carrier.js';
import { pointNumbers } from '../../src/client/voice-url.js';
import { RecordedLogger } from '../support/recorded-logger.js';
import { soon } from '../support/soon.js';

const voiceUrl = 'https://voice.example.com/webhooks/carrier-a/voice';
const NUMBERS = ['+15550100', '+15550101', '+15550102', '+15550103', '+15550104', '+15550105', '+15550106'];

function point(
  setVoiceUrl: (number: string) => Promise<void>,
  { isClosing = (): boolean => false, numbers = NUMBERS } = {},
): RecordedLogger {
  const logger = new RecordedLogger();
  const rest = { configured: true, setVoiceUrl };
  const carrier = { id: 'carrier-a', supports: { voiceUrl: true }, rest } as unknown as Carrier;
  const own = numbers.map((number) => ({ number }));
  pointNumbers({ carrier, numbers: own, publicHost: 'voice.example.com', logger, isClosing });
  return logger;
}

it('gives the URL to enter where the number could not be pointed at this server', async () => {
  const logger = point(() => Promise.reject(new Error('no')), { numbers: ['+15550100'] });
  await soon(() => expect(logger.lines).toHaveLength(1));
  expect(logger.lines).toMatchObject([
    {
      level: 'warn',
      fields: { number: '…0100', voiceUrl },
      sentence: 'could not set the voice URL of the number: enter this one at the carrier',
    },
  ]);
});

it('points the others where one fails, and says of each what became of it', async () => {
  const logger = point((number) =>
    number.endsWith('1') ? Promise.reject(new Error('no')) : Promise.resolve(),
  );
  await soon(() => expect(logger.lines).toHaveLength(NUMBERS.length));
  const failed = logger.lines.filter(({ level }) => level === 'warn');
  expect(failed.map(({ fields }) => fields.number)).toEqual(['…0101']);
  const pointed = logger.lines.filter(({ sentence }) => sentence === 'the number points at this server');
  expect(pointed.map(({ fields }) => fields.number).toSorted()).toEqual([
    '…0100',
    '…0102',
    '…0103',
    '…0104',
    '…0105',
    '…0106',
  ]);
});

it('asks for five at a time, and begins no more once the server stops', async () => {
  const [asked, answers]: [string[], (() => void)[]] = [[], []];
  let isClosing = false;
  const setVoiceUrl = (number: string) => {
    asked.push(number);
    return new Promise<void>((resolve) => void answers.push(resolve));
  };
  const logger = point(setVoiceUrl, { isClosing: () => isClosing });
  expect(asked).toEqual(NUMBERS.slice(0, 5));
  answers[0]?.();
  await soon(() => expect(asked).toHaveLength(6));
  isClosing = true;
  for (const answer of answers) answer();
  await soon(() => expect(logger.lines).toHaveLength(6));
  expect(asked).toEqual(NUMBERS.slice(0, 6));
});
