// Where the money of a call went.
import type { Cost } from '../../../contract/call-record.js';
import { formatMoney, formatTotal } from '../format.js';

export function CostTable({ cost }: { cost: Cost }) {
  const parts = [
    ['Speech to text', cost.stt],
    ['Language model', cost.llm],
    ['Text to speech', cost.tts],
    ['Telephony', cost.telephony],
  ] as const;
  return (
    <section aria-labelledby="cost-title">
      <h3 id="cost-title">
        Cost
        <small>{cost.estimated ? 'estimate, in US dollars' : 'in US dollars'}</small>
      </h3>
      <dl class="facts cost">
        {parts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{formatMoney(value)}</dd>
          </div>
        ))}
        <div class="total">
          <dt>Total</dt>
          <dd>{formatTotal(cost)}</dd>
        </div>
      </dl>
    </section>
  );
}
