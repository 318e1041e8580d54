// What a server of the bench tells of itself: once when it listens, and whenever it is asked.

/** Processor time of the whole process so far, and its memory. @typedef {{ cpuUs: number, rssBytes: number }} Figures */

/** To be called when the server listens. */
export function answerFigures() {
  const tell = () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuUs: user + system, rssBytes: process.memoryUsage.rss() });
  };
  process.on('message', tell);
  // Whoever measures is gone: nobody needs this process.
  process.once('disconnect', () => process.exit());
  tell();
}
