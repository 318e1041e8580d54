// The code of new projects, as a strict compiler reads it.
import ts from 'typescript';
import { expect, it } from 'vitest';
import { projectFiles } from '../../../src/cli/init/project.js';
import { root } from '../../support/common-config.js';
import { PROJECTS } from './made-projects.js';

/** Complaints about these files, by path below `root`. The package is its source. */
function complaintsOf(files: ReadonlyMap<string, string>): string[] {
  const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile) as { config: object };
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root);
  const modules = new Map([...files].map(([path, text]) => [root + path, text]));
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, directoryExists } = host;
  host.fileExists = (path) => modules.has(path) || fileExists.call(host, path);
  host.readFile = (path) => modules.get(path) ?? readFile.call(host, path);
  host.directoryExists = (path) =>
    [...modules.keys()].some((each) => each.startsWith(`${path}/`)) ||
    directoryExists?.call(host, path) === true;
  const paths = [...modules.keys()].filter((path) => path.endsWith('.js'));
  const program = ts.createProgram(paths, { ...options, noEmit: true }, host);
  return paths.flatMap((path) =>
    ts
      .getPreEmitDiagnostics(program, program.getSourceFile(path))
      .map(({ messageText }) => `${path}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`),
  );
}

it('every one type-checks', () => {
  const files = PROJECTS.flatMap(([, project], index) =>
    [...projectFiles(project)].map(([name, text]): [string, string] => [`test/made-${index}/${name}`, text]),
  );
  expect(complaintsOf(new Map(files))).toEqual([]);
});

it('a mistake would be seen', () => {
  const [[, project] = []] = PROJECTS;
  if (project === undefined) throw new Error('there is no project');
  const files = [...projectFiles(project)].map(([name, text]): [string, string] => [
    `test/made/${name}`,
    text.replace('new CarrierA()', "new CarrierA({ authTokens: '' })"),
  ]);
  expect(complaintsOf(new Map(files))).toEqual([expect.stringMatching(/agent\.js: .*authTokens/)]);
});
