import { describeReplacements } from '../../support/replaced-vendors.js';

describeReplacements('carrier-a');
