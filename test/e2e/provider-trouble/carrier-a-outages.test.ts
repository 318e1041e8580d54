import { describeOutages } from '../../support/troubled-call-groups.js';

describeOutages('carrier-a');
