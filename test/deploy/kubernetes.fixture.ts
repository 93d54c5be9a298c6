import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';

export const DEPLOY = fileURLToPath(new URL('../../deploy/', import.meta.url));
export const read = (path: string) => readFile(`${DEPLOY}${path}`, 'utf8');

type Container = {
  image: string;
  args: string[];
  envFrom?: { configMapRef: { name: string } }[];
  securityContext: object;
  resources?: object;
  ports?: { name: string }[];
  readinessProbe?: { httpGet: { path: string; port: string }; timeoutSeconds: number };
  livenessProbe?: { httpGet: { path: string; port: string } };
};
export type Named = { kind: string; metadata: { name: string } };
type PodSpec = {
  terminationGracePeriodSeconds: number;
  automountServiceAccountToken: boolean;
  securityContext: object;
  containers: Container[];
  initContainers?: Container[];
  topologySpreadConstraints?: { topologyKey: string; labelSelector: { matchLabels: object } }[];
  volumes: { secret?: { defaultMode: number } }[];
};
export type Deployment = Named & {
  spec: { replicas: number; template: { metadata: { labels: { app: string } }; spec: PodSpec } };
};

export type Manifest = Named & { spec?: { selector?: object } };
type Generator = { name: string; literals: string[] };
type Image = { name: string; newName: string; digest?: string; newTag?: string };
interface Kustomization {
  resources: string[];
  configurations?: string[];
  patches?: { path?: string }[];
  images?: Image[];
  configMapGenerator?: Generator[];
  generatorOptions?: object;
}

export const FOLDERS = ['base', 'overlays/production', 'overlays/autoscale', 'overlays/worker-controller'];

export const kustomization = async (folder: string): Promise<Kustomization> =>
  parse(await read(`kubernetes/${folder}/kustomization.yaml`));

/** Objects of the files of one folder, as they are before its overlay changes them. */
export async function objectsOf(folder: string): Promise<Manifest[]> {
  const { resources } = await kustomization(folder);
  const files = resources.filter((name) => name.endsWith('.yaml'));
  const texts = await Promise.all(files.map((name) => read(`kubernetes/${folder}/${name}`)));
  return texts.flatMap((text) => parseAllDocuments(text, { merge: true }).map((document) => document.toJS()));
}

export const objects = async () => [...(await objectsOf('base')), ...(await objectsOf('overlays/production'))];

/** Settings by their map, as an overlay has them. */
export async function mapsOf(overlay: string): Promise<Map<string, Record<string, string>>> {
  const folders = ['base', 'overlays/production', ...(overlay === 'overlays/production' ? [] : [overlay])];
  const maps = new Map<string, Record<string, string>>();
  for (const { configMapGenerator = [] } of await Promise.all(folders.map(kustomization))) {
    for (const { name, literals } of configMapGenerator) {
      const settings = literals.map((literal) => [literal.split('=', 1)[0], literal.replace(/^\w+=/, '')]);
      maps.set(name, { ...maps.get(name), ...Object.fromEntries(settings) });
    }
  }
  return maps;
}

export const deployments = async () => (await objects()).filter(({ kind }) => kind === 'Deployment') as Deployment[];
