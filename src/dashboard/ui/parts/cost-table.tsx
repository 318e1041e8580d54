// Where the money of a call went.
import type { Cost, Usage } from '../../../contract/call-record.js';
import { formatMoney, formatTotal } from '../format.js';

export const PARTS = [
  ['stt', 'Speech to text'],
  ['llm', 'Language model'],
  ['tts', 'Text to speech'],
  ['telephony', 'Telephony'],
] as const;

/** What was used, in words: nothing that is zero. */
function usedOf(usage: Usage): string {
  const { llmInputTokens, llmCachedTokens, llmOutputTokens, sttSeconds, ttsCharacters } = usage;
  const cached = llmCachedTokens > 0 ? ` (${llmCachedTokens.toLocaleString()} cached)` : '';
  const parts = [
    [llmInputTokens, `tokens in${cached}`],
    [llmOutputTokens, 'tokens out'],
    [Math.round(sttSeconds), 's recognized'],
    [ttsCharacters, 'characters spoken'],
  ] as const;
  return parts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${count.toLocaleString()} ${what}`)
    .join(' · ');
}

export function CostTable({ cost, usage }: { cost: Cost; usage: Usage | null }) {
  return (
    <section aria-labelledby="cost-title">
      <h3 id="cost-title">
        Cost
        <small>{cost.estimated ? 'estimate, in US dollars' : 'in US dollars'}</small>
      </h3>
      <dl class="facts cost">
        {PARTS.map(([key, label]) => (
          <div key={key}>
            <dt>{label}</dt>
            <dd>{formatMoney(cost[key])}</dd>
          </div>
        ))}
        <div class="total">
          <dt>Total</dt>
          <dd>{formatTotal(cost)}</dd>
        </div>
      </dl>
      <CostBar cost={cost} />
      {usage !== null && <p class="used">{usedOf(usage)}</p>}
    </section>
  );
}

/** The known parts beside each other, each as wide as its share. */
function CostBar({ cost }: { cost: Cost }) {
  if (!(cost.total > 0)) return null;
  return (
    <span class="track" aria-hidden="true">
      {PARTS.filter(([key]) => (cost[key] ?? 0) > 0).map(([key, label]) => (
        <i
          key={key}
          class={`cost-${key}`}
          style={{ width: `${((cost[key] ?? 0) / cost.total) * 100}%` }}
          title={`${label} ${formatMoney(cost[key])}`}
        />
      ))}
    </span>
  );
}

const SHORT = { stt: 'STT', llm: 'LLM', tts: 'TTS', telephony: 'phone' } as const;

/** The running total and its known parts, in one line. */
export function RunningCost({ cost }: { cost: Cost }) {
  const known = PARTS.filter(([key]) => cost[key] !== null);
  return (
    <div class="measure">
      <span>
        <span class="part">
          Cost <b>{formatTotal(cost)}</b>
        </span>
        {known.map(([key, label]) => (
          <span key={key} class="part" title={label}>
            {SHORT[key]} {formatMoney(cost[key])}
          </span>
        ))}
      </span>
      <CostBar cost={cost} />
    </div>
  );
}
