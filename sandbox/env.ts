import { z } from 'zod';
import { SANDBOX_API_KEY, SANDBOX_API_SECRET, type SandboxOptions } from './options.js';

const port = z.coerce.number().int().min(0).max(65_535);
const filled = z
  .string()
  .min(1)
  .regex(/^[\x21-\x7e]+$/, { error: 'must be printable characters without blanks' });

const ENVIRONMENT = z.object({
  SANDBOX_PORT: port.default(4010),
  SANDBOX_ADMIN_PORT: port.default(4011),
  SANDBOX_API_KEY: filled.default(SANDBOX_API_KEY),
  SANDBOX_API_SECRET: filled.default(SANDBOX_API_SECRET),
  SANDBOX_SIGNER: z.enum(['hmac-sha256', 'hmac-sha512']).default('hmac-sha256'),
  SANDBOX_SEED: z.string().min(1).default('1'),
  SANDBOX_DATA_DIR: z.string().min(1).optional(),
  SANDBOX_TIME_SCALE: z.coerce.number().min(0).max(1000).default(1),
});

/** Reads the options of the process; on mistakes one line per variable, values never repeated. */
export function readEnvironment(env: NodeJS.ProcessEnv): SandboxOptions | { mistakes: string[] } {
  // An empty number would silently become 0, so empty counts as unset for numbers and as a mistake elsewhere.
  const given = { ...env };
  for (const key of ['SANDBOX_PORT', 'SANDBOX_ADMIN_PORT', 'SANDBOX_TIME_SCALE'])
    if (given[key] === '') delete given[key];
  const read = ENVIRONMENT.safeParse(given);
  if (!read.success) {
    return { mistakes: read.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`) };
  }
  const { data } = read;
  return {
    port: data.SANDBOX_PORT,
    adminPort: data.SANDBOX_ADMIN_PORT,
    apiKey: data.SANDBOX_API_KEY,
    apiSecret: data.SANDBOX_API_SECRET,
    signer: data.SANDBOX_SIGNER,
    seed: data.SANDBOX_SEED,
    dataDir: data.SANDBOX_DATA_DIR,
    timeScale: data.SANDBOX_TIME_SCALE,
  };
}
