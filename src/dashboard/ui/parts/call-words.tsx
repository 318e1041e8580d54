// What a person can tell a call that is up: the caller, through the agent, or the model alone.
import type { SayOutcome } from '../../../contract/call-command.js';
import { inform, say } from '../api.js';
import { AskFirst } from './ask-first.js';

const MAX_CHARS = 4000;

const OUTCOMES: Readonly<Record<SayOutcome, string>> = {
  heard: 'The caller heard it.',
  interrupted: 'It was interrupted. The transcript shows what was heard.',
  'call-ended': 'The call ended first.',
  moved: 'Another server has the call, and says it.',
};

export function CallWords({ callId }: { callId: string }) {
  return (
    <>
      <AskFirst
        label="Say"
        question="Have the agent say this?"
        confirm="Say"
        sent="Saying…"
        isAnswered
        send={async (form) => {
          const interrupt = form.get('interrupt') !== null;
          return OUTCOMES[await say(callId, { text: String(form.get('text')), interrupt })];
        }}
      >
        <Words label="What the agent says" />
        <label>
          <input type="checkbox" name="interrupt" /> at once
        </label>
      </AskFirst>
      <AskFirst
        label="Inform"
        question="Tell the model, without a word to the caller?"
        confirm="Inform"
        sent="Informing…"
        isAnswered
        send={async (form) => {
          await inform(callId, String(form.get('text')));
          return 'The model knows.';
        }}
      >
        <Words label="What the model is told" />
      </AskFirst>
    </>
  );
}

function Words({ label }: { label: string }) {
  return (
    <input
      class="words"
      name="text"
      required
      maxlength={MAX_CHARS}
      placeholder={label}
      aria-label={label}
      autocomplete="off"
    />
  );
}
