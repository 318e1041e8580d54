// What it takes to import offhook, printed as JSON: milliseconds on a processor, of all threads, and what Node had taken before.
/** @param {NodeJS.CpuUsage} usage */
const toMs = ({ user, system }) => (user + system) / 1000;

const nodeMs = toMs(process.cpuUsage());
await import(new URL('../../../dist/index.js', import.meta.url).href);
console.log(JSON.stringify({ nodeMs, importMs: toMs(process.cpuUsage()) - nodeMs }));
