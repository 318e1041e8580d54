import { describe, expect, it } from 'vitest';
import { startCarrierASimulator } from '../../src/testing/carrier-a/simulator.js';
import { openCallingCarrier } from '../../src/testing/calling-carrier.js';
import { startCarrierBSimulator } from '../../src/testing/carrier-b/simulator.js';
import { simulateCall } from '../../src/testing/simulate-call.js';

const url = 'http://127.0.0.1:8000';
const a = { url, accountSid: 'AC1', authToken: 'secret' };
const b = { url, apiKey: 'KEY1', connectionId: '1' };

describe('the options of a simulated carrier', () => {
  it.each<[object, string]>([
    [{ url }, 'startCarrierASimulator() needs accountSid.'],
    [{ ...a, authToken: undefined }, 'startCarrierASimulator() needs authToken.'],
    [{ ...a, authToken: 7 }, 'authToken of startCarrierASimulator() must be a non-empty string'],
    [
      { ...a, authToken: 'secret\n' },
      'authToken of startCarrierASimulator() has a blank or a line break in it.',
    ],
    [
      { ...a, disturbances: { duplcates: 1 } },
      'disturbances has no option "duplcates". Did you mean duplicates?',
    ],
    [{ ...a, callee: {} }, 'has no option "callee". Did you mean callees?'],
    [{ ...a, callees: { '*': { type: 'robot' } } }, 'The type of a callee must be one of'],
    [{ ...a, callees: { '*': { type: 'rejects' } } }, 'The type of a callee must be one of'],
  ])('carrier A refuses %j', async (options, message) => {
    await expect(startCarrierASimulator(options as never)).rejects.toThrow(message);
  });

  it.each<[object, string]>([
    [{ url }, 'startCarrierBSimulator() needs apiKey.'],
    [{ ...b, connectionId: ' ' }, 'startCarrierBSimulator() needs connectionId.'],
    [{ ...b, apiKey: ' KEY1' }, 'apiKey of startCarrierBSimulator() has a blank'],
    [{ ...b, url: undefined }, 'startCarrierBSimulator() needs url.'],
    [{ ...b, disturbances: { failedStream: 1 } }, 'Did you mean failedStreams?'],
    [{ ...b, color: 'red' }, 'startCarrierBSimulator() has no option "color".'],
    [{ ...b, callees: { '*': { type: 'robot' } } }, 'unreachable, rejects.'],
  ])('carrier B refuses %j', async (options, message) => {
    await expect(startCarrierBSimulator(options as never)).rejects.toThrow(message);
  });

  it('are checked in what is told later, too', async () => {
    for (const carrier of [await startCarrierASimulator(a), await startCarrierBSimulator(b)]) {
      expect(() => carrier.disturb({ restDelay: 1 } as never)).toThrow('Did you mean restDelayMs?');
      await expect(carrier.call({ script: [], lines: {} } as never)).rejects.toThrow('Did you mean line?');
      await carrier.close();
    }
  });
});

describe('a simulated call', () => {
  it('has no options that are not known', async () => {
    await expect(simulateCall({ url, script: [], authTokn: 'secret' } as never)).rejects.toThrow(
      'simulateCall() has no option "authTokn". Did you mean authToken?',
    );
    await expect(openCallingCarrier({ url, script: [] } as never)).rejects.toThrow(
      'openCallingCarrier() has no option "script".',
    );
  });
});
