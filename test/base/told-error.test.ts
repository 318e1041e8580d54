import { describe, expect, it } from 'vitest';
import {
  CarrierError,
  ClusterError,
  ConfigError,
  ERROR_CODES,
  type ErrorCode,
  LimitError,
  NotFoundError,
  OffhookError,
  RecordingError,
  RequestError,
  StoreError,
} from '../../src/base/errors.js';
import { fromTold, type ToldError, toTold } from '../../src/base/told-error.js';

const thereOf = (error: OffhookError) => fromTold(JSON.parse(JSON.stringify(toTold(error))) as ToldError);

describe('an error of another process', () => {
  it.each([
    new RequestError('REQUEST_CONFLICT', 'The call is over.'),
    new NotFoundError('No such call.'),
    new ConfigError('CONFIG_MISSING', 'Set it.'),
    new LimitError('Enough.'),
    new LimitError('Enough.', { retryAfterSeconds: 7 }),
    new CarrierError('Refused.', { status: 422, retryable: false }),
    new CarrierError('Away.', { status: null, retryable: true }),
    new CarrierError('None.', { status: 404, retryable: false, isFinal: true }),
    new StoreError('Full.'),
    new RecordingError('RECORDING_LOCKED', 'Locked.'),
  ])('is what it is there: $name $message', (error) => {
    const here = thereOf(error);
    expect(here).toBeInstanceOf(error.constructor);
    expect({ ...here, message: here.message }).toEqual({ ...error, message: error.message });
  });

  it('that it reaches no other is not one of this process', () => {
    const here = thereOf(new ClusterError('Away.'));
    expect(here).not.toBeInstanceOf(ClusterError);
    expect(here).toMatchObject({ code: 'CLUSTER_FAILED', message: 'Away.' });
  });

  it('keeps every code, and has that of an unexpected one where only a later version knows it', () => {
    for (const code of Object.keys(ERROR_CODES) as ErrorCode[])
      expect(thereOf(new OffhookError(code, 'Why.'))).toMatchObject({ code, message: 'Why.' });
    expect(fromTold({ code: 'TOMORROW' as ErrorCode, message: 'Why.' })).toMatchObject({ code: 'INTERNAL' });
  });
});
