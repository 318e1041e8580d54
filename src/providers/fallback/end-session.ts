// Ends a session of a member that is not asked any more. What goes wrong with that is of no interest to the call.

export function endSession(session: { close(): void } | undefined): void {
  try {
    const closed: unknown = session?.close();
    if (closed instanceof Promise) closed.catch(() => {});
  } catch {
    // It has failed before, or the call is over.
  }
}
