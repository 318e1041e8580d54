// What carrier A charges for calls in the United States. Every begun minute counts.
import type { CallPrices } from '../../contract/price.js';

const READ = { stepSeconds: 60, asOf: '2026-09', source: "the vendor's price page, read by a third party" };

export const CARRIER_A_PRICES: CallPrices = {
  inbound: { perMinute: 0.0085, ...READ },
  outbound: { perMinute: 0.014, ...READ },
  stream: { perMinute: 0.0044, ...READ },
};
