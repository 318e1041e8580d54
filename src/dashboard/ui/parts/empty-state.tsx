// No call yet: the two ways to the first one.
export function EmptyState() {
  return (
    <section class="empty" aria-labelledby="empty-title">
      <h2 id="empty-title" class="headline">
        No calls yet
      </h2>
      <ol>
        <li>
          <b>Without a phone</b>
          <code>npx offhook simulate --url {location.origin} --text "Hello?"</code>
          <span class="hint">Calls this server. Where it has its carrier’s secret, add --auth-token.</span>
        </li>
        <li>
          <b>With a number</b>
          <code>https://your-public-host/webhooks/&lt;carrier&gt;/voice</code>
          <span class="hint">Make this the voice URL of your number, then call it.</span>
        </li>
      </ol>
    </section>
  );
}
