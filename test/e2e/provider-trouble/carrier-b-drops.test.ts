import { describePipelineDrops } from '../../support/troubled-call-groups.js';

describePipelineDrops('carrier-b');
