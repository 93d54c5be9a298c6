import { loadUi } from '../config.js';

/** Returns the page of a workflow in the Temporal UI; undefined without TEMPORAL_UI_URL. */
export function pageLink(workflowId: string, runId?: string): string | undefined {
  const ui = loadUi().namespaceUrl;
  const tab = runId === undefined ? '' : `/${runId}/user-metadata`;
  return ui && `${ui}/workflows/${encodeURIComponent(workflowId)}${tab}`;
}

/** Returns the list that a query finds. With a name, the UI saves it as a view when it is opened. */
export function listLink(query: string, name?: string): string | undefined {
  const ui = loadUi().namespaceUrl;
  const search = new URLSearchParams({ query, ...(name !== undefined && { savedQuery: name }) });
  return ui && `${ui}/workflows?${search}`;
}

/** Returns a line that names a link, or none. */
export const linkLine = (link: string | undefined): string[] => (link ? [`in the Temporal UI: ${link}`] : []);
