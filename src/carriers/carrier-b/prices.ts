// What carrier B charges for calls in the United States: call control and trunk together. It does not say in what steps; with whole
// minutes the estimate is never too low.
import type { CallPrices } from '../../contract/price.js';

const READ = { stepSeconds: 60, asOf: '2026-10', source: "the vendor's price page, read by a third party" };

export const CARRIER_B_PRICES: CallPrices = {
  inbound: { perMinute: 0.0055, ...READ },
  outbound: { perMinute: 0.007, ...READ },
  stream: { perMinute: 0.0035, ...READ },
};
