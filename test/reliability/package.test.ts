import { readFile } from 'node:fs/promises';
import { dirname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { beforeAll, expect, test } from 'vitest';
import { packedPackages } from '../support/packed.js';

const project = fileURLToPath(new URL('../..', import.meta.url));

let folder: string;
let packed: string[];
let tarball: string;

beforeAll(async () => {
  ({ folder, main: tarball, files: packed } = await packedPackages());
}, 600_000);

/** The inline source map of a bundle, as text, for its sources stand there in base64. */
const mapIn = (text: string): string =>
  Buffer.from(/sourceMappingURL=data:[^,]*base64,(\S+)/.exec(text)?.[1] ?? '', 'base64').toString();

test('packing builds: the library, its types, the bundles and the commands are there, and not the client package', () => {
  expect(packed).toEqual(
    expect.arrayContaining([
      'dist/index.js',
      'dist/index.d.ts',
      'dist/workflow-bundle.js',
      'dist/workflow-bundle-encrypted.js',
      'dist/sandbox.js',
      'dist/dev.js',
      'dist/sdk-download-child.js',
      'sandbox/README.md',
    ]),
  );
  expect(packed.filter((path) => /^(?:dist-client|src|test|scripts)\//.test(path))).toEqual([]);
});

test('no file says where it was built, and every source map holds its sources', async () => {
  expect(packed.filter((path) => path.endsWith('.map'))).toEqual([]);
  for (const path of packed) {
    const text = await readFile(join(folder, path), 'utf8');
    const map = mapIn(text);
    for (const place of [project, folder]) expect(text.includes(place) || map.includes(place), path).toBe(false);
    if (map !== '') {
      const { sources, sourcesContent } = JSON.parse(map);
      expect(sources).toContain('src/workflows/orders.ts');
      expect(sourcesContent).toHaveLength(sources.length);
    } else expect(text, path).not.toMatch(/^\/\/# sourceMappingURL/m);
  }
});

test('what documents in the package link to is in the package', async () => {
  const broken: string[] = [];
  for (const path of packed.filter((name) => name.endsWith('.md'))) {
    const text = await readFile(join(folder, path), 'utf8');
    for (const [, link = ''] of text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)) {
      const target = normalize(join(dirname(path), link))
        .split(sep)
        .join('/')
        .replace(/\/$/, '');
      if (!packed.some((name) => name === target || name.startsWith(`${target}/`))) broken.push(`${path}: ${link}`);
    }
  }
  expect(broken).toEqual([]);
});

test('every command runs from the unpacked package; processes name what their configuration lacks, with exit 2', async () => {
  await execa('tar', ['-xf', tarball], { cwd: folder });
  const { bin } = JSON.parse(await readFile(join(folder, 'package', 'package.json'), 'utf8'));
  // By itself the API lacks nothing: on this machine alone it needs no keys.
  const env = { API_ADDRESS: '0.0.0.0:8088' };
  const run = (name: string, args: string[] = []) =>
    execa(process.execPath, [join(folder, 'package', bin[name]), ...args], {
      env: name === 'payment-orders-api' ? env : {},
      extendEnv: false,
      reject: false,
    });
  const lacks: Record<string, RegExp> = {
    'payment-orders-worker': /^PAYMENT_BASE_URL/m,
    'payment-orders-receiver': /^CALLBACK_TOKEN_KEY/m,
    'payment-orders-api': /^API_KEYS_FILE/m,
    'payment-orders-codec': /^PAYLOAD_ENCRYPTION_KEYS/m,
  };
  const helps = ['payment-orders', 'payment-orders-sandbox', 'payment-orders-dev'];
  expect(Object.keys(bin).sort()).toEqual([...helps, ...Object.keys(lacks)].sort());
  for (const [name, line] of Object.entries(lacks)) {
    const { exitCode, stderr } = await run(name);
    expect(stderr, name).toMatch(line);
    expect(exitCode, name).toBe(2);
  }
  for (const name of helps) expect((await run(name, ['--help'])).exitCode, name).toBe(0);
  for (const file of Object.values<string>(bin)) {
    expect(await readFile(join(folder, 'package', file), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  }
});
