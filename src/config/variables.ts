import { typingErrors } from '../contract/typing-errors.js';
import type { Env, Problems } from './env.js';

/** Who reads a variable: W the worker, R the receiver, C the codec endpoint, L the library and the starter. */
export type Reader = 'W' | 'R' | 'C' | 'L';

/**
 * Every setting, by whom it is read; `file`: it may be given as a file, by NAME_FILE. The table of docs/running.md is held
 * against it.
 */
export const VARIABLES = {
  PAYMENT_BASE_URL: { by: 'W', file: true },
  PAYMENT_API_KEY: { by: 'W', file: true },
  PAYMENT_API_SECRET: { by: 'W', file: true },
  PAYMENT_API_KEY_PREDECESSORS: { by: 'W', file: true },
  PAYMENT_SIGNER: { by: 'W', file: true },
  PAYMENT_REQUESTS_PER_SECOND: { by: 'W' },
  PAYMENT_NOT_EXECUTED_STATUSES: { by: 'W' },
  PAYMENT_FORMAT_CHECKS: { by: 'W' },
  PAYMENT_CLIENT_CERT_FILE: { by: 'W' },
  PAYMENT_CLIENT_KEY_FILE: { by: 'W' },
  PAYMENT_CA_FILE: { by: 'W' },
  PAYMENT_ACCOUNTS_FILE: { by: 'W' },
  PAYMENT_PROXY_URL: { by: 'W', file: true },
  APPROVERS_FILE: { by: 'W' },
  APPROVER_KEY_FILE: { by: 'L' },
  PAYMENT_ORDER_CAPS: { by: 'W' },
  PAYMENT_CHECK_BALANCE: { by: 'W' },
  ORDER_POLL_INITIAL: { by: 'W' },
  ORDER_POLL_MAX: { by: 'W' },
  ORDER_SETTLE_WINDOW: { by: 'W' },
  ORDER_CONFIRM_DELAY: { by: 'W' },
  ORDER_CACHE_SIZE: { by: 'W' },
  ORDER_LOOKUPS_AT_ONCE: { by: 'W' },
  ORDER_QUEUE_POLLERS: { by: 'W' },
  ORDER_PATCHES_HELD: { by: 'W' },
  TEMPORAL_RESTORED_AT: { by: 'W' },
  TEMPORAL_DEPLOYMENT_NAME: { by: 'W' },
  TEMPORAL_WORKER_BUILD_ID: { by: 'W' },
  CALLBACK_BASE_URL: { by: 'W' },
  CALLBACK_TOKEN_KEY: { by: 'WR', file: true },
  CALLBACK_HOST: { by: 'R' },
  CALLBACK_PORT: { by: 'R' },
  CALLBACK_TRUSTED_PROXIES: { by: 'R' },
  CALLBACK_ALLOWED_ADDRESSES: { by: 'R' },
  BATCH_DIR: { by: 'W' },
  REPORT_DIR: { by: 'W' },
  AUDIT_DIR: { by: 'W' },
  PAYLOAD_ENCRYPTION: { by: 'WRL' },
  PAYLOAD_ENCRYPTION_KEYS: { by: 'WRCL', file: true },
  LOG_LEVEL: { by: 'WRC' },
  METRICS_ADDRESS: { by: 'WR' },
  OTEL_EXPORTER_OTLP_ENDPOINT: { by: 'WRL' },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: { by: 'WRL' },
  OTEL_EXPORTER_OTLP_PROTOCOL: { by: 'WRL' },
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: { by: 'WRL' },
  OTEL_TRACES_EXPORTER: { by: 'WRL' },
  OTEL_SDK_DISABLED: { by: 'WRL' },
  CODEC_HOST: { by: 'C' },
  CODEC_PORT: { by: 'C' },
  CODEC_TOKEN: { by: 'C', file: true },
  CODEC_UI_ORIGIN: { by: 'C' },
  ALLOW_AMBIGUOUS_STATUSES: { by: 'W' },
  ALLOW_DEBUGGING: { by: 'WRC' },
  ALLOW_DIRECT_EGRESS: { by: 'W' },
  ALLOW_PLAIN_TEMPORAL: { by: 'WRL' },
  ALLOW_READABLE_FILES: { by: 'WRCL' },
  ALLOW_SHORT_WINDOWS: { by: 'W' },
  ALLOW_UNKNOWN_VARIABLES: { by: 'WRC' },
} as const satisfies Record<string, Setting>;

interface Setting {
  by: string;
  file?: true;
}

/** The name of a setting. */
export type Variable = keyof typeof VARIABLES;

/** The name of a setting that may be given as a file. */
export type VariableOrFile = {
  [K in Variable]: (typeof VARIABLES)[K] extends { file: true } ? K : never;
}[Variable];

/** What says aloud that a protection is given up. */
export type Allowance = Extract<Variable, `ALLOW_${string}`>;

/** What Temporal's own configuration reads. */
const TEMPORAL_VARIABLES = [
  ...['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'TEMPORAL_API_KEY', 'TEMPORAL_CONFIG_FILE', 'TEMPORAL_PROFILE'],
  ...['TEMPORAL_TLS', 'TEMPORAL_TLS_SERVER_NAME', 'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION'],
  ...['CLIENT_CERT', 'CLIENT_KEY', 'SERVER_CA_CERT'].flatMap((name) => [
    `TEMPORAL_TLS_${name}_PATH`,
    `TEMPORAL_TLS_${name}_DATA`,
  ]),
  ...['TEMPORAL_CODEC_ENDPOINT', 'TEMPORAL_CODEC_AUTH'],
];

/** The names that a setting goes by: its own and NAME_FILE. */
export function sourcesOf(name: Variable): readonly string[] {
  const { file }: Setting = VARIABLES[name];
  return [name, ...(file ? [`${name}_FILE`] : [])];
}

const settingsOf = (reader?: Reader): readonly string[] =>
  (Object.keys(VARIABLES) as Variable[]).flatMap((name) =>
    reader && !VARIABLES[name].by.includes(reader) ? [] : sourcesOf(name),
  );

const namesOf = (reader?: Reader): readonly string[] => [...settingsOf(reader), ...TEMPORAL_VARIABLES];

/** Beginnings of names that are ours, in a process of ours. */
const PREFIXES = /^((PAYMENT|APPROVER|ORDER|CALLBACK|PAYLOAD|CODEC|BATCH|REPORT|AUDIT)S?|TEMPORAL_TLS)_/;

/** As many letters may be wrong for a name to be meant as another one. */
const TYPING_ERRORS = 2;

/** Shorter names of others come near to ours by chance: WATCH_DIR. */
const MIN_LENGTH_OF_LIKENESS = 12;

/**
 * Refuses settings that are empty or misspelt: the protection that they were to give would be off, in silence. A library shares
 * its process with variables of others, so that it minds its own names only.
 */
export function checkNames(env: Env, reader: Reader, problems: Problems): void {
  const known = namesOf(reader === 'L' ? reader : undefined);
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    if (!known.includes(name)) refuseUnknown(env, name, known, reader, problems);
    // Those of OpenTelemetry are everybody's, and by its own rules an empty one is none.
    else if (value === '' && !name.startsWith('OTEL_'))
      problems.add(name, 'is set but empty: give it a value, or unset it');
    else if (name.startsWith('ALLOW_') && !/^(true|false)$/.test(value)) problems.add(name, 'must be true or false');
  }
}

/** Which allowances are in force for a process, sorted. */
export const allowedBy = (env: Env, reader: Reader): readonly string[] =>
  namesOf(reader)
    .filter((name) => name.startsWith('ALLOW_') && env[name] === 'true')
    .sort();

function refuseUnknown(env: Env, name: string, known: readonly string[], reader: Reader, problems: Problems): void {
  const asOurs = name.toUpperCase().replaceAll('-', '_');
  const base = known.find((other) => isMeantBy(asOurs, other));
  const isOurs = base !== undefined || PREFIXES.test(asOurs);
  if (!isOurs && asOurs.length < MIN_LENGTH_OF_LIKENESS) return;
  const [nearest = '', errors = Number.POSITIVE_INFINITY] = nearestOf(asOurs, known, isOurs);
  const shown = name.replace(/[^\x21-\x7e]/g, '?');
  const mistake = `is not a setting: did you mean ${base ?? nearest}?`;
  if (errors <= TYPING_ERRORS && name !== nearest) problems.add(shown, mistake);
  else if (isOurs && reader !== 'L' && !isServiceLink(env, name))
    problems.weak('ALLOW_UNKNOWN_VARIABLES', shown, mistake);
}

/** True for a name of ours without its `_`, or with an ending that others take but it does not. */
const isMeantBy = (name: string, ours: string): boolean =>
  name.replaceAll('_', '') === ours.replaceAll('_', '') || name === `${ours}_FILE`;

/** What Kubernetes sets for a service whose name begins like ours, unless the pod has enableServiceLinks: false. */
function isServiceLink(env: Env, name: string): boolean {
  const service = /^(.+?)_(?:SERVICE_(?:HOST|PORT(?:_.+)?)|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$/;
  const link = service.exec(name)?.[1];
  return link !== undefined && env[`${link}_SERVICE_HOST`] !== undefined;
}

/** `isOurs`: a name may also lack the first word of the one that was meant. */
function nearestOf(name: string, known: readonly string[], isOurs: boolean): [name: string, errors: number] | [] {
  const all = known.map((other): [string, number] => {
    const tail = other.slice(other.indexOf('_') + 1);
    const ofTail = isOurs && PREFIXES.test(tail) ? typingErrors(name, tail) : Number.POSITIVE_INFINITY;
    return [other, Math.min(typingErrors(name, other), ofTail)];
  });
  return all.reduce<[string, number] | []>((best, next) => (next[1] < (best[1] ?? Infinity) ? next : best), []);
}
