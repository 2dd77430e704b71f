/** @module Lists the operations of a service by kind, with the values without which their answers are useless. */

/** First word of an operation -> the rest of it -> the values that an answer needs. */
const byKind: { readonly [prefix: string]: { readonly [verb: string]: readonly string[] } } = {
  instance: {
    ...{ create: ["id"], list: [], "list-all": [], describe: ["status"], update: [], delete: [] },
    ...{ start: [], stop: [], restart: [], failover: [], backup: [], "copy-snapshot": [], snapshots: [] },
    ...{ metadata: [], restore: ["id"], upgrade: [], events: [] },
  },
  account: { create: ["id"], list: [], get: ["status"], delete: [], describe: [] },
  network: { list: [], create: ["id"], describe: [], update: [], delete: [] },
  snapshot: { list: [], create: [], describe: [], copy: [], restore: ["id"], delete: [] },
  user: { list: [], create: [], update: [], delete: [] },
  plans: { list: [], parameters: [] },
  subscriptions: { list: [] },
  session: { logout: [] },
};

/** Every operation that a profile can have -> the values that its answer needs; docs/profiles.md describes them. */
export const operations: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(byKind).flatMap(([prefix, verbs]) =>
    Object.entries(verbs).map(([verb, needed]) => [`${prefix}.${verb}`, needed] as const),
  ),
);

/** The operations that look an object up. With another path, host or query of one of them, objects are looked for at another place. */
export const lookUps: readonly string[] = [
  "instance.describe",
  "account.get",
  "network.describe",
  "user.list",
];
