/** @module Splits an access list of a database user into its rules. */
/** Stands in place of a rule that is, or may be, a password. */
const droppedRule = "***";

/** The kind of a rule. `other` is anything unknown: it may be a part of a password. */
export type AclRuleKind = "keys" | "grant" | "removal" | "channel" | "word" | "credential" | "other";

/** One rule of an access list, its quotes taken away. */
export interface AclRule {
  readonly is: AclRuleKind;
  readonly text: string;
}

/** Words of the database's ACL syntax that stand alone. */
const words: ReadonlySet<string> = new Set([
  ...["on", "off", "nopass", "resetpass", "reset", "clearselectors"],
  ...["sanitize-payload", "skip-sanitize-payload"],
  ...["allkeys", "resetkeys", "allchannels", "resetchannels", "allcommands", "nocommands"],
]);

const shapes: readonly (readonly [AclRuleKind, RegExp])[] = [
  ["keys", /^(?:~|%(?:R|W|RW|WR)~)[^\s]/i],
  ["grant", /^\+@?[\w.-]*(?:\|[\w.-]+)?$/],
  ["removal", /^-@?[a-z][\w.|-]*$/i],
  ["channel", /^&/],
  ["credential", /^[><#!]/],
];

export function aclRules(acl: string): readonly AclRule[] {
  return [...rangesOf(acl)].map(([from, to]) => ruleOf(acl.slice(from, to)));
}

/** True for an access list that has, or may have, a password in it. Removed passwords do not count. */
export function holdsPassword(acl: string): boolean {
  return aclRules(acl).some(
    ({ is, text }) => is === "credential" || (is === "other" && text !== droppedRule),
  );
}

/** An access list as it may be shown and remembered: a rule that is, or may be, a password is masked. */
export function shownAcl(acl: string): string {
  let shown = "";
  let end = 0;
  for (const [from, to] of rangesOf(acl)) {
    const { is } = ruleOf(acl.slice(from, to));
    shown +=
      acl.slice(end, from) + (is === "credential" || is === "other" ? droppedRule : acl.slice(from, to));
    end = to;
  }
  return shown + acl.slice(end);
}

/** Start and end of each rule: white space separates them, except inside of single quotes, closed or not. */
function* rangesOf(acl: string): Iterable<readonly [from: number, to: number]> {
  let from: number | undefined;
  let isQuoted = false;
  for (let at = 0; at <= acl.length; at += 1) {
    const isEnd = at === acl.length || (!isQuoted && isSpace(acl.charCodeAt(at)));
    if (isEnd && from !== undefined) yield [from, at];
    if (isEnd) from = undefined;
    else {
      from ??= at;
      if (acl[at] === "'") isQuoted = !isQuoted;
    }
  }
}

function isSpace(code: number): boolean {
  return code <= 0x20 || (code > 0x7f && String.fromCharCode(code).trim() === "");
}

function ruleOf(token: string): AclRule {
  const text = token.replaceAll("'", "");
  if (words.has(text.toLowerCase())) return { is: "word", text };
  return { is: shapes.find(([, shape]) => shape.test(text))?.[0] ?? "other", text };
}
