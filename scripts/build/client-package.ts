import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';
import { bundleForNode, type PackageJson, packageOf } from './packages-of.js';

/** They are ES modules only, which Jest cannot load from CommonJS: the bundle contains them. */
const INLINE = ['@noble/hashes', '@scure/base'];

const README = fileURLToPath(new URL('client/README.md', import.meta.url));

/** Matches what a declaration file imports, also inside a type. */
const IMPORTS = /(?:\bfrom |\bimport\(|^import )['"]([^'"]+)['"]/gm;

/** The double for unit tests uses the library as callers do, so both throw the same classes. */
const LIBRARY: Plugin = {
  name: 'library',
  setup: ({ onResolve }) => onResolve({ filter: /^\.\/index\.js$/ }, ({ path }) => ({ path, external: true })),
};

/**
 * Writes the package `payment-orders-client` into `folder`: the library without worker and native
 * code. One CommonJS file serves `import` and `require`, so every error class exists once.
 */
export async function writeClientPackage(root: string, dist: string, folder: string): Promise<void> {
  const main = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  await rm(folder, { recursive: true, force: true });
  const bundled = (name: string, plugins: Plugin[]) => {
    const entry = { entryPoints: [join(root, 'src', `${name}.ts`)], outfile: join(folder, `${name}.js`), plugins };
    return bundleForNode(main, { ...entry, absWorkingDir: root, format: 'cjs' }, INLINE);
  };
  const imported = [...(await bundled('index', [])), ...(await bundled('testing', [LIBRARY]))];
  const named = await copyTypes(dist, join(folder, 'types'));
  await writeFile(
    join(folder, 'package.json'),
    `${JSON.stringify(manifest(main, [...imported, ...named]), null, 2)}\n`,
  );
  await copyFile(README, join(folder, 'README.md'));
  const licenses = INLINE.map((name) => readFile(join(root, 'node_modules', name, 'LICENSE'), 'utf8'));
  const texts = (await Promise.all(licenses)).map((text, index) => `${INLINE[index]}\n\n${text}`);
  await writeFile(join(folder, 'THIRD-PARTY-LICENSES.txt'), texts.join('\n'));
}

/** Copies the declarations of the library and its double; returns the packages that they name. */
async function copyTypes(dist: string, folder: string): Promise<Set<string>> {
  const named = new Set<string>();
  const files = ['index.d.ts', 'testing.d.ts'].map((name) => join(dist, name));
  // The loop also visits what it appends.
  for (const file of files) {
    const text = await readFile(file, 'utf8');
    for (const [, specifier = ''] of text.matchAll(IMPORTS)) {
      const target = resolve(dirname(file), specifier.replace(/\.js$/, '.d.ts'));
      if (!specifier.startsWith('.')) named.add(packageOf(specifier));
      else if (!files.includes(target)) files.push(target);
    }
    const copy = join(folder, relative(dist, file));
    await mkdir(dirname(copy), { recursive: true });
    await writeFile(copy, text);
  }
  return named;
}

/** Makes the package.json. Throws if a package is named that `payment-orders` does not bring. */
function manifest(main: PackageJson & Record<string, unknown>, packages: readonly string[]): object {
  const { version, license, private: isPrivate, repository, bugs, engines, dependencies, peerDependencies } = main;
  const names = packages.filter((name) => !name.startsWith('node:'));
  // The declarations of the library and of the SDK use them.
  const types = Object.keys(dependencies).filter((name) => name.startsWith('@types/'));
  const pick = (from: Record<string, string>) =>
    Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name) || types.includes(name)));
  const missing = names.filter((name) => !dependencies[name] && !peerDependencies[name]);
  if (missing.length > 0) throw new Error(`the client's types name what is not installed: ${missing.join(', ')}`);
  return {
    name: 'payment-orders-client',
    version,
    description: 'Starts and follows payment orders on Temporal: the library of payment-orders, without its worker',
    license,
    private: isPrivate,
    repository,
    bugs,
    type: 'commonjs',
    engines,
    main: 'index.js',
    types: 'types/index.d.ts',
    exports: {
      '.': { types: './types/index.d.ts', default: './index.js' },
      './testing': { types: './types/testing.d.ts', default: './testing.js' },
      './package.json': './package.json',
    },
    dependencies: pick(dependencies),
    peerDependencies: pick(peerDependencies),
  };
}
