import { cp, mkdir, readFile } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import { execa } from 'execa';
import { parse } from 'yaml';

type Step = { instruction: string; rest: string };

/** The steps of a container file, in order; a line that this reader does not know is refused, so that none is passed over. */
export function stepsOf(text: string): Step[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, instruction = '', rest = ''] =
      /^(FROM|ENV|WORKDIR|COPY|RUN|USER|STOPSIGNAL|ENTRYPOINT|CMD) (.*)$/.exec(line) ?? [];
    if (instruction === '') throw new Error(`not understood: ${line}`);
    return { instruction, rest };
  });
}

/** What a container of the image runs, where, and with what environment. */
export type Image = { root: string; workdir: string; user: string; command: string[]; env: Record<string, string> };

type Build = { image: Image; stages: Map<string, string>; context: string; folder: string; entrypoint: string[] };

/**
 * Does in `folder` what a container engine does with a container file: each stage has a root of its own under it, COPY and
 * RUN happen there as they are written. The base images' programs are this machine's.
 */
export async function performSteps(file: string, context: string, folder: string): Promise<Image> {
  const image: Image = { root: '', workdir: '/', user: 'root', command: [], env: {} };
  const build: Build = { image, stages: new Map(), context, folder, entrypoint: [] };
  for (const { instruction, rest } of stepsOf(await readFile(file, 'utf8'))) await PERFORM[instruction]?.(rest, build);
  return image;
}

const inRoot = ({ image }: Build, path: string): string =>
  join(image.root, isAbsolute(path) ? path : join(image.workdir, path));

const PERFORM: Record<string, (rest: string, build: Build) => unknown> = {
  FROM: async (rest, { image, stages, folder }) => {
    const name = / AS (\S+)$/.exec(rest)?.[1] ?? `stage-${stages.size}`;
    Object.assign(image, { root: join(folder, name), workdir: '/', user: 'root', command: [], env: {} });
    stages.set(name, image.root);
    await mkdir(image.root, { recursive: true });
  },
  WORKDIR: async (rest, build) => {
    build.image.workdir = rest;
    await mkdir(inRoot(build, '.'), { recursive: true });
  },
  COPY: async (rest, build) => {
    const words = rest.split(' ');
    const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
    const source = from === undefined ? build.context : build.stages.get(from);
    if (source === undefined) throw new Error(`no such stage: ${from}`);
    const paths = words.filter((word) => !word.startsWith('--'));
    const target = paths.pop() ?? '';
    for (const path of paths) await copy(join(source, path), inRoot(build, target), target);
  },
  RUN: (rest, build) => execa('sh', ['-c', rest], { cwd: inRoot(build, '.') }),
  ENV: (rest, { image }) => Object.assign(image.env, Object.fromEntries([rest.split('=')])),
  USER: (rest, { image }) => Object.assign(image, { user: rest }),
  ENTRYPOINT: (rest, build) => Object.assign(build, { entrypoint: parse(rest) }),
  CMD: (rest, { image, entrypoint }) => Object.assign(image, { command: [...entrypoint, ...parse(rest)] }),
};

/** A folder's content goes into the target, a file into a target that ends with `/`. */
async function copy(source: string, target: string, written: string): Promise<void> {
  await cp(source, written.endsWith('/') ? join(target, basename(source)) : target, { recursive: true });
}
