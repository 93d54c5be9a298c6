import { relative } from 'node:path';

const MAP = /(?<=sourceMappingURL=data:application\/json;[^,]*base64,)\S+/;

/** Modules may lie outside the project: in a folder above it, or behind a link. */
const MODULES_ELSEWHERE = /(?<=^|\|)(?:\/|[A-Z]:\\).*?(?=node_modules[\\/])/;

/**
 * A bundle whose inline source map names its sources as the project sees them (`src/…`, `node_modules/…`), and not by
 * their paths on the machine that built it. Workers need the map: they read the stacks of workflows through it. `root`: the
 * project's folder, with a separator at its end. `modules`: where its `node_modules` really lies, which may be a link; the code
 * names each module by the way there.
 */
export function withRelativeSources(code: string, root: string, modules = `${root}node_modules`): string {
  const way = relative(root, modules);
  const named = way === 'node_modules' ? code : code.replaceAll(`${way}/`, './node_modules/');
  return named.replace(MAP, (encoded) => {
    const map: SourceMap = JSON.parse(Buffer.from(encoded, 'base64').toString());
    const sources = map.sources.map((source) => source.replace(root, '').replace(MODULES_ELSEWHERE, ''));
    // The entry point, which the bundler makes, names the workflows by their path.
    const sourcesContent = map.sourcesContent?.map((text) => text?.replaceAll(root, '') ?? null);
    return Buffer.from(JSON.stringify({ ...map, sources, sourcesContent })).toString('base64');
  });
}

type SourceMap = { sources: string[]; sourcesContent?: (string | null)[] };
