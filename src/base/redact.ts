// What a log may show of a telephone number.

/** The last four digits of a telephone number, the rest masked: `+15550100` becomes `…0100`. Other caller words pass as their kind. */
export function maskPhone(value: string): string {
  const digits = value.replace(/\D/g, '');
  if (digits.length === 0) return value === '' ? '' : '…';
  return `…${digits.slice(-4)}`;
}
