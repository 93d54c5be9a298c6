import { expect, test } from 'vitest';
import { withRelativeSources } from '../../scripts/build/relative-sources.js';

const PREFIX = '//# sourceMappingURL=data:application/json;charset=utf-8;base64,';

const bundleOf = (map: object) => `run();\n${PREFIX}${Buffer.from(JSON.stringify(map)).toString('base64')}`;

const mapOf = (bundle: string) => JSON.parse(Buffer.from(bundle.split('base64,')[1] ?? '', 'base64').toString());

test('sources are named as the project sees them; code, mappings and contents stay', () => {
  const map = {
    file: 'bundle.js',
    mappings: 'AAAA',
    sources: [
      '/builder/app/src/workflows/withdraw.ts',
      '/builder/app/node_modules/big.js/big.mjs',
      '/builder/node_modules/a/node_modules/b/index.js',
      'ignored|/builder/app/node_modules/c/lib|d',
      'webpack/bootstrap',
    ],
    sourcesContent: ['const a = 1 / 2;', null, 'require("/builder/app/src/workflows/index.ts")', '', '/other'],
  };
  const bundle = withRelativeSources(bundleOf(map), '/builder/app/');
  expect(bundle.split(PREFIX)[0]).toBe('run();\n');
  expect(mapOf(bundle)).toEqual({
    ...map,
    sources: [
      'src/workflows/withdraw.ts',
      'node_modules/big.js/big.mjs',
      'node_modules/a/node_modules/b/index.js',
      'ignored|node_modules/c/lib|d',
      'webpack/bootstrap',
    ],
    sourcesContent: ['const a = 1 / 2;', null, 'require("src/workflows/index.ts")', '', '/other'],
  });
});

test('modules behind a link are named as if they lay in the project', () => {
  const code = 'require("../../builder/x/node_modules/big.js/big.mjs"), require("./src/a.ts");';
  expect(withRelativeSources(code, '/packed/app/', '/builder/x/node_modules')).toBe(
    'require("./node_modules/big.js/big.mjs"), require("./src/a.ts");',
  );
  expect(withRelativeSources(code, '/packed/app/')).toBe(code);
});
