// Loaded into a thread that would give itself the lowest priority.
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

os.setPriority = () => undefined;
syncBuiltinESMExports();
