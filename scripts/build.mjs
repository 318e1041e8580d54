// `npm run build`: everything that a package or a run needs, in dist.
import { setUp } from './setup.mjs';

await setUp();
