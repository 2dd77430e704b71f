/** @module Decides which ACL rules a database user may have. */
import { splitRules } from "../engine/index.ts";

/** The 52 commands that a database user may be granted. */
export const allowedCommands: ReadonlySet<string> = new Set(
  `INFO CLIENT DBSIZE PING HELLO AUTH RESTORE DUMP DEL EXISTS UNLINK TYPE FLUSHALL TOUCH EXPIRE PEXPIREAT TTL PTTL
   EXPIRETIME RENAME RENAMENX SCAN DISCARD EXEC MULTI UNWATCH WATCH ECHO SLOWLOG WAIT WAITAOF READONLY GRAPH.INFO
   GRAPH.LIST GRAPH.QUERY GRAPH.RO_QUERY GRAPH.EXPLAIN GRAPH.PROFILE GRAPH.DELETE GRAPH.CONSTRAINT GRAPH.SLOWLOG
   GRAPH.BULK GRAPH.CONFIG GRAPH.COPY CLUSTER COMMAND GRAPH.MEMORY MEMORY BGREWRITEAOF MODULE|LIST MONITOR GRAPH.UDF`.split(
    /\s+/,
  ),
);

/** Maximum length of a rule in an error message. */
const longest = 60;

/**
 * Rules of an ACL that are not allowed, shortened for an error message. Allowed are key patterns (`~p`, `%R~p`, `%W~p`, `%RW~p`),
 * grants of the commands above or their subcommands (`+C`, `+C|sub`), and removals (`-c`). Anything else (passwords, hashes,
 * channels, `on`, `nopass`, `allcommands`, selectors) would change more than the commands that a user may run.
 */
export function refusedRules(acl: string): readonly string[] {
  return splitRules(acl)
    .filter((rule) => !isAllowed(rule))
    .map(shown);
}

function isAllowed(rule: string): boolean {
  if (!rule.startsWith("+")) return /^(?:-|~|%(?:R|W|RW|WR)~)./is.test(rule);
  const command = rule.slice(1).toUpperCase();
  return allowedCommands.has(command) || allowedCommands.has(command.split("|")[0] ?? "");
}

/** A rule without the password or hash in it. */
function shown(rule: string): string {
  if (/^[<>#!]/.test(rule)) return `${rule.slice(0, 1)}...`;
  return rule.length > longest ? `${rule.slice(0, longest)}...` : rule;
}
