// What the process keeps for the next call: idle connections, an idle thread. Objects of a user that outlive every server hold them, so
// they are closed by whoever stops; another server of the process that wants one opens it anew.

const spares = new Set<() => void | Promise<void>>();

/** `closeIdle` closes what is idle, and leaves alone what is in use. For what lives as long as the process. */
export function keepSpares(closeIdle: () => void | Promise<void>): void {
  spares.add(closeIdle);
}

/** Resolves when all that is idle is closed. */
export async function closeSpares(): Promise<void> {
  await Promise.all([...spares].map((closeIdle) => closeIdle()));
}
