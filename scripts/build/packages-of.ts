import { type BuildOptions, build } from 'esbuild';

/** The part of package.json that says which packages a user of ours has. */
export type PackageJson = Record<'dependencies' | 'peerDependencies', Record<string, string>>;

/** Returns the package of an import: `zod/mini` → `zod`, `@a/b/c.js` → `@a/b`. */
export const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/**
 * Bundles our own sources for Node.js, and what `inline` names. Returns the packages that the
 * result imports. Throws if a user of ours would lack one of them.
 */
export async function bundleForNode(
  { dependencies, peerDependencies }: PackageJson,
  options: BuildOptions,
  inline: readonly string[] = [],
): Promise<string[]> {
  const installed = Object.keys({ ...dependencies, ...peerDependencies });
  const external = installed.filter((name) => !inline.includes(name));
  const target = 'node20.19';
  const { metafile } = await build({
    ...options,
    ...{ bundle: true, platform: 'node', target, external, keepNames: true, metafile: true, logLevel: 'warning' },
  });
  const inputs = Object.keys(metafile.inputs).filter((path) => path.includes('node_modules/'));
  const unknown = inputs.filter((path) => !inline.some((name) => path.includes(`node_modules/${name}/`)));
  if (unknown.length > 0) throw new Error(`not in dependencies of package.json: ${unknown.join(', ')}`);
  const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => packageOf(path)));
  return [...new Set(imported)].filter((name) => installed.includes(name));
}
