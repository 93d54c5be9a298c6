import { chmod, mkdtemp, readdir, readlink, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Image, performSteps } from '../../scripts/deploy/dockerfile.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

let folder: string;
let image: Image;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'payment-orders-image-'));
  await chmod(folder, 0o755);
  image = await performSteps(join(ROOT, 'deploy/Dockerfile'), ROOT, folder);
}, 600_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

const inImage = (path: string): string => join(image.root, path);

test('the image holds the built programs and bundles, and nothing that only building needs', async () => {
  for (const name of ['worker.js', 'receiver.js', 'api.js', 'codec.js', 'starter.js', 'workflow-bundle-encrypted.js']) {
    expect((await stat(inImage(`app/dist/${name}`))).isFile(), name).toBe(true);
  }
  for (const left of ['app/src', 'app/scripts', 'app/node_modules/vitest', 'app/node_modules/typescript']) {
    await expect(stat(inImage(left)), left).rejects.toThrow('ENOENT');
  }
  for (const name of ['batches', 'audit']) {
    expect((await stat(inImage(`var/lib/payment-orders/${name}`))).mode & 0o777, name).toBe(0o700);
  }
});

test('its packages are those of this platform, without types and source maps', async () => {
  const bytes = async (folder: string): Promise<number> => {
    const entries = await readdir(folder, { withFileTypes: true, recursive: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    const sizes = await Promise.all(files.map((file) => stat(file).then(({ size }) => size)));
    return sizes.reduce((sum, size) => sum + size, 0);
  };
  expect(await readdir(inImage('app/node_modules/@temporalio/core-bridge/releases'))).toHaveLength(1);
  expect((await bytes(inImage('app/node_modules'))) / 2 ** 20).toBeLessThan(150);
});

test('the command line is there by the name that pages tell', async () => {
  expect(await readlink(inImage('usr/local/bin/payment-orders'))).toBe('/app/dist/starter.js');
  expect((await stat(inImage('app/dist/starter.js'))).mode & 0o111).toBe(0o111);
});

test('its command is a program of node, which gets the signals, under a user that is not root', () => {
  expect(image.command).toEqual(['node', 'dist/worker.js']);
  expect(image.user).toBe('1000:1000');
});

test('every program starts from the image alone, and without its settings ends with 2 and their names', async () => {
  const [command = '', ...ownArguments] = image.command;
  const [uid, gid] = image.user.split(':').map(Number);
  const lacks = { worker: /^PAYMENT_BASE_URL/m, receiver: /^CALLBACK_TOKEN_KEY/m, codec: /^PAYLOAD_ENCRYPTION_KEYS/m };
  for (const [name, said] of Object.entries(lacks)) {
    const args = name === 'worker' ? ownArguments : [`dist/${name}.js`];
    const { exitCode, stderr } = await execa(command, args, {
      ...{
        cwd: inImage(image.workdir),
        env: { PATH: process.env.PATH, ...image.env },
        extendEnv: false,
        reject: false,
      },
      // Only root may become somebody else.
      ...(process.getuid?.() === 0 && { uid, gid }),
    });
    expect({ name, exitCode }).toEqual({ name, exitCode: 2 });
    expect(stderr).toMatch(said);
  }
});
