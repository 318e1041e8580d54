// What is said in the calls of the bench: a turn takes some eleven seconds, as in calls of people.
export const GREETING = 'Hello, this is the bakery. What can I do for you?';
export const QUESTION = 'Two loaves of rye bread, please, and some rolls.';
export const ANSWER =
  'Two loaves of rye bread and some rolls, I write that down. When would you like to come and fetch them?';
/** The agent is quiet for so long before the caller goes on, in milliseconds. */
export const QUIET_MS = 700;
/** How long a call lasts, in milliseconds. */
export const CALL_MS = { from: 60_000, to: 120_000 };
