import { describeInboundOutages } from '../../support/inbound-outages.js';

describeInboundOutages('carrier-a');
