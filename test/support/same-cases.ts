// What properties are tried on is the same in each run, so that a change alone turns a test red. The deep form tries more of them, and `TEST_SEED` gives others.
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.TEST_SEED ?? 1) });
