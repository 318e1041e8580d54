// The troubles that differ most, at every vendor whose words for them differ.
import { cells, type TroubledCall } from '../../support/provider-trouble.js';
import { describeTrouble, type WantedEnd, wantedOfLostAnswer } from '../../support/trouble-checks.js';
import { VENDORS } from '../../support/vendor-line-up.js';
import { DROPS, NONSENSE, OUTAGES, type VendorTrouble } from '../../support/vendor-troubles.js';

function pick(troubles: readonly VendorTrouble[], ...names: readonly string[]): readonly VendorTrouble[] {
  const found = troubles.filter(({ name }) => names.includes(name));
  if (found.length < names.length) throw new Error(`not all of ${names.join(', ')} are troubles`);
  return found;
}

const PASSING = [
  ...pick(DROPS, 'cut', 'closed with 1011', 'frozen'),
  ...pick(NONSENSE, 'garbage', 'an error event'),
];
const LASTING = pick(OUTAGES, '401 at the handshake', '503 at the handshake', 'no handshake');

/** Of the goodbye all may be there already. */
function ended({ phase }: TroubledCall): WantedEnd {
  return phase === 'goodbye' ? 'either' : 'sorry';
}

/** A model's answer that has begun is not asked for again. */
function wantedOfModel(call: TroubledCall): WantedEnd {
  const isBefore = ['start', 'greeting', 'listening'].includes(call.phase);
  return wantedOfLostAnswer(call) ?? (isBefore ? 'goes on' : 'either');
}

/** Those that the other files leave out. */
const recognisers = VENDORS.stt.filter((vendor) => vendor !== 'deepgram' && vendor !== 'transcription');
const [, ...models] = VENDORS.llm;
const [, ...voices] = VENDORS.tts;

describeTrouble('other recognisers', cells('stt', recognisers, PASSING), () => 'goes on');
describeTrouble('other recognisers that are out', cells('stt', recognisers, LASTING), ended);
describeTrouble('other voices', cells('tts', voices, PASSING), () => 'goes on');
describeTrouble('other voices that are out', cells('tts', voices, LASTING), ended);
describeTrouble('other models', cells('llm', models, PASSING), wantedOfModel);
describeTrouble('other models that are out', cells('llm', models, LASTING), ended);
