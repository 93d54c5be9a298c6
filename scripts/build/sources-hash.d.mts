export declare const STAMP: string;
export declare function sourcesHash(root: string): string;
