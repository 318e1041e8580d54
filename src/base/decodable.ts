// Text in which a percent sign begins a code, as in a URL.

/** False where a percent sign begins none, or the codes are no UTF-8. */
export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
