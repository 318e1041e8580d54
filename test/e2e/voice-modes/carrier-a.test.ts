import { describeModeChanges } from '../../support/mode-changes-check.js';

describeModeChanges('carrier-a');
