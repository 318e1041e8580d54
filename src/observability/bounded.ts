// Memory that a call which never ends cannot fill.

/** Takes the oldest entries out until at most `max` are left, and hands each to `forgotten`. */
export function forgetOldest<K, V>(map: Map<K, V>, max: number, forgotten?: (value: V) => void): void {
  for (const [key, value] of map) {
    if (map.size <= max) return;
    map.delete(key);
    forgotten?.(value);
  }
}
