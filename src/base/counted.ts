// How many there are of something, for people.

/** `1 gap`, `2 gaps`. `noun`: one of them, whose plural ends in an s. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
