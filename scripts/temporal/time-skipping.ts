import { existsSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { execa } from 'execa';
import { cacheFolder, installOnce, type Log } from './cache.js';
import { outputOf, runLong } from './run.js';
import { downloadThroughSdk, findSdkDownload } from './sdk-download.js';
import { registerSearchAttributes } from './search-attributes.js';

const TEST_SERVER_VERSION = '1.38.0';
/** Of the launcher below: what an earlier one is cached with is not used. */
const LAUNCHER_VERSION = 2;
const MIN_JAVA = 17;
const COPY_DEPENDENCIES = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
/** The SDK gives a server 5 s to start, which a Java server on a busy machine now and then exceeds. */
const START_ATTEMPTS = 6;
/** Until then a server has loaded what it needs to start; on a machine so slow that it has not, less is archived. */
const WARM_UP_MS = 6_000;
/** An archive of loaded classes halves the time a server takes to start. */
const ARCHIVE = 'classes.jsa';
/** Java's arguments, without a port. The class path is relative to the installed folder: the archive knows it by that name. */
const JAVA_SERVER = [
  '-XX:TieredStopAtLevel=1',
  '-XX:+UseSerialGC',
  '-cp',
  'lib/*',
  'io.temporal.testserver.TestServer',
];

/**
 * Started by the SDK with a port. `exec`, so that the SDK's kill reaches Java itself. The loop ends Java when the process that
 * started us is gone, which the SDK cannot do when it is killed. `set -f`: it is Java that expands the `*`.
 */
const LAUNCHER = `#!/bin/sh
cd "$(dirname "$0")"
starter=$PPID
server=$$
(
  while kill -0 "$starter" && kill -0 "$server"; do sleep 1; done
  kill -9 "$server"
) </dev/null >/dev/null 2>&1 &
[ -f ${ARCHIVE} ] && archive=-XX:SharedArchiveFile=${ARCHIVE}
set -f
exec java $archive ${JAVA_SERVER.join(' ')} "$@"
`;

/**
 * A server that skips waiting time, with our search attributes. Only `result()` and `env.sleep` skip, for the whole server
 * at once: one environment per test file, tests in sequence. It has no schedules and no list queries. End it with `teardown()`.
 */
export async function createTimeSkippingEnv(log: Log = () => {}): Promise<TestWorkflowEnvironment> {
  const path = await findTimeSkippingServer(log);
  const env = await startEnvironment(path);
  try {
    await registerSearchAttributes(env.connection, 'default');
    return env;
  } catch (error) {
    await env.teardown();
    throw error;
  }
}

/**
 * Path of an executable test server that takes a port: a cached one, the SDK's download, or the one Maven has, run by Java.
 * Throws one error that says what to do when none can be had.
 */
export async function findTimeSkippingServer(log: Log): Promise<string> {
  const folder = join(cacheFolder(), `test-server-${TEST_SERVER_VERSION}-${LAUNCHER_VERSION}`);
  const launcher = join(folder, 'start.sh');
  const cached = findSdkDownload('test-server') ?? (existsSync(launcher) ? launcher : undefined);
  if (cached !== undefined) return cached;
  const downloaded = await downloadThroughSdk('test-server', log);
  if (downloaded !== undefined) return downloaded;
  await fetchWithMaven(folder, log);
  return launcher;
}

/** 'openjdk version "17.0.15" 2025-04-15' → 17; 0 for any other text. */
export function parseJavaVersion(versionOutput: string): number {
  return Number(/version "(\d+)/.exec(versionOutput)?.[1] ?? 0);
}

async function fetchWithMaven(target: string, log: Log): Promise<void> {
  const java = parseJavaVersion((await outputOf('java', ['-version'])) ?? '');
  const maven = await outputOf('mvn', ['-v']);
  if (java < MIN_JAVA || maven === undefined) {
    throw new Error(
      `The tests of long waits need Temporal's time-skipping test server. It cannot be downloaded from here, and fetching it ` +
        `another way needs Java ${MIN_JAVA} or newer and Maven on PATH (found: Java ${java || 'none'}, Maven ${maven ? 'yes' : 'none'}).`,
    );
  }
  const pom = fileURLToPath(new URL('./test-server/pom.xml', import.meta.url));
  await installOnce(target, log, async (folder) => {
    log('Fetching the time-skipping test server with Maven: about 40 MB, once');
    await runLong('Fetching the test server', log, 'mvn', [
      ...['--batch-mode', '--quiet', '--file', pom, COPY_DEPENDENCIES, '-DincludeScope=runtime'],
      ...[`-DtestServerVersion=${TEST_SERVER_VERSION}`, `-DoutputDirectory=${join(folder, 'lib')}`],
    ]);
    await writeFile(join(folder, 'start.sh'), LAUNCHER);
    await chmod(join(folder, 'start.sh'), 0o755);
    await archiveClasses(folder);
  });
}

/** Java writes the archive when a server that ran for a moment is told to end. Without one, servers only start later. */
async function archiveClasses(folder: string): Promise<void> {
  const anyPort = '0';
  await execa('java', [`-XX:ArchiveClassesAtExit=${ARCHIVE}`, ...JAVA_SERVER, anyPort], {
    cwd: folder,
    timeout: WARM_UP_MS,
    // An archive that is cut off is none.
    forceKillAfterDelay: 60_000,
    reject: false,
  });
}

async function startEnvironment(path: string): Promise<TestWorkflowEnvironment> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await TestWorkflowEnvironment.createTimeSkipping({
        server: { executable: { type: 'existing-path', path } },
      });
    } catch (error) {
      if (attempt === START_ATTEMPTS) throw error;
      await sleep(1_000);
    }
  }
}
