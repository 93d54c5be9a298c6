import { readFileSync, writeFileSync } from 'node:fs';
import { NAMES, settingOf } from '../src/config/settings.js';

const PAGE = new URL('../docs/running.md', import.meta.url);
const BLOCK = /(<!-- settings: .* -->\n)[\s\S]*?(<!-- end of settings -->)/;

/** Settings that few installations need: they stand in a table of their own. */
const ADVANCED =
  /^PAYMENT_(?:NOT_EXECUTED_STATUSES|FORMAT_CHECKS|PROXY_URL)|^ORDER_|^TEMPORAL_(?:RESTORED|DEPLOYMENT|WORKER)|^ALLOW_/;

/** Returns a table of settings, in Markdown. */
function tableOf(names: typeof NAMES): string {
  const rows = names.map((name) => {
    const { by, file, required, default: fallback, unset, example, about } = settingOf(name);
    const always = required && name !== 'CALLBACK_TOKEN_KEY' && name !== 'PAYLOAD_ENCRYPTION_KEYS';
    const counts = fallback ? `\`${fallback}\`` : (unset ?? (always ? 'required' : 'none'));
    const names = `\`${name}\`${file ? ' `…_FILE`' : ''}`;
    return `| ${[names, [...by].join(' '), counts, example ? `\`${example}\`` : '', about].join(' | ')} |`;
  });
  return ['| name | for | default | example | what it does |', '|---|---|---|---|---|', ...rows, ''].join('\n');
}

/** Returns the tables of all settings, in Markdown. */
export const settingsTable = (): string =>
  [false, true]
    .map((advanced) => tableOf(NAMES.filter((name) => ADVANCED.test(name) === advanced)))
    .join('\n### Advanced\n\n');

/** Returns docs/running.md with the tables of all settings as they should be. */
export const withTable = (page: string): string =>
  page.replace(BLOCK, (_, begin: string, end: string) => `${begin}${settingsTable()}${end}`);

if (process.argv.includes('--write')) writeFileSync(PAGE, withTable(readFileSync(PAGE, 'utf8')));
