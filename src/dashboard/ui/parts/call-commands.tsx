// What can be done with a call that is up, and what came of it.
import type { CallRecord } from '../../../contract/call-record.js';
import { hangUp, transfer } from '../api.js';
import { formatNumber, formatWord } from '../format.js';
import { AskFirst } from './ask-first.js';

export function CallCommands({ call, masked }: { call: CallRecord; masked: boolean }) {
  const { callId } = call;
  const result = call.transfer?.result ?? null;
  return (
    <div class="commands">
      <TransferState call={call} masked={masked} />
      <AskFirst
        label="Transfer"
        question="Hand this call over?"
        confirm="Transfer"
        sent="Transferring…"
        // What came of it is shown above, and the call is back.
        came={result === null || result === 'connected' ? null : (call.transfer?.startedAt ?? null)}
        isUnderWay={call.transfer !== null && result === null}
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

/** The last transfer of a call that is up, whoever asked for it. */
function TransferState({ call, masked }: { call: CallRecord; masked: boolean }) {
  if (call.transfer === null) return null;
  const { to, result } = call.transfer;
  const who = formatNumber(to, { masked });
  return (
    <p class="transfer-state" role="status">
      {result === null ? `Transferring to ${who}…` : `Transfer to ${who}: ${formatWord(result)}`}
    </p>
  );
}
