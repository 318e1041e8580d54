// Asks for the dashboard token. It goes out once, in a header, and is kept nowhere on the page.
import { useState } from 'preact/hooks';
import { ApiError, signIn } from '../api.js';
import { update } from '../state/app-store.js';
import { connect } from '../state/connection.js';

export function SignIn() {
  const [problem, setProblem] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const token = String(new FormData(event.currentTarget).get('token') ?? '').trim();
    if (token === '') return;
    setSending(true);
    try {
      await signIn(token);
      update(() => ({ connection: { phase: 'connecting' } }));
      connect();
    } catch (error) {
      const isWrong = error instanceof ApiError && error.status === 401;
      setProblem(
        isWrong ? 'That is not the token.' : error instanceof ApiError ? error.message : 'That did not work.',
      );
      setSending(false);
    }
  }

  return (
    <main class="sign-in">
      <form onSubmit={submit}>
        <h1>offhook</h1>
        <label>
          Dashboard token
          <input
            name="token"
            type="password"
            autocomplete="current-password"
            required
            aria-invalid={problem !== null}
            aria-describedby="sign-in-problem"
          />
        </label>
        <p id="sign-in-problem" class="problem" role="alert">
          {problem}
        </p>
        <button type="submit" class="primary" disabled={isSending}>
          {isSending ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}
