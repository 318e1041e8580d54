// Models of the vendor that stop, with the day and what to take instead. Source: OpenAI, deprecations.

export interface RetiredModel {
  readonly models: RegExp;
  /** ISO date of the last day. */
  readonly until: string;
  readonly instead: string;
}

export const RETIRED_MODELS: readonly RetiredModel[] = [
  {
    models: /^gpt-realtime-mini(-\d{4}-\d{2}-\d{2})?$/,
    until: '2027-01-20',
    instead: 'gpt-realtime-2.1-mini',
  },
  { models: /^gpt-realtime(-\d{4}-\d{2}-\d{2})?$/, until: '2027-01-20', instead: 'gpt-realtime-2.1' },
  { models: /^gpt-4o(-mini)?-realtime-preview/, until: '2026-05-07', instead: 'gpt-realtime-2.1-mini' },
];

export function findRetired(model: string): RetiredModel | undefined {
  return RETIRED_MODELS.find(({ models }) => models.test(model));
}
