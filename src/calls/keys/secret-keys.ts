// How long nothing is recorded, and nobody listens in, around a key that may be one of a secret.

/** Before it was told, in milliseconds: carriers tell of a key while its tone sounds, or behind it. */
export const BEFORE_KEY_MS = 1000;
/** Behind it, in milliseconds: no further key belongs to the secret then. */
export const AFTER_KEY_MS = 3000;
