declare module "@20minutes/s3rver/lib/s3rver.js" {
  // biome-ignore lint/style/noDefaultExport: it is what the package exports
  export default class S3rver {
    constructor(options: {
      readonly address: string;
      readonly port: number;
      readonly silent: boolean;
      readonly directory: string;
      readonly serviceEndpoint?: string;
      readonly vhostBuckets?: boolean;
      readonly configureBuckets: readonly { readonly name: string }[];
    });
    run(): Promise<{ readonly port: number }>;
    close(): Promise<void>;
  }
}

declare module "@20minutes/s3rver/lib/models/account.js" {
  export const DUMMY_ACCOUNT: { createKeyPair(id: string, secret: string): void };
}
