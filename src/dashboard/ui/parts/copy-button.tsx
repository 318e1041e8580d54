// Puts a text into the clipboard, and says whether that worked.
import { useEffect, useState } from 'preact/hooks';

const SHOWN_MS = 2000;

export function CopyButton({ label, text }: { label: string; text: () => string }) {
  const [result, setResult] = useState<'Copied' | 'Not copied' | null>(null);
  useEffect(() => {
    if (result === null) return;
    const timer = setTimeout(() => setResult(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [result]);
  const copy = async () => {
    try {
      await writeClipboard(text());
      setResult('Copied');
    } catch {
      setResult('Not copied');
    }
  };
  return (
    <>
      <button type="button" onClick={() => void copy()}>
        {label}
      </button>
      <span class="said" role="status">
        {result}
      </span>
    </>
  );
}

/** Over plain HTTP on another host there is no clipboard interface: the old command still works there. */
async function writeClipboard(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  // In a modal dialog nothing outside it can be selected.
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  if (!isDone) throw new Error('The browser does not copy.');
}
