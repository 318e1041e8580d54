// How this browser alerts: each way is chosen by itself.
import { useState } from 'preact/hooks';
import { chooseWay } from '../state/alerts.js';
import { ALERT_WAYS, type AlertWay } from '../state/app-store.js';

const NAMES: Readonly<Record<AlertWay, string>> = {
  title: 'In the title of this tab',
  sound: 'By a sound',
  notification: 'By a notification',
};

export function Alerts({ ways }: { ways: ReadonlySet<AlertWay> }) {
  const [isRefused, setRefused] = useState(false);
  const choose = async (way: AlertWay, box: HTMLInputElement) => {
    const isDone = await chooseWay(way, box.checked);
    box.checked &&= isDone;
    setRefused(!isDone);
  };
  return (
    <details
      class="alerts"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !event.currentTarget.open) return;
        event.currentTarget.open = false;
        event.currentTarget.querySelector('summary')?.focus();
      }}
    >
      <summary class="button">{ways.size > 0 ? 'Alerts on' : 'Alerts'}</summary>
      <fieldset>
        <legend>Tell me when a call fails, or a caller waits for 10 seconds</legend>
        {ALERT_WAYS.map((way) => (
          <label key={way}>
            <input
              type="checkbox"
              checked={ways.has(way)}
              onChange={(event) => void choose(way, event.currentTarget)}
            />{' '}
            {NAMES[way]}
          </label>
        ))}
        <p class="problem" role="alert">
          {isRefused && 'This browser shows no notifications of this page.'}
        </p>
      </fieldset>
    </details>
  );
}
