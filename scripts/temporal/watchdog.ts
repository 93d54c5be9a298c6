import { type ChildProcess, spawn } from 'node:child_process';
import { Socket } from 'node:net';

/** The shell waits on a pipe that only we hold open: it closes when our process ends, even by SIGKILL. */
const SCRIPT = 'cat >/dev/null; kill -9 "$1" 2>/dev/null; if [ -n "$2" ]; then rm -rf "$2"; fi';

/**
 * Kills `child` and removes `folder` as soon as this process is gone, so that no server outlives a killed test run.
 * Returns a function that calls it off; it is also called off when the child ends by itself.
 */
export function endWithParent(child: ChildProcess, folder = ''): () => void {
  const watchdog = spawn('sh', ['-c', SCRIPT, 'watchdog', String(child.pid), folder], {
    // In a session of its own, so that Ctrl-C does not end the watchdog before us.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watchdog.unref();
  if (watchdog.stdin instanceof Socket) watchdog.stdin.unref();
  const release = (): void => {
    if (watchdog.pid !== undefined && watchdog.exitCode === null) killGroup(watchdog.pid);
  };
  child.once('exit', release);
  return release;
}

/** The shell and the `cat` it waits for. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has just ended by itself.
  }
}
