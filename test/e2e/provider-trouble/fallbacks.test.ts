// A vendor is out, or hangs, and another one takes its place; several are in the same turn; and fillers sound meanwhile. Whatever they do,
// the caller hears something within five seconds and nothing twice, and the record says who took whose place.
import {
  checkGoesOn,
  checkReplaced,
  describeChained,
  fallbackCells,
  fillerCells,
  pairCells,
} from '../../support/chained-checks.js';

describeChained('a vendor with a fallback', fallbackCells(), (outcome) => {
  checkGoesOn(outcome);
  checkReplaced(outcome);
});

describeChained('vendors in the same turn', pairCells(), () => {});

describeChained('a vendor with fillers', fillerCells(), (outcome) => {
  if (outcome.ending?.failure === undefined) checkGoesOn(outcome);
});
