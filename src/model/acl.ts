import { mask } from "./mask.ts";

/** What one rule of an access list is about. `other` is everything that nobody knows: it may be half a password. */
export type AclRuleKind = "keys" | "grant" | "removal" | "channel" | "word" | "credential" | "other";

/** One rule of an access list, its quotes taken away. */
export interface AclRule {
  readonly is: AclRuleKind;
  readonly text: string;
}

/** Words of the database's ACL syntax that stand alone. */
const words: ReadonlySet<string> = new Set([
  ...[
    "on",
    "off",
    "nopass",
    "resetpass",
    "reset",
    "clearselectors",
    "sanitize-payload",
    "skip-sanitize-payload",
  ],
  ...["allkeys", "resetkeys", "allchannels", "resetchannels", "allcommands", "nocommands"],
]);

const shapes: readonly (readonly [AclRuleKind, RegExp])[] = [
  ["keys", /^(?:~|%(?:R|W|RW|WR)~)/i],
  ["grant", /^\+/],
  ["removal", /^-@?[a-z][\w.|-]*$/i],
  ["channel", /^&/],
  ["credential", /^[><#!]/],
];

/** Rules are separated by white space; single quotes keep one together. */
const separated = /(?:'[^']*'|[^\s'])+/g;

/** The rules of an access list, in their order. */
export function aclRules(acl: string): readonly AclRule[] {
  return (acl.match(separated) ?? []).map(ruleOf);
}

/** An access list as it may be shown and remembered: a rule that is, or may be, a password is masked. */
export function shownAcl(acl: string): string {
  return acl.replace(separated, (token) =>
    ["credential", "other"].includes(ruleOf(token).is) ? mask : token,
  );
}

function ruleOf(token: string): AclRule {
  const text = token.replaceAll("'", "");
  if (words.has(text.toLowerCase())) return { is: "word", text };
  return { is: shapes.find(([, shape]) => shape.test(text))?.[0] ?? "other", text };
}
