import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** Ticks in a second: fixed for user space on Linux. */
const TICKS_PER_SECOND = 100;

/** CPU time that a process has used so far, in seconds, user and system; from /proc, elsewhere from `ps`. */
export async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return fromPs(pid);
  // The name in brackets may hold blanks; utime and stime are the 14th and 15th field.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** `ps` tells `[[dd-]hh:]mm:ss.cc`. */
async function fromPs(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'cputime=', '-p', `${pid}`]);
  return stdout
    .trim()
    .split(/[-:]/)
    .reduce((seconds, part, index, { length }) => seconds * (length - index === 3 ? 24 : 60) + Number(part), 0);
}
