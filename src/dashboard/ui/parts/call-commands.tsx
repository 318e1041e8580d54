// What can be done with a call that is up.
import { hangUp, transfer } from '../api.js';
import { AskFirst } from './ask-first.js';

export function CallCommands({ callId }: { callId: string }) {
  return (
    <div class="commands">
      <AskFirst
        label="Transfer"
        question="Hand this call over?"
        confirm="Transfer"
        sent="Transferring…"
        send={(form) => transfer(callId, String(form.get('to')).replaceAll(/[\s().-]/g, ''))}
      >
        <input
          name="to"
          type="tel"
          required
          pattern="\+[1-9][\d\s\(\)\.\-]{1,20}"
          title="A number with its country code, like +1 555 0100"
          placeholder="+15550100"
          aria-label="Number to transfer to"
          autocomplete="off"
        />
      </AskFirst>
      <AskFirst
        label="Hang up"
        question="End this call?"
        confirm="End call"
        isDangerous
        sent="Hanging up…"
        send={() => hangUp(callId)}
      />
    </div>
  );
}
