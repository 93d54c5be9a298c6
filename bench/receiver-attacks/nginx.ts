import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { freePort } from '../../scripts/temporal/dev-server.js';

/** nginx with the shipped configuration, running. */
export interface Nginx {
  url: string;
  port: number;
  /** All that it has logged so far. */
  logText(): Promise<string>;
  stop(): Promise<void>;
}

/** The nginx of this machine; undefined when there is none. Debian keeps it where an ordinary user's PATH does not look. */
export function findNginx(): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, 'nginx')).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A self-signed certificate for localhost, made by openssl. */
async function makeCertificate(folder: string): Promise<{ certificate: string; key: string }> {
  const [certificate, key] = [join(folder, 'certificate.pem'), join(folder, 'key.pem')];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  await execa('openssl', ['req', ...kind, '-subj', '/CN=localhost', '-keyout', key, '-out', certificate]);
  return { certificate, key };
}

/** Replaces each text, which must stand in the shipped file exactly once. */
function adapted(shipped: string, changes: readonly (readonly [from: string, to: string])[]): string {
  return changes.reduce((text, [from, to]) => {
    const parts = text.split(from);
    if (parts.length !== 2) throw new Error(`examples/nginx.conf has ${parts.length - 1} times: ${from}`);
    return parts.join(to);
  }, shipped);
}

/**
 * Starts nginx on a free port of loopback with examples/nginx.conf, of which only places and names are changed, and what `others`
 * names. `more`: lines for its `http` block. Its files are in `folder`.
 */
export async function startNginx(
  folder: string,
  receiverUrl: string,
  more = '',
  others: readonly (readonly [string, string])[] = [],
): Promise<Nginx> {
  const program = findNginx();
  if (program === undefined) throw new Error('nginx is not installed');
  await mkdir(folder, { recursive: true });
  const { certificate, key } = await makeCertificate(folder);
  const port = await freePort();
  const shipped = await readFile(fileURLToPath(new URL('../../examples/nginx.conf', import.meta.url)), 'utf8');
  const [errors, accesses, configuration] = [
    join(folder, 'error.log'),
    join(folder, 'access.log'),
    join(folder, 'conf'),
  ];
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${join(folder, kind)};`)
    .join('\n');
  const changes = [
    ['/run/nginx.pid', join(folder, 'pid')],
    ['/var/log/nginx/error.log', errors],
    ['/var/log/nginx/callbacks.log', accesses],
    ['server 127.0.0.1:8080 ', `server ${new URL(receiverUrl).host} `],
    ['listen 443 ssl', `listen 127.0.0.1:${port} ssl`],
    ['listen [::]:443 ssl backlog=4096;', ''],
    ['/etc/ssl/certs/hooks.example.pem', certificate],
    ['/etc/ssl/private/hooks.example.key', key],
    ['    server_tokens off;', `    server_tokens off;\n${temporary}\n${more}`],
    ...others,
  ] as const;
  await writeFile(configuration, adapted(shipped, changes));
  const child = spawn(program, ['-c', configuration, '-p', folder, '-e', errors, '-g', 'daemon off;'], {
    stdio: 'pipe',
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const ended = once(child, 'close');
  const url = `https://127.0.0.1:${port}`;
  await untilListening(
    port,
    () => child.exitCode !== null,
    () => said,
  );
  const read = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');
  return {
    url,
    port,
    logText: async () => said + (await read(errors)) + (await read(accesses)),
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function untilListening(port: number, hasEnded: () => boolean, said: () => string): Promise<void> {
  for (let n = 0; n < 200; n += 1) {
    if (hasEnded()) break;
    const socket = connect(port, '127.0.0.1');
    const connected = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (connected) return;
    await sleep(50);
  }
  throw new Error(`nginx did not start: ${said()}`);
}
