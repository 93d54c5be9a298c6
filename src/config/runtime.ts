import { isLoopback } from './addresses.js';
import type { Env, Problems } from './env.js';

/** Options of Node.js that open a debugger to the machine, write secrets down, or read HTTP and TLS less strictly. */
const DANGEROUS_OPTION = /(^|[\s"'])--(inspect|insecure-http-parser|tls-min-v1\.[01]|tls-keylog|trace-tls|report-)/;

/** No allowance: an authority of one's own is always possible. */
export function refuseUncheckedCertificates(env: Env, problems: Problems): void {
  if (env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return;
  const instead = 'name an authority of your own in NODE_EXTRA_CA_CERTS instead';
  problems.add('NODE_TLS_REJECT_UNAUTHORIZED', `must not be 0: ${instead}`);
}

/** Refuses what the environment, or the command line, makes of Node.js itself, where that opens a hole. */
export function checkRuntime(env: Env, problems: Problems, commandLine: readonly string[] = process.execArgv): void {
  refuseUncheckedCertificates(env, problems);
  const what = 'opens a debugger, writes secrets down or makes HTTP or TLS less strict: take that option out';
  // Node.js reads `_` in options as `-`.
  const isDangerous = (options: string) => DANGEROUS_OPTION.test(options.replaceAll('_', '-'));
  if (isDangerous(env.NODE_OPTIONS ?? '')) problems.weak('ALLOW_DEBUGGING', 'NODE_OPTIONS', what);
  if (commandLine.some(isDangerous)) problems.weak('ALLOW_DEBUGGING', 'command line of node', what);
  if (env.NODE_DEBUG) {
    problems.weak('ALLOW_DEBUGGING', 'NODE_DEBUG', 'writes keys and request bodies to the log: unset it');
  }
}

/** Requests to the service take no proxy of the environment: whoever sets one, and not ours, believes otherwise. */
export function refuseUnusedProxy(env: Env, baseUrls: readonly string[], problems: Problems): void {
  if (env.PAYMENT_PROXY_URL || env.PAYMENT_PROXY_URL_FILE) return;
  if (baseUrls.every((url) => !URL.canParse(url) || isLoopback(new URL(url).hostname))) return;
  for (const name of ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy']) {
    if (!env[name]) continue;
    problems.weak('ALLOW_DIRECT_EGRESS', name, 'is not used: name the proxy in PAYMENT_PROXY_URL instead');
  }
}
