// The numbers of the simulated account, and where they point.
import { createId } from './ids.js';

/** A number of the account. Its URLs are empty until somebody points it somewhere. */
export interface NumberSettings {
  sid: string;
  phoneNumber: string;
  voiceUrl: string;
  voiceMethod: 'GET' | 'POST';
  voiceFallbackUrl: string;
  statusCallback: string;
  statusCallbackMethod: 'GET' | 'POST';
}

export function createNumber(phoneNumber: string): NumberSettings {
  return {
    sid: createId('PN'),
    phoneNumber,
    voiceUrl: '',
    voiceMethod: 'POST',
    voiceFallbackUrl: '',
    statusCallback: '',
    statusCallbackMethod: 'POST',
  };
}
