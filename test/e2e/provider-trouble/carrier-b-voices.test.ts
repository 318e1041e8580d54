import { describeLostVoices } from '../../support/lost-voices.js';

describeLostVoices('carrier-b');
