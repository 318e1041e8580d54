// Telephone numbers in the international form.

const E164 = /^\+[1-9]\d{1,14}$/;

/** True for `+` and 2 to 15 digits, the first not 0. Source: ITU-T E.164. */
export function isE164(value: string): boolean {
  return E164.test(value);
}
