import { describeFurtherVendors } from '../../support/further-vendors.js';

describeFurtherVendors('carrier-b');
