import { describeRealtimeDrops } from '../../support/troubled-call-groups.js';

describeRealtimeDrops('carrier-b');
