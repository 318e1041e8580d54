// An MCP server on standard input and output, made with the official SDK. Arguments say what is wrong with it: `parent` has started a program of its own,
// `stubborn` also, and ends neither with its input nor at SIGTERM; `silent` never answers; `deaf` neither,
// ends with nothing but SIGKILL, and writes its pid to a file.
import { spawn } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';

const [manner, pidFile = ''] = process.argv.slice(2);
/** @param {string} said @returns {{ content: { type: 'text', text: string }[] }} */
const text = (said) => ({ content: [{ type: 'text', text: said }] });
/** @type {import('node:child_process').ChildProcess | undefined} */
let child;

if (manner === 'stubborn' || manner === 'parent')
  child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { stdio: 'inherit' });
if (manner === 'parent') process.stdin.on('end', () => process.exit());
if (manner === 'deaf') {
  // Whoever finds the file finds the pid in it.
  writeFileSync(`${pidFile}.new`, String(process.pid));
  renameSync(`${pidFile}.new`, pidFile);
}
if (manner === 'stubborn' || manner === 'deaf') {
  process.on('SIGTERM', () => {});
  setTimeout(() => {}, 60_000);
}

function create() {
  const server = new McpServer({ name: 'program', version: '1.0.0' });
  /** @param {string} name @param {import('@modelcontextprotocol/server').ToolCallback<undefined>} give */
  const add = (name, give) => server.registerTool(name, { description: name }, give);
  add('environment', () => text(JSON.stringify(process.env)));
  add('folder', () => text(process.cwd()));
  add('pids', () => text(JSON.stringify([process.pid, ...(child ? [child.pid] : [])])));
  add('die', () => process.exit(3));
  add('hang', () => new Promise(() => {}));
  add('freeze', () => {
    // Not for ever, whatever becomes of the test.
    for (const end = Date.now() + 60_000; Date.now() < end; );
    return text('late');
  });
  add('enormous', () => text('x'.repeat(2_000_000)));
  add('noise', () => {
    process.stdout.write('no message\n{"jsonrpc":"2.0"}\n\n');
    process.stderr.write('\u001b[31mno end of line of a log\u001b[0m\nnext\n');
    return text('done');
  });
  add('nonsense', (context) => {
    process.stdout.write(`{"jsonrpc":"2.0","id":${context.mcpReq.id},"result":5}\n`);
    return new Promise(() => {});
  });
  return server;
}

if (manner === 'silent' || manner === 'deaf') process.stdin.resume();
else serveStdio(create);
