import { describeDrops } from '../../support/dropped-calls-check.js';

describeDrops('carrier-a');
