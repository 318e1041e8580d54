// Programs that are run where they stand, without a file and without their real surroundings.
import ts from 'typescript';

/** A program as the body of a function that is given `load` for its imports. */
export function bodyOf(code: string): string {
  const { target, module } = { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext };
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: { target, module, verbatimModuleSyntax: true },
  });
  return outputText
    .replaceAll(/^import (\{[^}]*\}) from ('[^']*');$/gm, (_, names: string, from: string) => {
      return `const ${names.replaceAll(' as ', ': ')} = await load(${from});`;
    })
    .replaceAll(/^import (\w+) from ('[^']*');$/gm, 'const { default: $1 } = await load($2);')
    .replaceAll(/^import \* as (\w+) from ('[^']*');$/gm, 'const $1 = await load($2);')
    .replaceAll(/^export /gm, '');
}

/** Runs such a body. Its surroundings are the values by the names that it uses, `load` among them. */
export async function runBody(
  body: string,
  surroundings: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  return AsyncFunction(...Object.keys(surroundings), body)(...Object.values(surroundings));
}
