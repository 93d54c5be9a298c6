import { readFileSync, writeFileSync } from 'node:fs';
import { NAMES, settingOf } from '../src/config/settings.js';

const PAGE = new URL('../docs/running.md', import.meta.url);
const BLOCK = /(<!-- settings: .* -->\n)[\s\S]*?(<!-- end of settings -->)/;

/** Returns the table of all settings, in Markdown. */
export function settingsTable(): string {
  const rows = NAMES.map((name) => {
    const { by, file, required, default: fallback, unset, example, about } = settingOf(name);
    const always = required && name !== 'CALLBACK_TOKEN_KEY' && name !== 'PAYLOAD_ENCRYPTION_KEYS';
    const counts = fallback ? `\`${fallback}\`` : (unset ?? (always ? 'required' : 'none'));
    const names = `\`${name}\`${file ? ' `…_FILE`' : ''}`;
    return `| ${[names, [...by].join(' '), counts, example ? `\`${example}\`` : '', about].join(' | ')} |`;
  });
  return ['| name | for | default | example | what it does |', '|---|---|---|---|---|', ...rows, ''].join('\n');
}

/** Returns docs/running.md with the table of all settings as it should be. */
export const withTable = (page: string): string =>
  page.replace(BLOCK, (_, begin: string, end: string) => `${begin}${settingsTable()}${end}`);

if (process.argv.includes('--write')) writeFileSync(PAGE, withTable(readFileSync(PAGE, 'utf8')));
