// `--carrier`, by the ids that the code uses, for people who know the firms.
import { Option } from 'commander';
import { SIMULATED_CARRIERS } from '../contract/call-record.js';

/** `sentence`: what the carrier does here. */
export function carrierOption(sentence: string): Option {
  const option = new Option('--carrier <carrier>', `${sentence}: carrier-a is Twilio, carrier-b is Telnyx`);
  return option.choices(SIMULATED_CARRIERS);
}
