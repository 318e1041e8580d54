// How much of what the caller says is kept for somebody who cannot hear it yet.

/**
 * Milliseconds of caller audio that are kept while nobody is connected who hears it, and in case somebody has to hear it again. A lost
 * connection is back or given up within four seconds; what is older would be answered too late to be of use.
 */
export const KEPT_AUDIO_MS = 5000;
