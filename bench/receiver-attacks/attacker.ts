/** The attacker, a process of its own: `attacker.ts <attack> <target as JSON> <seconds>`. Loopback only, ends by itself. */
import { ATTACKS, type AttackName, attack, type Target } from './attacks.js';

const LONGEST_SECONDS = 120;

const [name = '', target = '{}', seconds = '0'] = process.argv.slice(2);
if (!Object.hasOwn(ATTACKS, name)) throw new Error(`no attack of that name: ${Object.keys(ATTACKS).join(', ')}`);
const where: Target = JSON.parse(target);
const opened = await attack(name as AttackName, where, Math.min(Number(seconds), LONGEST_SECONDS));
process.stdout.write(`${opened}\n`);
process.exit(0);
