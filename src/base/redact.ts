// What a log may show of a telephone number.

/** The last four digits of a telephone number, the rest masked: `+15550100` becomes `…0100`. Of an address those of its user. */
export function maskPhone(value: string): string {
  const [user = '', host] = value.split('@');
  const digits = user.replace(/\D/g, '');
  if (value === '') return '';
  // An extension is shorter, and would be shown in full.
  const isHidden = host !== undefined && digits.length < 5;
  return isHidden ? '…' : `…${digits.slice(-4)}`;
}
