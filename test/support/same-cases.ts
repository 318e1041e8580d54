// What properties are tried on is the same in each run, so that a change alone turns a test red. `TEST_SEED` gives others; so does the deep form.
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.TEST_SEED ?? 1) });
