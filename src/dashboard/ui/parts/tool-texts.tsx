// What a tool was called with, and what the model was told.
import type { ToolCall, ToolText } from '../../../contract/call-record.js';

/** A record of an application's own store may be older than the texts. */
export function ToolTexts({ tool }: { tool: Partial<Pick<ToolCall, 'arguments' | 'result'>> }) {
  const texts = [
    ['Arguments', tool.arguments ?? null],
    ['Result', tool.result ?? null],
  ] as const;
  const known = texts.flatMap(([label, text]) => (text === null ? [] : [[label, text] as const]));
  if (known.length === 0) return null;
  return (
    <details class="tool-texts">
      <summary>{known.map(([label]) => label).join(' and ')}</summary>
      <dl>
        {known.map(([label, text]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <Text text={text} />
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function Text({ text: { text, cut } }: { text: ToolText }) {
  return (
    <>
      <pre dir="auto">{text}</pre>
      {cut && <span class="unseen">The rest was not kept.</span>}
    </>
  );
}
