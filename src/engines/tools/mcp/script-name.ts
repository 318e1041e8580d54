// What an MCP server is called that an interpreter runs: `node` says nothing of it.
import { basename } from 'node:path';

const INTERPRETER =
  /^(node|nodejs|bun|deno|tsx|ts-node|uv|python[\d.]*|pypy[\d.]*|ruby|php|perl|java|dotnet)$/i;
const PACKAGE_RUNNER = /^(npx|bunx|pnpx|uvx|pipx)$/i;

/** A file that is run. Keys and other values have no such end. */
const SCRIPT = /(?:^|[\\/])([\w.-]{1,60}\.(?:[cm]?[jt]s|[jt]sx|py|pyz|rb|php|pl|jar|dll))$/i;

/** The file name of a package, without its scope and version. */
const PACKAGE = /^(?:@[\w.-]+\/)?([\w.-]{1,64})(?:@[\w.^~-]+|==[\w.]+)?$/;

/** Options whose value is a file that is none of the program. */
const WITH_FILE = /^(-r|-c|-C|--require|--import|--loader|--experimental-loader|--config|--env-file)$/;

/** The script, module or package that an interpreter runs; undefined where `command` is none, or `args` do not show it. */
export function nameOfScript(command: string, args: readonly string[]): string | undefined {
  const interpreter = basename(command).replace(/\.(exe|cmd)$/i, '');
  if (PACKAGE_RUNNER.test(interpreter)) {
    const [name = ''] = args.filter((arg) => !['-y', '--yes', 'run'].includes(arg));
    return name.startsWith('-') ? undefined : PACKAGE.exec(name)?.[1];
  }
  if (!INTERPRETER.test(interpreter)) return undefined;
  for (const [place, arg] of args.entries()) {
    const before = args[place - 1] ?? '';
    if (before === '-m' && /^py/i.test(interpreter)) return /^[\w.]{1,64}$/.exec(arg)?.[0];
    const file = arg.startsWith('-') || WITH_FILE.test(before) ? undefined : SCRIPT.exec(arg)?.[1];
    if (file !== undefined) return file;
  }
  return undefined;
}
