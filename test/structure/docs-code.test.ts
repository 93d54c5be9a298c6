import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { runStarterAlone } from '../support/run-starter.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const COMPILED = join(root, 'test-results', 'docs-code');

/** A block of code: its page and, if it is fenced, its language. */
interface Block {
  page: string;
  language: string;
  text: string;
}

let blocks: Block[];
let pages: Map<string, string>;
beforeAll(async () => {
  const names = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md') && name !== 'plan.md');
  const paths = ['README.md', ...names.map((name) => join('docs', name))];
  pages = new Map(
    await Promise.all(paths.map(async (path) => [path, await readFile(join(root, path), 'utf8')] as const)),
  );
  blocks = [...pages].flatMap(([page, text]) => {
    const fenced = [...text.matchAll(/^ *```(.*)\n([\s\S]*?)^ *```$/gm)];
    const rest = text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
    // An indented block follows an empty line: it holds commands.
    const indented = [...rest.matchAll(/(?<=\n\n)(?: {4,}(?![-*] |\d+\. ).*\n+)+/g)];
    return [
      ...fenced.map(([, language = '', code = '']) => ({ page, language, text: code })),
      ...indented.map(([code]) => ({ page, language: 'sh', text: code })),
    ];
  });
});
const of = (language: string): Block[] => blocks.filter((block) => block.language.split(' ')[0] === language);

/** What stands around an example: the reader's own. */
const AROUND = `
import type { KeyObject } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { OrderHandle, PaymentOrders, WithdrawRequest } from 'payment-orders';
declare global {
  const orders: PaymentOrders;
  const handle: OrderHandle;
  const rows: WithdrawRequest[];
  const publicKey: KeyObject;
  const hsm: { sign(who: string, text: Buffer): Buffer };
  const rawBody: Buffer;
  const request: { headers: IncomingHttpHeaders };
  const refundOf: (orderId: string) => { order: WithdrawRequest };
  const { beforeEach, expect, test }: typeof import('vitest');
}
`;

test('every block has a language whose blocks are run, compiled or read', () => {
  // The test of docs/start.md runs the blocks with a file name; signatures and diagrams are read by people.
  const known = /^(?:ts|sh|json|yaml|text|mermaid|(?:js|sh|python|go) pay\.\S+)$/;
  expect(blocks.length).toBeGreaterThan(50);
  expect(blocks.filter(({ language }) => !known.test(language))).toEqual([]);
});

test('TypeScript compiles against the package', async () => {
  await rm(COMPILED, { recursive: true, force: true });
  await mkdir(COMPILED, { recursive: true });
  const at = (name: string) => [join(root, 'src', name)];
  const paths = {
    'payment-orders': at('index.ts'),
    'payment-orders/testing': at('testing.ts'),
    'payment-orders-client/testing': at('testing.ts'),
  };
  const options = { paths, noUnusedLocals: false, noUnusedParameters: false };
  const config = { extends: '../../tsconfig.json', compilerOptions: options, include: ['*.ts'] };
  await writeFile(join(COMPILED, 'tsconfig.json'), JSON.stringify(config));
  await writeFile(join(COMPILED, 'around.d.ts'), AROUND);
  expect(of('ts').length).toBeGreaterThan(5);
  for (const [index, { page, text }] of of('ts').entries())
    await writeFile(join(COMPILED, `${page.replaceAll(/\W/g, '-')}-${index}.ts`), `${text}\nexport {};\n`);
  const { stdout } = await execa('npx', ['tsc', '-p', COMPILED], { cwd: root, reject: false });
  expect(stdout).toBe('');
});

test('JSON and YAML can be read', () => {
  for (const { text } of of('json')) JSON.parse(text);
  for (const { text } of of('yaml')) expect(parse(text)).toBeInstanceOf(Object);
});

describe('commands', () => {
  /** Commands with their placeholders filled in, one a line. */
  const commandsOf = (text: string): string =>
    text
      .replaceAll(/<[^<>()\n]+>/g, 'x')
      .replaceAll(/\[--[^\]\n]+\]/g, '')
      .replaceAll(/\\\n\s*/g, ' ');

  test('are what a shell can read', async () => {
    for (const { page, text } of of('sh')) {
      const { stderr } = await execa('bash', ['-n'], { input: commandsOf(text), reject: false });
      expect(stderr, `${page}: ${text}`).toBe('');
    }
  });

  test('of npm and of the package exist', async () => {
    const { scripts, bin } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    const text = [...pages.values()].join('\n');
    const run = [...text.matchAll(/npm run (?:-s )?([a-z][\w:-]*)/g)].map(([, name = '']) => name);
    expect(run.length).toBeGreaterThan(20);
    expect(run.filter((name) => !(name in scripts))).toEqual([]);
    const started = [...text.matchAll(/(?:npx |`)(payment-orders(?:-[a-z]+)?)[ `]/g)].map(([, name = '']) => name);
    // The packages, and what they are called in a cluster, have names of the same kind.
    expect(started.filter((name) => !(name in bin) && name !== 'payment-orders-client')).toEqual([]);
  });

  const help = new Map<string, Promise<string>>();
  const helpOf = (verb: string): Promise<string> => {
    const known =
      help.get(verb) ?? runStarterAlone([...verb.split(' ').filter(Boolean), '--help']).then(({ stdout }) => stdout);
    help.set(verb, known);
    return known;
  };

  /** Why the command line does not know a command; undefined = it does. */
  async function problemOf(command: string): Promise<string | undefined> {
    const [group = '', verb = ''] = command.split(/\s+/);
    const isGroup = (await helpOf(group)).includes(`${group} [options] [command]`);
    if (isGroup && !(await helpOf(group)).includes(`  ${verb} `)) return `${command}: no verb ${verb}`;
    const shown = await helpOf(isGroup ? `${group} ${verb}` : group);
    const unknown = command.match(/(?<=[\s[])--[a-z-]+/g)?.filter((flag) => !shown.includes(flag)) ?? [];
    return unknown.length > 0 ? `${command}: no option ${unknown.join(', ')}` : undefined;
  }

  test('of the command line have its verbs and options, in blocks and in the text', async () => {
    const verbs = [...(await helpOf('')).matchAll(/^ {2}([a-z]+)(?: |$)/gm)].map(([, name = '']) => name);
    expect(verbs).toContain('order');
    const inBlocks = of('sh').flatMap(({ text }) =>
      [
        ...text.matchAll(
          /(?:npm run -s starter --|payment-orders|dist\/starter\.js) ([^#;|&>\n]*(?:\\\n[^#;|&>\n]*)*)/g,
        ),
      ].map(([, command = '']) => command),
    );
    const inText = [...pages.values()].flatMap((text) =>
      [...text.matchAll(/`(?:payment-orders )?([a-z]+ (?:--)?[a-z][^`\n]*)`/g)].map(([, command = '']) => command),
    );
    const commands = [...inBlocks, ...inText].filter((command) => verbs.includes(command.split(/\s/)[0] ?? ''));
    expect(commands.length).toBeGreaterThan(60);
    const problems = await Promise.all(commands.map((command) => problemOf(command.replaceAll('\\\n', ' '))));
    expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
  });
});
