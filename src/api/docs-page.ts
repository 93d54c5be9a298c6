/** Parts of an OpenAPI document that the page shows. */
interface Operation {
  summary?: string;
  description?: string;
  parameters?: readonly { name: string; in: string; required?: boolean; schema?: object }[];
  requestBody?: { content?: Record<string, { schema?: object }> };
  responses?: Record<string, { description?: string }>;
}

const escaped = (text: string): string => text.replace(/[&<>"]/g, (found) => `&#${found.charCodeAt(0)};`);

const json = (value: unknown): string => `<pre>${escaped(JSON.stringify(value, null, 2))}</pre>`;

const rows = (list: readonly string[]): string => (list.length > 0 ? `<table>${list.join('')}</table>` : '');

type Schemas = Record<string, object>;

/** Returns a list of schemas, each below its name. */
const schemasText = (schemas: Schemas): string =>
  Object.entries(schemas)
    .map(([name, schema]) => `<details id="${name}"><summary><code>${name}</code></summary>${json(schema)}</details>`)
    .join('\n');

function operation(method: string, path: string, { summary = '', description = '', ...shown }: Operation): string {
  const parameters = (shown.parameters ?? []).map(
    ({ name, in: where, required, schema }) =>
      `<tr><td><code>${escaped(name)}</code></td><td>${where}${required ? ', required' : ''}</td><td><code>${escaped(JSON.stringify(schema ?? {}))}</code></td></tr>`,
  );
  const answers = Object.entries(shown.responses ?? {}).map(
    ([status, { description: text = '' }]) => `<tr><td>${status}</td><td>${escaped(text)}</td></tr>`,
  );
  const body = shown.requestBody?.content?.['application/json']?.schema;
  return [
    `<h2><code>${method.toUpperCase()} ${escaped(path)}</code></h2>`,
    `<p><b>${escaped(summary)}</b> ${escaped(description)}</p>`,
    rows(parameters),
    body ? `<details><summary>Body</summary>${json(body)}</details>` : '',
    rows(answers),
  ].join('\n');
}

const STYLE =
  'body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}td{padding:.1rem .8rem .1rem 0;vertical-align:top}pre{overflow:auto;background:#f4f4f4;padding:1rem}code{overflow-wrap:anywhere}';

/** Returns the readable page of an OpenAPI document, without scripts and external resources. */
export function docsPage(document: { info: { title: string }; paths?: object; components?: object }): string {
  const { info, paths, components } = document;
  const { schemas = {} } = Object(components) as { schemas?: Schemas };
  const title = escaped(info.title);
  const operations = Object.entries(paths ?? {}).flatMap(([path, item]) =>
    Object.entries(item as Record<string, Operation>).map(([method, one]) => operation(method, path, one)),
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title><style>${STYLE}</style></head>
<body><h1>${title}</h1><p>Machine-readable: <a href="openapi.json">openapi.json</a></p>
${operations.join('\n')}
<h2>Schemas</h2>
${schemasText(schemas)}</body></html>`;
}
