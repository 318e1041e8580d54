// A command on a call that is asked about once before it is sent, and says what became of it.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../api.js';

/** Nothing shows what came of a command that was taken: it may be asked for again after this time. */
const NO_NEWS_MS = 15_000;

/** `came`: as it was when the command was sent. */
type Stage =
  | { name: 'idle' }
  | { name: 'asking' }
  | { name: 'sent'; came: unknown }
  | { name: 'over'; message: string; isProblem: boolean };

export interface AskFirstProps {
  /** Of the button that asks. */
  label: string;
  question: string;
  /** Of the button that does it. */
  confirm: string;
  isDangerous?: boolean;
  /** What is shown while it is under way. */
  sent: string;
  /** Changes when the call shows that the command has come to nothing. @default it never shows that */
  came?: unknown;
  /** The call shows that it is under way. @default false */
  isUnderWay?: boolean;
  /** The answer tells what came of it, however long that takes. @default false */
  isAnswered?: boolean;
  /** Fields of the question. */
  children?: ComponentChildren;
  /** A text that it resolves with is shown. */
  send: (form: FormData) => Promise<unknown>;
}

export function AskFirst(props: AskFirstProps) {
  const { label, question, confirm, isDangerous = false, sent, came = null, isUnderWay = false } = props;
  const { isAnswered = false, children, send } = props;
  const [stage, setStage] = useState<Stage>({ name: 'idle' });
  const form = useRef<HTMLFormElement>(null);
  // Before anything is drawn: a key that comes at once goes to the question, too.
  useLayoutEffect(() => {
    if (stage.name !== 'asking') return;
    // A field is there to be filled in; without one the harmless answer comes first.
    form.current?.querySelector<HTMLElement>('input, button[type=button]')?.focus();
  }, [stage.name]);
  useEffect(() => {
    if (stage.name !== 'sent') return;
    if (came !== stage.came && came !== null) {
      setStage({ name: 'idle' });
      return;
    }
    if (isUnderWay || isAnswered) return;
    const noNews: Stage = { name: 'over', message: 'Nothing has come of it yet.', isProblem: true };
    const timer = setTimeout(() => setStage(noNews), NO_NEWS_MS);
    return () => clearTimeout(timer);
  }, [stage, came, isUnderWay, isAnswered]);

  async function run(event: SubmitEvent) {
    event.preventDefault();
    const values = new FormData(form.current ?? undefined);
    setStage({ name: 'sent', came });
    try {
      const message = await send(values);
      if (typeof message === 'string') setStage({ name: 'over', message, isProblem: false });
    } catch (error) {
      // The call may have ended by itself meanwhile: then it leaves the rail anyway.
      const message = error instanceof ApiError ? error.message : 'That did not work.';
      setStage({ name: 'over', message, isProblem: true });
    }
  }

  if (stage.name === 'sent')
    return (
      <p class="asking" role="status">
        {sent}
      </p>
    );
  if (stage.name === 'asking')
    return (
      <form
        class="asking"
        ref={form}
        aria-label={question}
        onSubmit={(event) => void run(event)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          // Inside an open call the same key would close the call's sheet.
          event.preventDefault();
          event.stopPropagation();
          setStage({ name: 'idle' });
        }}
      >
        {children}
        <button type="submit" class={isDangerous ? 'danger' : 'primary'}>
          {confirm}
        </button>
        <button type="button" onClick={() => setStage({ name: 'idle' })}>
          {isDangerous ? 'Keep' : 'Cancel'}
        </button>
      </form>
    );
  return (
    <div class="asking">
      {stage.name === 'over' && (
        <p class={stage.isProblem ? 'problem' : 'quiet'} role={stage.isProblem ? 'alert' : 'status'}>
          {stage.message}
        </p>
      )}
      <button type="button" class={isDangerous ? 'hang-up' : ''} onClick={() => setStage({ name: 'asking' })}>
        {label}
      </button>
    </div>
  );
}
