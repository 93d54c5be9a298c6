import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';

/** A copy of the working tree. */
export interface TreeCopy {
  root: string;
  remove(): Promise<void>;
}

/** Copies what belongs to the repository, changes and new files included; the installed packages are shared. */
export async function copyTree(root: string): Promise<TreeCopy> {
  const { stdout } = await execa('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
  });
  const folder = await mkdtemp(join(tmpdir(), 'payment-orders-mutant-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    for (const file of new Set(stdout.split('\0').filter(Boolean))) {
      await cp(join(root, file), join(folder, file)).catch(ignoreDeleted);
    }
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
    return { root: folder, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** A file that git still lists may have been deleted in the working tree. */
function ignoreDeleted(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
