import type { Env, Problems, Reader } from './env.js';
import { NAMES, settingOf, sourcesOf } from './settings.js';

/** Variables of Temporal's own configuration. */
const TEMPORAL_VARIABLES = [
  ...['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE', 'TEMPORAL_API_KEY', 'TEMPORAL_CONFIG_FILE', 'TEMPORAL_PROFILE'],
  ...['TEMPORAL_TLS', 'TEMPORAL_TLS_SERVER_NAME', 'TEMPORAL_TLS_DISABLE_HOST_VERIFICATION'],
  ...['CLIENT_CERT', 'CLIENT_KEY', 'SERVER_CA_CERT'].flatMap((name) => [
    `TEMPORAL_TLS_${name}_PATH`,
    `TEMPORAL_TLS_${name}_DATA`,
  ]),
  ...['TEMPORAL_CODEC_ENDPOINT', 'TEMPORAL_CODEC_AUTH'],
];

const namesOf = (reader?: Reader): readonly string[] => [
  ...NAMES.filter((name) => !reader || settingOf(name).by.includes(reader)).flatMap(sourcesOf),
  ...TEMPORAL_VARIABLES,
];

/** Prefixes of our variables in our processes. */
const PREFIXES = /^((PAYMENT|APP?ROVER|ORDER|CALLBACK|PAYLOAD|CODEC|BATCH|REPORT|AUDIT)S?|TEMPORAL_TLS)_/;

/** Prefixes in the API only, because other programs use such names, too. */
const PREFIXES_OF_API = /^API_(ADDR|KEY|REQUEST)/;

/** Prefixes in other programs: a misspelt key must not disable encryption. */
const PREFIXES_OF_CLIENT = /^PAYLOADS?_ENCRYPTION/;

/** Refuses empty and misspelt settings. A library checks only its own names. */
export function checkNames(env: Env, reader: Reader, problems: Problems): void {
  const known = namesOf(reader === 'L' ? reader : undefined);
  const prefixes = reader === 'L' ? PREFIXES_OF_CLIENT : PREFIXES;
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    if (known.includes(name)) {
      if (value === '') problems.add(name, 'is set but empty: give it a value, or unset it');
      continue;
    }
    const asOurs = name.toUpperCase().replaceAll('-', '_');
    const meant = known.find((other) => isMeantBy(asOurs, other));
    const isOurs = prefixes.test(asOurs) || (reader === 'A' && PREFIXES_OF_API.test(asOurs));
    if (!meant && (!isOurs || isServiceLink(env, name))) continue;
    const hint = meant ? `did you mean ${meant}?` : 'docs/running.md lists all. Unset it, or rename it';
    problems.add(name.replace(/[^\x21-\x7e]/g, '?'), `is not a setting: ${hint}`);
  }
}

/** Returns the allowances in force, sorted. */
export const allowedBy = (env: Env, reader: Reader): readonly string[] =>
  namesOf(reader)
    .filter((name) => name.startsWith('ALLOW_') && env[name] === 'true')
    .sort();

/** Returns true for our names without `_`, or with an ending of another setting. */
const isMeantBy = (name: string, ours: string): boolean =>
  name.replaceAll('_', '') === ours.replaceAll('_', '') || name === `${ours}_FILE`;

/** Returns true for variables that Kubernetes sets for a service whose name starts like ours. */
function isServiceLink(env: Env, name: string): boolean {
  const service = /^(.+?)_(?:SERVICE_(?:HOST|PORT(?:_.+)?)|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$/;
  const link = service.exec(name)?.[1];
  return link !== undefined && env[`${link}_SERVICE_HOST`] !== undefined;
}
