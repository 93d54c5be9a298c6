/** How the names of a batch's files begin. An account has no dot in it, so two accounts never share a name. */
export const reportName = (account: string, batchId: string): string => `${account}.${batchId}`;
